"""Finds sessions of coding agents on this machine in the agents' own folders; one module per agent.

Only the ends of files are read, and links are not followed, since anybody may have written the files in these folders.
`lookup.find_sessions` is the entry point.
"""
