"""The sessions of coding agents on this machine: Claude Code's and Codex's, looked up in the folders they write to.

Only the ends of files are read, never a whole one, and no link is followed: a session's folder is the agent's, but what
lies in it may be anybody's. `lookup.find_sessions` is the door.
"""
