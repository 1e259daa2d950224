"""Messages of a document: one array per property in memory, bytes on disk."""
