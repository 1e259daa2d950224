"""The Query panel: a question in SQL about the messages of the window, and its answer."""
