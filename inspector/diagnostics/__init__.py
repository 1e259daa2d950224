"""Diagnostics of the program itself: log, crash reports, licences."""
