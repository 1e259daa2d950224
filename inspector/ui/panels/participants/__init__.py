"""Who takes part: presence, what they may do, reported usage."""
