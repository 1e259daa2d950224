"""Reads one source or merges several: format detection, blocks, clocks."""
