"""Documents: a capture with its analysis, opened, live, saved, summarized and marked."""
