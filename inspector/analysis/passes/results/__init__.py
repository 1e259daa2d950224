"""Transient tool results: signals, pairs and badges."""
