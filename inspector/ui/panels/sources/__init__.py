"""The sources panel: state, format, counts and clock of each source; adding and removing sources."""
