"""Data of a timeline as columns: lanes, context bars, call durations, marks per pixel. No Qt."""
