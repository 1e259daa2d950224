"""Reassembles messages that span several lines of a source."""
