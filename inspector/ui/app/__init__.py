"""The application: windows, settings, error reports, further starts."""
