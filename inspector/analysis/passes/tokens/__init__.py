"""Tokens and costs: estimates, reported usage, prices."""
