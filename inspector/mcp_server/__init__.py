"""An MCP server over captures: agents ask about logs what people ask the window and the commands; no Qt.

`captures` says which logs may be asked about, and opens them; `tools` declares each question with its arguments and its
answer as JSON (the answers are those of `present.answers`); `bounds` keeps answers small; `server` speaks MCP over
stdio by the `mcp` package, which is imported with it and not before. To add a tool: its arguments, its function and its
line in TOOLS, in `tools`.

What was captured is somebody else's text. RULE: answers are given as data, with a sentence that says so and without
secrets, and nothing is ever written.
"""
