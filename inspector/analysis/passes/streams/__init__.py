"""Streams: frames by stream, with owner, targets and context."""
