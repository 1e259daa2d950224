"""The tokens panel: token usage by tool, context, participant and kind (docs/design.md 3)."""
