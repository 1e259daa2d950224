"""Records on disk, and one array per property of a message in memory."""
