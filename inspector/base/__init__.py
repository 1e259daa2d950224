"""Base utilities without knowledge of traffic: tasks, slices, files, paths, locks, worker processes."""
