"""Looking at the program itself: its log (Help > Log), and what the Developer menu shows."""
