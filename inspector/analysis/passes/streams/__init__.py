"""Streams: the frames of each, their owners and contexts."""
