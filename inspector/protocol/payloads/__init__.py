"""Payloads made readable: what a message holds, as text and tables, without a thought for how it is drawn."""
