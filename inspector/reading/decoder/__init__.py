"""Decodes lines into blocks of columns."""
