"""The start page: what a window shows before anything is open."""
