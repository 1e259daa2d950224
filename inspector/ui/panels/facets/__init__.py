"""Facets beside the table: the values of a few fields with live counts; a click filters by one (docs/design.md 14)."""
