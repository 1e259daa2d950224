"""Where the tokens go: by tool, context, participant and kind (design.md 3)."""
