"""The live context tree: a flat array of rows in a table view (design.md 4)."""
