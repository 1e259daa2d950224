"""One frame or envelope at a time: reading, kinds, context paths. No I/O and no history."""
