"""Converts evaluation logs of Inspect, archives (`.eval`) and JSON: a message of a sample's conversation a line."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.entry_builders import token_count
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.file_records import first_record
from inspector.formats.inspect_ai.reader import LABEL
from inspector.formats.message_runs import message_lines
from inspector.formats.run_files import (
    Run,
    RunFacts,
    decoded_document,
    documents_in,
    number_or_none,
    run_converter,
)
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.timestamps import parse_time

_ZIP = b"PK\x03\x04"
_MEMBERS = (b"_journal/", b"samples/", b"header.json", b"summaries.json")
_NAME_AT = 30
"""Offset of the first member's name in an archive."""
_ENCRYPTED = 1
"""Flag of a member."""
_ZSTANDARD = 93
_LOCAL_HEADER_BYTES = 30
_MAX_MEMBER = 1 << 30
_PARTS = ("messages", "events", "attachments", "message_pool", "events_data", "store", "output")
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_TOLD = ("score", "error", "sample_limit", "info", "compaction", "interrupt", "approval")
"""Types of events that are lines of their own."""
_ATTACHMENT = "attachment://"


def begins_log(head: bytes) -> bool:
    """Returns True for the first bytes of a log."""
    if head.startswith(_ZIP):
        return head[_NAME_AT:].startswith(_MEMBERS)
    if b'"eval"' not in head:
        return False
    value = first_record(head)
    return {"version", "status"} <= value.keys() and "task" in mapping_or_empty(value.get("eval"))


def runs_in(path: Path) -> Iterator[Run]:
    with path.open("rb") as file:
        is_archive = file.read(len(_ZIP)) == _ZIP
    if is_archive:
        yield from _archived(path)
        return
    for document in documents_in(path):
        value = decoded_document(document)
        evaluation = mapping_or_empty(value.get("eval"))
        for sample in mappings_in(value.get("samples")):
            yield Run(_facts(sample, evaluation), partial(_lines, sample, evaluation))


def _archived(path: Path) -> Iterator[Run]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            header = _member(path, archive, "header.json" if "header.json" in names else "_journal/start.json")
            listed = ["summaries.json"] if "summaries.json" in names else sorted(
                name for name in names if name.startswith("_journal/summaries/")
            )  # fmt: skip
            samples = [one for name in listed for one in mappings_in(_member(path, archive, name))]
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise NotConvertedError(f"it is damaged or not complete: {error}") from None
    evaluation = mapping_or_empty(mapping_or_empty(header).get("eval"))
    for sample in samples:
        name = f"samples/{sample.get('id')}_epoch_{sample.get('epoch')}.json"
        yield Run(_facts(sample, evaluation), partial(_archived_lines, path, name, evaluation))


def _archived_lines(path: Path, name: str, evaluation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            sample = _member(path, archive, name)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise NotConvertedError(f"its member {name} cannot be read: {error}") from None
    yield from _lines(mapping_or_empty(sample), evaluation)


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """Returns a member as JSON. Raises NotConvertedError, and KeyError if there is none of this name."""
    info = archive.getinfo(name)
    if info.flag_bits & _ENCRYPTED:
        raise NotConvertedError(f"its member {name} is encrypted")
    if info.file_size > _MAX_MEMBER:
        raise NotConvertedError(f"its member {name} has {info.file_size / 1e6:,.0f} MB")
    data = _unpacked(path, info) if info.compress_type == _ZSTANDARD else archive.read(info)
    try:
        return decode_json(data)
    except NotAnObjectError as error:
        raise NotConvertedError(f"its member {name} is {error}") from None


def _unpacked(path: Path, info: zipfile.ZipInfo) -> bytes:
    """Returns a member that is packed with Zstandard, which Python's module does not read."""
    import zstandard

    with path.open("rb") as file:
        file.seek(info.header_offset)
        local = file.read(_LOCAL_HEADER_BYTES)
        lengths = (int.from_bytes(local[at : at + 2], "little") for at in (26, 28))
        file.seek(info.header_offset + _LOCAL_HEADER_BYTES + sum(lengths))
        packed = file.read(info.compress_size)
    try:
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=info.file_size)
    except zstandard.ZstdError as error:
        raise NotConvertedError(f"its member {info.filename} cannot be unpacked: {error}") from None


def _facts(sample: Mapping[str, Any], evaluation: Mapping[str, Any]) -> RunFacts:
    scores = list(mapping_or_empty(sample.get("scores")).values())
    value = mapping_or_empty(scores[0]).get("value") if scores else None
    score = (
        _GRADES.get(value)
        if isinstance(value, str)
        else float(value)
        if isinstance(value, bool)
        else number_or_none(value)
    )
    used = _usages(sample)
    error = sample.get("error")
    return RunFacts(
        name=f"{sample.get('id')}-{sample.get('epoch')}", task=f"{evaluation.get('task')} {sample.get('id')}",
        score=score, passed=None if score is None else score >= 1.0,
        error=text_or_none(mapping_or_empty(error).get("message")) or text_or_none(error),
        model=text_or_none(evaluation.get("model")), seconds=number_or_none(sample.get("total_time")),
        began_ns=parse_time(sample.get("started_at") or evaluation.get("created")),
        input_tokens=sum(token_count(one, "total_tokens") - token_count(one, "output_tokens") for one in used) or None,
        output_tokens=sum(token_count(one, "output_tokens") for one in used) or None,
    )  # fmt: skip


def _lines(sample: Mapping[str, Any], evaluation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    attachments = mapping_or_empty(sample.get("attachments"))
    events = [_resolved(one, attachments) for one in mappings_in(sample.get("events"))]
    messages = [_resolved(one, attachments) for one in mappings_in(sample.get("messages"))]
    yield {"record": {key: one for key, one in sample.items() if key not in _PARTS}}
    models: dict[str, list[Mapping[str, Any]]] = {}
    for one in events:
        if one.get("event") == "model":
            models.setdefault(_answer_key(one), []).append(one)
    tools = {one.get("id"): one for one in events if one.get("event") == "tool"}
    named = text_or_none(evaluation.get("model"))
    # Events may have been left out of the log.
    totals = {} if models else _totals(sample)
    for line in message_lines(messages, model=named, totals=totals):
        message = mapping_or_empty(line["record"])
        event = tools.get(message.get("tool_call_id")) if message.get("role") == "tool" else None
        if message.get("source") == "generate" and (answers := models.get(_message_key(message))):
            event = answers.pop(0)
        facts = ("event", "timestamp", "completed", "working_time", "model")
        told = {key: event[key] for key in facts if key in event} if event is not None else {}
        usage = mapping_or_empty(event.get("output")).get("usage") if event is not None else None
        yield {**line, **({"told": told} if told else {}), **({"usage": usage} if usage else {})}
    for event in events:
        # The outcome tells the error of a sample.
        if event.get("event") in _TOLD and not (event["event"] == "error" and sample.get("error")):
            yield {"record": event}
    # Calls outside of the conversation: of graders, and of agents of their own.
    for event in (one for answers in models.values() for one in answers):
        yield {"record": {key: one for key, one in event.items() if key not in ("input", "tools", "call")}}


def _totals(sample: Mapping[str, Any]) -> dict[str, int]:
    """Returns the usage of all calls of models for a sample."""
    found: Counter[str] = Counter()
    for told in _usages(sample):
        found.update({key: token_count(told, key) for key in told})
    return dict(found)


def _usages(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the usage of each model; logs of 2024 may have only that of the last output."""
    usages = list(mapping_or_empty(sample.get("model_usage")).values())
    return mappings_in(usages or [mapping_or_empty(sample.get("output")).get("usage")])


def _answer_key(event: Mapping[str, Any]) -> str:
    choices = mappings_in(mapping_or_empty(event.get("output")).get("choices"))
    message = mapping_or_empty(choices[0].get("message")) if choices else {}
    return _message_key(message) or text_or_none(event.get("uuid")) or str(event.get("timestamp"))


def _message_key(message: Mapping[str, Any]) -> str:
    """Returns the id of an answer; in logs before March 2025, which have none, the ids of its calls or its content."""
    calls = [call.get("id") for call in mappings_in(message.get("tool_calls"))]
    content = message.get("content")
    return text_or_none(message.get("id")) or (str(calls) if calls else str(content) if content else "")


def _resolved(value: Any, attachments: Mapping[str, Any], depth: int = 0) -> Any:
    """Returns a value with the texts that it names as attachments."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, list):
        return [_resolved(one, attachments, depth + 1) for one in value]
    if isinstance(value, dict):
        return {key: _resolved(one, attachments, depth + 1) for key, one in value.items()}
    return value


_DEEPEST = 20

CONVERSION = run_converter(LABEL, runs_in, begins_log)
