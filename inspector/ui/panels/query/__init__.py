"""The Query panel: SQL queries over the messages of the window."""
