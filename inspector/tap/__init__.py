"""The tap: a recording proxy between an MCP client and its server, or a model API (docs/tap.md). No Qt.

Over stdio, `relay` starts the server, passes bytes through and returns its exit code. A bounded backlog (`backlog`)
feeds a thread that splits it into lines (`recorder`). All of this is imported before the server runs, so it is kept
light. Over HTTP, `http` is the proxy. `capture_file` writes the capture for both; its failures never reach client or
server.
"""
