"""Converts cassettes of VCR to lines of a recording: YAML or JSON of vcrpy, Ruby's VCR and go-vcr."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspector.base.optional_dependencies import YAML
from inspector.formats.document_conversion import read_document
from inspector.formats.exchange_lines import ExchangeConversion, header_list
from inspector.formats.file_conversion import FileConverter, NotConvertedError
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.http_bodies import unpacked_body
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.formats.vcr import FORMAT
from inspector.protocol.tolerant_encoder import to_json

_LISTS = ("interactions", "http_interactions")
_YAML = re.compile(
    rb"(?:---\s*\n)?(?:#[^\n]*\n)*(?:version: \d\n)?(?:http_)?interactions:\s*\n\s*- (?:id: \d+\n\s*)?request:"
    rb"[^\S\n]*(?:[!&]\S+[^\S\n]*)?(?:\{|\r?\n\s+(?:body|parsed_body|form|headers|host|id|method|proto|uri|url)\w*:)"
)
_MAX_BYTES = 1 << 27
"""Limit of a cassette in YAML: all of it is in memory."""
_MAX_NODES = 1 << 20
"""Limit of values in a decoded body: aliases of YAML repeat values without end."""


def begins_cassette(head: bytes) -> bool:
    """Returns True for the first bytes of a cassette."""
    if _YAML.match(head) is not None:
        return True
    if b"interactions" not in head or head.lstrip()[:1] != b"{":
        return False
    value = first_record(head)
    return any(isinstance(value.get(name), list) for name in _LISTS) and _is_first_request(value)


def _is_first_request(value: Mapping[str, Any]) -> bool:
    first = next((one for name in _LISTS for one in mappings_in(value.get(name))), {})
    request = first.get("request")
    return isinstance(request, Mapping) and "method" in request and ("response" in first or len(first) == 1)


class CassetteConversion(ExchangeConversion):
    """Converts the interactions of a cassette, in its order."""

    def _entries(self) -> Iterator[dict[str, Any]]:
        with self._path.open("rb") as file:
            is_json = file.read(HEAD_BYTES).lstrip()[:1] == b"{"
        value = mapping_or_empty(read_document(self._path) if is_json else _read_yaml(self._path))
        interactions = [one for name in _LISTS for one in mappings_in(value.get(name))]
        if not interactions:
            raise NotConvertedError("it has no interactions")
        for number, one in enumerate(interactions, 1):
            self.progress = (number, len(interactions))
            yield _entry(one)


def _read_yaml(path: Path) -> Any:
    """Returns the value of a file of YAML. Raises OSError and NotConvertedError."""
    try:
        import yaml
    except ImportError:
        raise NotConvertedError(f"it is in YAML. {YAML.missing_message().rstrip('.')}") from None
    if path.stat().st_size > _MAX_BYTES:
        raise NotConvertedError(f"it is larger than {_MAX_BYTES >> 20} MB")
    # Values of unknown types, as of Ruby, are read as texts, lists and objects.
    loader: Any = type("CassetteLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.add_multi_constructor("", _plain)
    try:
        return yaml.load(path.read_bytes(), loader)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1:,}" if mark is not None else ""
        reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise NotConvertedError(f"it is no valid YAML{where}: {reason}") from None


def _plain(loader: Any, _suffix: str, node: Any) -> Any:
    kind = getattr(node, "id", "scalar")
    if kind == "mapping":
        return loader.construct_mapping(node, deep=True)
    return loader.construct_sequence(node, deep=True) if kind == "sequence" else loader.construct_scalar(node)


def _entry(interaction: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an interaction as an entry of an archive."""
    asked, answered = mapping_or_empty(interaction.get("request")), mapping_or_empty(interaction.get("response"))
    status = answered.get("status", answered.get("code"))
    code = next((one for one in (mapping_or_empty(status).get("code"), answered.get("code"), status)
                 if isinstance(one, int)), 0)  # fmt: skip
    # Ruby's VCR stores the time after an exchange.
    recorded = {"name": "date", "value": str(interaction["recorded_at"])} if "recorded_at" in interaction else None
    headers = header_list(_headers(answered))
    if recorded is not None and not any(one["name"].lower() == "date" for one in headers):
        headers.append(recorded)
    return {
        "request": {
            "method": str(asked.get("method", "")).upper(), "url": asked.get("uri", asked.get("url")),
            "headers": header_list(_headers(asked)), "postData": _content(asked),
        },
        "response": {
            "status": code, "headers": headers, "content": _content(answered),
        },
    }  # fmt: skip


def _headers(side: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in mapping_or_empty(side.get("headers")).items():
        values = value if isinstance(value, list) else [value]
        yield from ((str(name), str(one)) for one in values if isinstance(one, str | int | float))


def _content(side: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a body with its type, as an archive has it: text, or other bytes in Base64."""
    headers = {name.lower(): value for name, value in _headers(side)}
    told = {"mimeType": headers.get("content-type", "")}
    if "parsed_body" in side:  # a serializer's own form of JSON
        body = side["parsed_body"]
        return {**told, "text": to_json(body).decode("utf-8", "replace") if _is_bearable(body) else ""}
    body = side.get("body")
    if isinstance(body, Mapping):
        written = body.get("base64_string")
        if isinstance(written, str):
            return _bytes_content(_from_base64(written), headers, told)
        body = body.get("string")
    if isinstance(body, bytes):
        return _bytes_content(body, headers, told)
    return {**told, "text": body} if isinstance(body, str) else told


def _bytes_content(data: bytes, headers: Mapping[str, str], told: dict[str, Any]) -> dict[str, Any]:
    found = unpacked_body(data, headers.get("content-encoding"))
    if found is None:
        return {**told, "size": len(data)}
    return {**told, "encoding": "base64", "text": base64.b64encode(found).decode()}


def _from_base64(written: str) -> bytes:
    try:
        return base64.b64decode(written)
    except ValueError:
        return b""


def _is_bearable(value: Any) -> bool:
    """Returns True for a value of a bearable size, counted with all repetitions."""
    pending, count = [value], 0
    while pending:
        one = pending.pop()
        inside = list(one.values()) if isinstance(one, dict) else one if isinstance(one, list) else ()
        count += 1 + len(inside)
        if count > _MAX_NODES:
            return False
        pending.extend(inside)
    return True


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_cassette, convert=CassetteConversion, container=FORMAT.name,
)  # fmt: skip
