"""Reading of parts of a file, and of a backlog, in worker processes."""
