"""The page of a survey: a table of runs with its own filter bar, lists of findings and tools, and trends."""
