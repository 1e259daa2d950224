"""Dialogs. All of them are opened with `open()` and answer with a signal; none blocks."""
