"""A gateway behind TLS at an address without: the advice names the other scheme."""

from __future__ import annotations

import pytest
from websockets.exceptions import InvalidMessage

from inspector.sources.failures import open_failure


@pytest.mark.parametrize(("scheme", "named"), [("ws", True), ("wss", False)])
@pytest.mark.parametrize("cause", [EOFError("connection closed"), ValueError("unsupported protocol")])
def test_an_address_without_tls_suggests_the_other_scheme(scheme: str, named: bool, cause: Exception) -> None:
    error = InvalidMessage("did not receive a valid HTTP response")
    error.__cause__ = cause
    told = str(open_failure(error, url=f"{scheme}://127.0.0.1:8443", step="upgrade", timeout_s=5))
    assert ("try wss://" in told) is named
