"""Arguments of a call on one line: of a long path the end is shown."""

from __future__ import annotations

import pytest

from inspector.present.message_phrase import arguments_text


@pytest.mark.parametrize(("arguments", "text"), [
    ({"path": "/srv/repositories/shop/backend/src/orders/report.py", "page": 1}, "path=…/orders/report.py  page=1"),
    ({"path": "C:\\Users\\me\\projects\\shop\\report.py"}, "path=…/shop/report.py"),
    ({"path": "/srv"}, "path=/srv"),
    ({"q": "a long text with a slash / in the middle of it"}, "q=a long text with a slash / in the middle of it"),
    ({"url": "https://example.org/a/very/long/address/here"}, "url=https://example.org/a/very/long/address/here"),
    ({}, None),
])  # fmt: skip
def test_arguments(arguments: dict[str, object], text: str | None) -> None:
    assert arguments_text(arguments) == text
