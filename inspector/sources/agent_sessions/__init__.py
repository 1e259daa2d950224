"""The sessions of coding agents on this machine, looked up in the folders they write to: a module for each agent.

Only the ends of files are read, never a whole one, and no link is followed: a session's folder is the agent's, but what
lies in it may be anybody's. `lookup.find_sessions` is the door.
"""
