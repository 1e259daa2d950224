"""Converts logs of LiteLLM to lines of a recording: payloads of its loggers, and rows of the proxy's spend logs.

A record is one call of a model with its messages, answer, times, tokens and cost. It becomes the exchange that a
recording of the API would have. Without stored messages the exchange has tokens and cost alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import decoded_object
from inspector.formats.exchange_lines import ExchangeConversion, header_list
from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.litellm import FORMAT
from inspector.formats.run_files import decoded_document, number_or_none, placed_documents
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.timestamps import NO_TIME, format_time, parse_time
from inspector.protocol.tolerant_encoder import to_json

_PAYLOAD = "standard_logging_object"
_OF_PAYLOADS = frozenset(("call_type", "startTime", "response_cost"))
_OF_ROWS = frozenset(("request_id", "call_type", "spend", "startTime"))
_PATHS = (
    ("mcp_tool", "/mcp"), ("embedding", "/v1/embeddings"), ("image", "/v1/images"), ("moderation", "/v1/moderations"),
    ("transcription", "/v1/audio/transcriptions"), ("speech", "/v1/audio/speech"), ("rerank", "/v1/rerank"),
    ("responses", "/v1/responses"), ("anthropic_messages", "/v1/messages"), ("text_completion", "/v1/completions"),
    ("generate_content", ":generateContent"), ("completion", "/v1/chat/completions"),
)  # fmt: skip
"""Parts of types of calls, each with the path of such a request; the first that fits counts."""
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
_FAILURES = range(400, 600)


def begins_log(head: bytes) -> bool:
    """Returns True for the first bytes of a log."""
    if b'"call_type"' not in head or b'"startTime"' not in head:
        return False
    value = first_record(head)
    return _is_record(value) or _is_record(_first(value.get("data"))) or _is_record(_first(value.get(_PAYLOAD)))


def _first(value: object) -> Mapping[str, Any]:
    return next(iter(mappings_in(value)), {}) if isinstance(value, list) else mapping_or_empty(value)


def _is_record(value: Mapping[str, Any]) -> bool:
    return value.keys() >= _OF_PAYLOADS or value.keys() >= _OF_ROWS


class LogConversion(ExchangeConversion):
    """Converts the records of a log."""

    def _entries(self) -> Iterator[dict[str, Any]]:
        for start, document in placed_documents(self._path):
            self.progress = (start + len(document), self.progress[1])
            value = decoded_document(document)
            rows = mappings_in(value.get("data")) if isinstance(value.get("data"), list) else [value]
            yield from (_entry(mapping_or_empty(row.get(_PAYLOAD)) or row) for row in rows)


def _entry(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a record as an entry of an archive."""
    began, ended = _time(record.get("startTime")), _time(record.get("endTime"))
    first = _time(record.get("completionStartTime"))
    path = next((path for part, path in _PATHS if part in str(record.get("call_type"))), "/")
    session = record.get("session_id", record.get("trace_id"))
    headers = [("content-type", "application/json")]
    if isinstance(session, str) and session:
        headers.append(("x-session-id", session))
    if path == "/mcp":
        asked, answered = _tool_call(record)
    else:
        asked, answered = _request(record), _answer(record)
    return {
        "startedDateTime": format_time(began) if began != NO_TIME else None, "time": _milliseconds(began, ended),
        "timings": {"wait": _milliseconds(began, first)},
        "request": {
            "method": "POST", "url": f"https://{_host(record)}{path}", "headers": header_list(headers),
            "postData": _content(asked),
        },
        "response": {"headers": header_list(headers[:1]), **_outcome(record, answered)},
    }  # fmt: skip


def _host(record: Mapping[str, Any]) -> str:
    address = text_or_none(record.get("api_base")) or ""
    return address.partition("://")[2].partition("/")[0] or text_or_none(record.get("custom_llm_provider")) or "litellm"


def _request(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body of the request: as the proxy received it, or with the members that are logged."""
    received = mapping_or_empty(_decoded(record.get("proxy_server_request")))
    received = mapping_or_empty(received.get("body")) or received
    told = {"model": record.get("model_group") or record.get("model"), **received}
    if not any(key in told for key in ("messages", "input", "contents", "prompt")):
        messages = _decoded(record.get("messages"))
        key = "input" if "responses" in str(record.get("call_type")) else "messages"
        told[key] = messages if isinstance(messages, list | str) and messages else []
    return {**mapping_or_empty(record.get("model_parameters")), **told}


def _answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body of the answer, with the tokens and the cost of the record."""
    answer = _decoded(record.get("response"))
    body = dict(answer) if isinstance(answer, Mapping) else {}
    counts = {key: record[key] for key in _COUNTS if isinstance(record.get(key), int)}
    metadata = mapping_or_empty(_decoded(record.get("metadata")))
    usage = mapping_or_empty(body.get("usage", body.get("usageMetadata"))) or metadata.get("usage_object") or counts
    cost = number_or_none(record.get("response_cost", record.get("spend")))
    usage = {**mapping_or_empty(usage), **({"cost": cost} if cost is not None else {})}
    return {"id": record.get("id", record.get("request_id")), "model": record.get("model"), **body, "usage": usage}


def _tool_call(record: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the messages of a call to a tool of an MCP server."""
    told = mapping_or_empty(mapping_or_empty(_decoded(record.get("metadata"))).get("mcp_tool_call_metadata"))
    head = {"jsonrpc": "2.0", "id": record.get("id", record.get("request_id"))}
    parameters = {"name": told.get("name"), "arguments": told.get("arguments")}
    result = _decoded(record.get("response")) or told.get("result")
    result = result if isinstance(result, Mapping) else {"content": result if isinstance(result, list) else [result]}
    return {**head, "method": "tools/call", "params": parameters}, {**head, "result": dict(result)}


def _outcome(record: Mapping[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Returns status and body of the answer; a failure has its message."""
    metadata = mapping_or_empty(_decoded(record.get("metadata")))
    if "failure" not in (record.get("status"), metadata.get("status")):
        return {"status": 200, "content": _content(answer)}
    error = mapping_or_empty(record.get("error_information")) or mapping_or_empty(metadata.get("error_information"))
    words = text_or_none(error.get("error_message")) or text_or_none(record.get("error_str")) or "the call failed"
    code = str(error.get("error_code"))
    if not code.isdecimal() or int(code[:4]) not in _FAILURES:
        return {"status": 0, "_error": words}
    failure = {"type": error.get("error_class"), "message": words}
    return {"status": int(code), "content": _content({"error": failure})}


def _content(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"mimeType": "application/json", "text": to_json(dict(body)).decode("utf-8", "replace")}


def _decoded(value: object) -> Any:
    """Returns a value, also decoded from JSON text."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    data = value.encode("utf-8", "replace")
    try:
        return decoded_object(data) if value[:1] == "{" else decode_json(data)
    except NotAnObjectError:
        return value


def _time(value: object) -> int:
    """Returns nanoseconds of a text or of seconds."""
    seconds = number_or_none(value)
    return parse_time(value) if seconds is None else round(seconds * 1e6) * 1_000


def _milliseconds(begin: int, end: int) -> float:
    return (end - begin) / 1e6 if NO_TIME not in (begin, end) else -1.0


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_log, convert=LogConversion, container=FORMAT.name
)  # fmt: skip
