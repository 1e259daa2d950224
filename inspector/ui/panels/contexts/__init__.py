"""The live context tree: a flat array of rows in a table view (docs/design.md 4)."""
