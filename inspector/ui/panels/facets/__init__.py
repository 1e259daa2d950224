"""The facets panel: values of some fields with live counts; a click filters by one (docs/design.md 14)."""
