"""The Conversation view: prompts, answers and calls of a session as one text to read."""
