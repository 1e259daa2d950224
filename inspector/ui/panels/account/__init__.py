"""Figures of *What happened* that several views share, and the list of waits (docs/design.md 3)."""
