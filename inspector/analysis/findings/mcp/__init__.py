"""Checks of MCP itself, over stdio and HTTP: tools, arguments and results, calls in several requests, revisions.

`conversations` tells what is MCP and who says it; each other module declares its checks and what they remember;
`topic` runs them. What they read of messages is `inspector.protocol.mcp_notes`; nothing is read from its file again.
"""
