"""A capture with its analysis, and what is done with it: live, saved, summed up, marked."""
