"""Tools to inspect the program itself: its log (Help > Log), and the windows of the Developer menu."""
