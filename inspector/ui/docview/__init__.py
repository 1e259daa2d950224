"""One document on screen: panes, filter, search and navigation history."""
