"""How long answers take, by tool and by who answers (docs/design.md 3)."""
