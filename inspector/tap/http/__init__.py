"""Recording reverse proxy on loopback: `context-inspector tap --http URL` (docs/tap.md).

`proxy` passes requests and responses through and reports them to a `Recording` (`recording`). A separate process turns
them into lines (`lines`, with `events`), masks secrets (`unwritten`) and writes the capture.
"""
