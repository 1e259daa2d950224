"""The message table: one row per visible message, originals of collapsed results in place."""
