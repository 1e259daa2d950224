"""What happened, at once: the figures several views share, and the list of who waits for whom (docs/design.md 3)."""
