"""What the program says of itself: log, crash reports, licences."""
