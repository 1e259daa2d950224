"""What a timeline shows, as columns: lanes, contexts as bars, calls that take time, marks by the pixel. No Qt."""
