"""Messages panel: table with one row a visible message and originals of collapsed results in place."""
