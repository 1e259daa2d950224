"""Standing between an MCP client and a stdio server: `context-inspector tap` (docs/tap.md). No Qt.

Bytes pass through as they come (`pump`); what was said waits in a bounded backlog (`backlog`) for a thread that makes
lines of it (`lines`) and writes them down (`recorder`). Nothing that becomes of the capture reaches the pipes. `relay`
starts the server and passes on how it ended. All this is imported before the server runs, so it is kept light.
"""
