"""Finds and masks secrets in text."""
