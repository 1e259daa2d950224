"""The Overview of each kind of message."""
