"""Incremental passes: each reads new messages and reports the earlier ones that changed."""
