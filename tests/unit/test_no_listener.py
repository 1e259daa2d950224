"""Nothing in the source listens on the network but the demo's gateway, and a tap or receiver that somebody asked for.

`tests/e2e/test_listeners.py` looks at runs.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import inspector

_LISTENING = {"start_server", "create_server", "listen", "bind", "QTcpServer", "QUdpSocket", "QWebSocketServer",
              "HTTPServer", "TCPServer", "create_datagram_endpoint", "serve", "SockSite", "TCPSite",
              "Listener"}  # fmt: skip
_NAMED = re.compile(rf"\b(?:{'|'.join(_LISTENING)})\b")
_LOCAL = {("ui/app/single_instance.py", "listen"), ("sources/recorder_process.py", "Listener")}
"""Sockets and pipes of the user's alone: no network address."""
_OF_OUR_OWN = {
    ("sources/session.py", "listen"), ("cli/mcp.py", "serve"), ("ui/panels/messages/model.py", "serve"),
    ("engine/requests/queries.py", "serve"),
    ("tables/read_requests.py", "serve"),
}  # fmt: skip
"""Methods of that name that have nothing to do with sockets."""
_DEMO = {("demo/gateway.py", "serve")}
_TRACES = {("formats/otlp/receiver.py", name) for name in ("bind", "listen", "SockSite")}
_TAP = {("tap/http/ports.py", "listen"), ("tap/http/ports.py", "bind")}


def test_only_the_demo_and_what_was_asked_for_listen() -> None:
    package = Path(inspector.__file__).parent
    found: set[tuple[str, str]] = set()
    for file in package.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        if _NAMED.search(source) is None:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call):
                called = node.func
                name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if name in _LISTENING:
                    found.add((file.relative_to(package).as_posix(), name))
    listening = _DEMO | _TAP | _TRACES | {("tap/http/proxy.py", "SockSite")}
    assert found - _LOCAL - _OF_OUR_OWN == listening
