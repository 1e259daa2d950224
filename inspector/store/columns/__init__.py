"""Columns of messages: blocks, flags, interned strings, hashes, extracts."""
