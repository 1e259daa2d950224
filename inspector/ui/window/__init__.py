"""The main window: it assembles, nothing below knows it."""
