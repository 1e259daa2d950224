"""The main window: assembles all features and panels. Nothing below imports it."""
