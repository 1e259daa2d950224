"""Causes of a message: its chain, likely links and the reasoning before it."""
