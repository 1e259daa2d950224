"""Columnar message store: one array per property in memory, the bytes on disk."""
