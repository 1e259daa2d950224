"""One document on screen: its panes, filter, search, the way back."""
