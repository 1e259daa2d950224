"""Worker processes that read parts of a file or a backlog."""
