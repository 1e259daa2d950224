"""The latency panel: response times by tool, model and participant (docs/design.md 3)."""
