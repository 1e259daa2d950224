"""How long answers take, by tool and by who answers (design.md 3)."""
