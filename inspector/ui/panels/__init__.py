"""One folder per panel: its widget, its model and its delegate side by side."""
