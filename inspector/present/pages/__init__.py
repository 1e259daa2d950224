"""Pages of the details: the sections of a message, a context or a participant as plain parts."""
