"""The list of waits (docs/design.md 3)."""
