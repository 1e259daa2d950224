"""MCP server over captures: agents ask the same questions as users of the window and the command line. No Qt.

`captures` lists and opens the allowed logs. `tools` declares each tool with its arguments and its JSON result (built by
`present.answers`). `bounds` limits the size of results. `server` speaks MCP over stdio with the `mcp` package, and is
the only module that imports it. To add a tool, add its arguments, its function and its line in TOOLS, in `tools`.

Captured text comes from other people and programs. RULE: results are marked as untrusted data, have their secrets
masked, and no tool ever writes.
"""
