"""The "Sub-sessions" view: list of sub-sessions, conversation, and the indicator of the merged context."""
