"""The marks panel: messages and contexts with a mark or comment."""
