"""Standing between a client and its server: `context-inspector tap` (docs/tap.md). No Qt.

Over stdio, bytes pass through as they come (`relay`); what was said waits in a bounded backlog (`backlog`) for a thread
that makes lines of it (`recorder`). `relay` starts the server and passes on how it ended. All this is imported before
the server runs, so it is kept light. Over HTTP `http` stands between. Whoever listens, the capture is written by
`capture_file`, and nothing that becomes of it reaches those who talk.
"""
