"""A reverse proxy on loopback that records what passes: `context-inspector tap --http URL` (docs/tap.md).

`proxy` passes requests and answers on as they come and tells a `Recording` (`recording`) of them; a process of its own
makes lines of that (`lines`, with `events` and `bodies`), leaves secrets out (`unwritten`) and writes the capture.
"""
