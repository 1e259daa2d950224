"""Converts flows of mitmproxy to lines of a recording."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.exchange_lines import ExchangeConversion, header_list
from inspector.formats.file_conversion import FileConverter
from inspector.formats.http_bodies import unpacked_body
from inspector.formats.mitmproxy import FORMAT
from inspector.formats.mitmproxy.typed_strings import values_in
from inspector.formats.value_conversions import mapping_or_empty
from inspector.protocol.timestamps import format_time

_HEAD_BYTES = 1 << 10
_FLOW = re.compile(
    rb"\d{2,12}:\d{1,2}:(?:websocket|response|request|error|id|type|mode|messages|client_conn|server_conn|version"
    rb"|intercepted|is_replay|marked|metadata|comment|backup|timestamp_created)[;,]"
)
"""The beginning of a flow: its length, and the first key."""
_PORTS = {"http": 80, "https": 443}


class FlowConversion(ExchangeConversion):
    """Converts the HTTP flows of a file, without flows of other protocols."""

    def _entries(self) -> Iterator[dict[str, Any]]:
        with self._path.open("rb") as file:
            for flow in values_in(file):
                self.progress = (file.tell(), self.progress[1])
                if isinstance(flow, dict) and "method" in mapping_or_empty(flow.get("request")):
                    yield _entry(flow)


def _entry(flow: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a flow as an entry of an archive."""
    asked, answered = mapping_or_empty(flow.get("request")), mapping_or_empty(flow.get("response"))
    began, sent = _seconds(asked, "timestamp_start"), _seconds(asked, "timestamp_end")
    headed, ended = _seconds(answered, "timestamp_start"), _seconds(answered, "timestamp_end")
    failure = mapping_or_empty(flow.get("error"))
    phases = {"send": _milliseconds(began, sent), "wait": _milliseconds(sent, headed)}
    error = failure.get("msg")
    status = answered.get("status_code")
    return {
        "startedDateTime": format_time(round(began * 1e6) * 1_000) if began is not None else None,
        "timings": phases, "time": _milliseconds(began, ended or _seconds(failure, "timestamp")),
        "request": {
            "method": _text(asked.get("method")), "url": _url(asked), "headers": header_list(_headers(asked)),
            "postData": _content(asked),
        },
        "response": {
            "status": status if isinstance(status, int) else 0, "headers": header_list(_headers(answered)),
            "content": _content(answered), **({"_error": error} if isinstance(error, str) else {}),
        },
    }  # fmt: skip


def _url(asked: Mapping[str, Any]) -> str:
    scheme, host, port = _text(asked.get("scheme")), _text(asked.get("host")), asked.get("port")
    # A proxied request names the server in a header; the host may be an address.
    named = next((value for name, value in _headers(asked) if name.lower() == "host"), "") or _text(
        asked.get("authority")
    )
    if not named:
        named = host if _PORTS.get(scheme) == port else f"{host}:{port}"
    return f"{scheme}://{named}{_text(asked.get('path'))}"


def _headers(side: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    headers = side.get("headers")
    for one in headers if isinstance(headers, list) else ():
        if isinstance(one, list) and len(one) == 2:
            yield _text(one[0]), _text(one[1])


def _content(side: Mapping[str, Any]) -> dict[str, Any]:
    headers = {name.lower(): value for name, value in _headers(side)}
    told = {"mimeType": headers.get("content-type", "")}
    data = side.get("content")
    if not isinstance(data, bytes):
        return told
    found = unpacked_body(data, headers.get("content-encoding"))
    if found is None:
        return {**told, "size": len(data)}
    return {**told, "encoding": "base64", "text": base64.b64encode(found).decode()}


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def _seconds(side: Mapping[str, Any], key: str) -> float | None:
    value = side.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e10 else None


def _milliseconds(begin: float | None, end: float | None) -> float:
    return round((end - begin) * 1e3, 3) if begin is not None and end is not None else -1.0


CONVERSION = FileConverter(
    head_bytes=_HEAD_BYTES, begins_file=lambda head: _FLOW.match(head) is not None, convert=FlowConversion,
    container=FORMAT.name,
)  # fmt: skip
