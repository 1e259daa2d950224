"""No secret that a log holds, wherever and however it is written there, is in any export."""

from __future__ import annotations

import io
import json
from collections import deque
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.export import ExportOptions, export_to, preview
from inspector.export.files import FORMATS
from inspector.export.message_summary import MAX_BODY
from inspector.filters.fields import FIELDS
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import clean_up, document_of, envelope, received, tool_call, tool_result
from tests.planted import PLANTED, name_with, told
from tests.samples import first_of
from tests.strategies import share_of_examples
from tests.streamed_secrets import SECRETS
from tests.varied import planted_samples

_ALL_FIELDS = tuple(field.name for field in FIELDS)
_BEFORE = ("", " ", "\n", "\u2019", "\u00e9", "\u001b[31m", '"', "(")


def log_with(secret: str, before: str, *, big: bool, ascii_only: bool) -> CaptureDocument:
    """A log with a secret in every place."""
    said, name = before + secret, name_with(secret, before)
    inner = json.dumps({"deeper": json.dumps({"text": said}, ensure_ascii=ascii_only)}, ensure_ascii=ascii_only)
    ask = tool_call("search", arguments={"q": said, said: 1, "inner": inner}, context=f"c/{name}")
    answer = tool_result(ask, inner + (" more" * 250_000 if big else ""), result={"structuredContent": {said: [said]}})
    odd = [
        envelope("chat", {"text": said}, sender=said, to=[said], id=said),
        envelope(f"shop/{name}", {"nested": [{said: {said: inner}}]}, correlation_id=[said]),
        envelope("mcp/response", {"error": {"code": 1, "message": said, "data": {said: said}}}),
    ]
    lines: list[Any] = [ask, answer, *odd, *(received(one) for one in odd)]
    written = [json.dumps(line, ensure_ascii=ascii_only) for line in lines]
    one_line = said.replace("\n", "\\n")  # of a line that is no JSON the next one is another message
    return document_of(*written, written[2][:-3], f"no JSON {one_line}")


def exports(document: CaptureDocument) -> dict[str, str]:
    """What is written in every format."""
    every_options = [ExportOptions(format_, fields=_ALL_FIELDS, view="all") for format_ in FORMATS]
    found: dict[str, str] = {}
    for options in (*every_options, ExportOptions(self_contained=True)):
        out = io.BytesIO()
        deque(export_to(document, range(len(document.capture)), out, options), maxlen=0)
        found[f"{options.format.value} {options.self_contained}"] = out.getvalue().decode()
    return found


@given(st.sampled_from(PLANTED), st.sampled_from(_BEFORE), st.booleans())
@share_of_examples(2)
def test_no_export_holds_a_planted_secret(secret: str, before: str, ascii_only: bool) -> None:
    try:
        document = log_with(secret, before, big=False, ascii_only=ascii_only)
        leaks = [where for where, text in exports(document).items() if told(secret) in text]
        found = deque(preview(document, range(len(document.capture))), maxlen=1)[0]
    finally:
        clean_up()
    assert leaks == []
    assert found.holding >= 10


@given(planted_samples(SECRETS))
@share_of_examples(2)
def test_no_export_of_any_format_holds_one(planted: tuple[str, list[Any]]) -> None:
    hidden, lines = planted
    try:
        with suppress(UnknownFormatError):
            leaks = [where for where, text in exports(document_of(*lines)).items() if hidden in text]
            assert leaks == []
    finally:
        clean_up()


def test_no_part_of_a_secret_is_shown_where_a_text_is_cut() -> None:
    secret = next(one for one in PLANTED if one.startswith("dop_v1_"))
    document = document_of(envelope(), *(f"no JSON {'x' * (place - 30)} {secret}" for place in (400, MAX_BODY)))
    assert [where for where, text in exports(document).items() if secret[:12] in text] == []


@pytest.mark.parametrize(
    "secret", first_of((PLANTED[5], 'password="Zq7SecretValue9x"', '{"token": "Zq7SecretValue9x"}'))
)
def test_neither_of_a_message_above_a_megabyte(secret: str) -> None:
    document = log_with(secret, "\u2019", big=True, ascii_only=True)
    assert document.capture.records.is_big(1)
    written = exports(document)
    assert [where for where, text in written.items() if told(secret) in text] == []
    assert all(json.loads(line) for line in written["jsonl False"].splitlines())
