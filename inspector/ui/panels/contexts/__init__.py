"""Contexts panel: the live context tree as a flat list of rows in a table view (docs/design.md 4)."""
