"""Dialogs. Each opens with `open()`, answers with a signal and never blocks."""
