"""Where the tokens go: by tool, context, participant and kind (docs/design.md 3)."""
