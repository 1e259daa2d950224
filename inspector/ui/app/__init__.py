"""The application: windows, settings, failures, second starts."""
