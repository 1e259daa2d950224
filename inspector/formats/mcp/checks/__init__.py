"""Checks of MCP over stdio and HTTP: tools, arguments, results, multi-request calls, revisions.

`conversations` detects MCP and its sides. Every other module declares its checks and keeps their state; `topic` runs
them. They read `inspector.protocol.mcp_notes`, so that no message is read from its file again.
"""
