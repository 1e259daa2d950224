"""Actions, shortcuts and keyboard navigation."""
