"""A survey in a window: its runs as a table with a filter bar of its own, what is wrong in them, and how they go."""
