"""The view "Sub-sessions": the sub-sessions of a chat, one of them as a conversation, and what it sees."""
