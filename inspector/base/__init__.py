"""No knowledge of traffic: tasks, slices, files, paths, locks."""
