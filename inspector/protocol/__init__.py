"""Reads one frame or envelope at a time: formats, kinds, context paths. No I/O and no history."""
