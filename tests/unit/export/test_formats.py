"""Every format: what comes out, that nothing in it can act, and that what was logged opens again as it was."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.export import ExportOptions, Format, Redaction, export_file, export_to, preview
from inspector.export.files import FORMATS
from inspector.export.options import format_of
from inspector.export.page import COLORS, style_sheet
from inspector.export.steps import export_steps
from inspector.filters.fields import FIELDS
from inspector.protocol.secrets.masking import SecretRule
from inspector.ui.look import design_tokens
from tests.builders import clean_up, document_at, document_of, envelope, lines_of, log_file, tool_call, tool_result
from tests.samples import DATA, FORMAT_SAMPLES, recordings_swept

_NO_LOGS = ("package.json", ".meta.json", "mcp_figures.json", "digests.json")
LOGS = sorted(
    path
    for path in (*DATA.rglob("*"), *FORMAT_SAMPLES.values())
    if path.suffix in (".jsonl", ".ctxcap", ".json") and not path.name.endswith(_NO_LOGS)
)
_OF_THE_FILE = ("source", "seen_by", "mark", "comment")
"""Fields that say where a message lies, not what it is."""
_PUT_TOGETHER = ("acp", "a2a", "model-calls")
"""Read otherwise than they were logged; what is written is what was logged, and all of it."""
_IN_EVENTS = ("gemini-partial-args",)
"""Answers logged an event a line: their size is of the answer put together, later of the line with all events."""
_NO_TEXT = ("size", "text", "info")
"""Fields of what is no UTF-8, which is written as what it stands for."""
HOSTILE = '</pre><script>alert(1)</script> ``` \u202e\x1b[31m <img src=x onerror=a> & "q" # *b* [l](http://x)'


def written(document: CaptureDocument, format_: Format, **options: Any) -> str:
    out = io.BytesIO()
    deque(export_to(document, range(len(document.capture)), out, ExportOptions(format_, **options)), maxlen=0)
    return out.getvalue().decode()


@pytest.mark.parametrize("format_", [Format.JSONL, Format.MARKDOWN, Format.HTML])
def test_a_thread_writes_large_messages_as_the_caller_does(format_: Format, tmp_path: Path) -> None:
    nested = {f"key{n}": {"name": f"value {n}", "list": [n, {"deep": [n] * 3}]} for n in range(2_000)}
    large = envelope(payload=nested | {"token": "ghp_" + "a1B2" * 9})
    document = document_of(envelope(), large, envelope())
    target = tmp_path / "export"
    steps = list(export_steps(document, range(3), target, ExportOptions(format_)))
    assert target.read_bytes().decode() == written(document, format_)
    assert "ghp_" not in target.read_text("utf-8")
    # Without a thread there is a step for each message, or fewer.
    assert len(steps) > 5


# JSON Lines as logged


@pytest.mark.parametrize("path", recordings_swept(LOGS), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_logged_opens_again_as_the_same_messages(path: Path, tmp_path: Path) -> None:
    document, target = document_at(path), tmp_path / "again.jsonl"
    if not len(document.capture):
        return
    deque(export_file(document, range(len(document.capture)), target, ExportOptions(masked=False)), maxlen=0)
    for line in target.read_bytes().splitlines():
        json.loads(line)
    if path.stem in _PUT_TOGETHER:
        assert sorted(target.read_bytes().splitlines()) == sorted(path.read_bytes().splitlines())
    again = document_at(target)
    assert len(again.capture) == len(document.capture)
    readable = [row for row in range(len(document.capture)) if document.capture.string("kind", row)]
    for field in FIELDS:
        if document.msp is not None and field.name.startswith("finding"):
            continue  # what is wrong with the document of sessions is not wrong with a capture of what they hold
        if field.name not in _OF_THE_FILE and not (field.name in _NO_TEXT and path.stem == "damaged"):
            if field.name == "size" and path.stem in _IN_EVENTS:
                continue
            before, after = (field.column(one.analysis) for one in (document, again))
            assert [before.value(row) for row in readable] == [after.value(row) for row in readable], field.name


def test_messages_of_batches_keep_the_time_and_direction_of_their_line(tmp_path: Path) -> None:
    ask, answer = ({"jsonrpc": "2.0", "id": 1, **more} for more in ({"method": "ping"}, {"result": {}}))
    document = document_of(
        {"t": 1_767_603_600_000_000_000, "dir": "client->server", "message": [ask, {**ask, "id": 2}]},
        {"t": 1_767_603_601_000_000_000, "dir": "server->client", "frame": [answer, 7]},
        {"timestamp": "2026-01-05T09:00:02Z", "direction": "in", "data": [ask]},
        json.dumps([ask]),
        envelope(),
    )  # fmt: skip
    deque(
        export_file(document, range(len(document.capture)), tmp_path / "again", ExportOptions(masked=False)), maxlen=0
    )
    again = document_at(tmp_path / "again")
    for name in ("direction", "sender"):
        before, after = ([one.capture.string(name, row) for row in range(3)] for one in (document, again))
        assert before == after
    before, after = (np.delete(one.capture.columns["time_ns"], 3).tolist() for one in (document, again))
    assert before == after
    assert again.analysis.correlation.columns["cause"].tolist() == [-1, -1, 0, -1, -1, -1, -1]


def test_connections_stay_apart(tmp_path: Path) -> None:
    ping, result = {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 1, "result": {}}
    to_server, to_client = {"t": 1, "dir": "client->server"}, {"t": 1, "dir": "server->client"}
    document = document_of(
        {"ctxcap": 1},
        {**to_server, "src": 0, "frame": ping}, {**to_server, "src": 1, "frame": ping},
        {**to_client, "src": 1, "frame": result}, {"t": 1, "src": 0, "mark": "opened"},
        {**to_client, "src": 0, "frame": result}, {**to_server, "src": 1, "frame": [ping]},
        {**to_client, "src": 0, "frame": [result]}, {**to_client, "src": 1, "frame": result},
    )  # fmt: skip
    deque(
        export_file(document, range(len(document.capture)), tmp_path / "again", ExportOptions(masked=False)), maxlen=0
    )
    again = document_at(tmp_path / "again")
    before, after = (one.analysis.correlation.columns["cause"].tolist() for one in (document, again))
    assert before == after == [-1, -1, 1, -1, -1, -1, 4]
    before, after = (one.capture.columns["connection"].tolist() for one in (document, again))
    assert before == after == [0, 1, 1, 2, 1, 2, 1]


def test_the_copies_of_a_message_come_with_it_and_no_others() -> None:
    document = document_at(FORMAT_SAMPLES["gateway-log.jsonl"])
    lines = written(document, Format.JSONL, masked=False).splitlines()
    assert len(lines) == document.capture.record_count


# CSV


def test_a_table_has_the_fields_asked_for() -> None:
    document = document_of(envelope("chat", {"text": "a, b\nc", "n": 2}, to=["x", "y"]))
    rows = list(csv.reader(io.StringIO(written(document, Format.CSV, fields=("no", "to", "text", "payload.n")))))
    assert rows == [["no", "to", "text", "payload.n"], ["1", "x, y", "a, b\nc", "2"]]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_no_cell_is_a_formula(text: str) -> None:
    rows = list(csv.reader(io.StringIO(written(document_of(envelope("chat", {"text": text})), Format.CSV))))
    assert not rows[1][-1].startswith(("=", "+", "-", "@", "\t"))


SECRET = "hunter2SECRET"


@pytest.mark.parametrize(
    "more",
    [
        '"password":"hunter2SECRET","password":null',
        '"x":{"token":"hunter2SECRET"},"x":{}',
        '"a":{"authorization":"Bearer hunter2SECRET"},"a":1',
        '"a":"Bearer\\u0020hunter2SECRET","a":1',
    ],
)
@pytest.mark.parametrize("alone", [False, True])
def test_what_stands_under_a_repeated_key_is_masked_and_counted(more: str, alone: bool) -> None:
    line = json.dumps(envelope("chat", {"text": "hi"}))[:-1] + "," + more + "}"
    document = document_at(log_file(line.encode() + b"\n"))
    assert SECRET not in written(document, Format.JSONL, self_contained=alone)
    assert SECRET in written(document, Format.JSONL, self_contained=alone, masked=False)
    assert deque(preview(document, range(1)), maxlen=1)[0].secrets == 1


def test_bytes_that_are_no_text_are_none_when_a_secret_is_in_them() -> None:
    log = lines_of(envelope()) + b"\xff no json password=hunter2SECRET\n\xff nothing\n"
    _, one, other = map(json.loads, written(document_at(log_file(log)), Format.JSONL).splitlines())
    assert one == {"text": "\ufffd no json password=••••••••"}
    assert list(other) == ["b64"]


@pytest.mark.parametrize("format_", [Format.JSONL, Format.MARKDOWN, Format.HTML])
def test_an_escape_hides_no_secret(format_: Format) -> None:
    line = json.dumps(envelope("chat", {"text": "sk-ant-api03-AbCdEfGhIjKlMnOp0123"})).replace("sk-", "sk\\u002d")
    assert "AbCdEfGh" not in written(document_at(log_file(line.encode() + b"\n")), format_)


def test_the_marks_of_the_log_are_not_written_over(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(lines_of(envelope()))
    document, marks = document_at(log), tmp_path / "a.jsonl.ctxmarks.json"
    with pytest.raises(OSError, match="marks"):
        deque(export_file(document, [0], marks), maxlen=0)
    assert not marks.exists()


@pytest.mark.parametrize("text", [" =1+1", "\n=1+1", "\u3000=1", "＝1+1", " ＋1", "－1", "＠a", "\r\n\t@a"])  # noqa: RUF001
def test_blanks_and_fullwidth_signs_make_no_formula_either(text: str) -> None:
    rows = list(csv.reader(io.StringIO(written(document_of(envelope("chat", {"text": text})), Format.CSV))))
    assert rows[1][-1].startswith("'")


# Markdown


def test_markdown_says_what_was_said_and_nothing_in_it_is_markup() -> None:
    document = document_of(envelope("chat", {"text": HOSTILE}, context="a*b"))
    text = written(document, Format.MARKDOWN, view="All <b>")
    assert "All \\<b\\>" in text
    assert "in a\\*b" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    fence = re.findall(r"^`+(?=json$)", text, re.M)[0]
    assert len(fence) > 3
    assert text.count(f"\n{fence}\n") == 1


# Page


class Tags(html.parser.HTMLParser):
    """Every element with its attributes, and the text of all."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.said += data


def test_a_page_shows_hostile_text_and_holds_nothing_that_acts_or_loads() -> None:
    document = document_of(envelope("chat", {"text": HOSTILE}, context=HOSTILE, **{"from": HOSTILE}))
    text = written(document, Format.HTML, view=HOSTILE)
    tags = Tags(text)
    assert not tags.names & {"script", "img", "link", "a", "iframe", "object", "svg"}
    assert not {name for name in tags.attributes if name.startswith("on") or name in ("src", "href", "style")}
    assert "default-src 'none'" in text
    assert "<script>alert(1)</script>" in tags.said
    assert "\\u202e" in tags.said
    assert "\x1b" not in text
    assert "url(" not in style_sheet()


def test_the_page_has_the_colours_of_both_themes() -> None:
    assert {name: design_tokens.COLORS[name] for name in COLORS} == COLORS
    assert "prefers-color-scheme: dark" in style_sheet()


def test_findings_and_links_are_told() -> None:
    ask = tool_call("login", id="q", arguments={"password": "hunter2"})
    document = document_of(ask, tool_result(ask, "done"))
    for format_ in (Format.HTML, Format.MARKDOWN):
        text = written(document, format_)
        assert "secret-in-clear" in text
        assert "hunter2" not in text
        assert "Answered by" in text


# What all have in common


@pytest.mark.parametrize("format_", FORMATS)
def test_secrets_are_masked_in_every_format_unless_asked_for(format_: Format) -> None:
    document = document_of(envelope("chat", {"text": "Bearer abcdef.ghi"}), '{"torn": "token=abcdefg')
    masked, whole = (written(document, format_, masked=masked) for masked in (True, False))
    assert "abcdef" not in masked
    assert "abcdef.ghi" in whole
    assert "abcdefg" in whole


@given(text=st.text(max_size=60), secret=st.from_regex(r"[A-Za-z0-9]{12,20}", fullmatch=True))
def test_whatever_is_said_each_format_takes_it_and_masks(text: str, secret: str) -> None:
    try:
        document = document_of(envelope("chat", {"text": text, "api_key": secret, "deep": json.dumps({"jwt": secret})}))
        for format_ in FORMATS:
            assert secret not in written(document, format_)
    finally:
        clean_up()


@pytest.mark.parametrize("format_", Format)
def test_the_command_writes_what_the_name_of_a_file_asks_for(format_: Format, tmp_path: Path) -> None:
    target = tmp_path / f"out.{format_}"
    request = tool_call("grep")
    log = log_file(lines_of(request, tool_result(request)))
    result = CliRunner().invoke(app, ["export", str(log), "-o", str(target)])
    assert result.exit_code == 0, f"`--format` of inspector/cli/export.py takes every format: {result.output}"
    assert target.stat().st_size


@pytest.mark.parametrize("format_", FORMATS)
def test_nothing_is_a_document_too(format_: Format) -> None:
    out = io.BytesIO()
    last = deque(export_to(document_of(envelope()), [], out, ExportOptions(format_)), maxlen=1)[0]
    assert (last.messages, last.size_bytes) == (0, len(out.getvalue()))


@pytest.mark.parametrize("format_", [Format.MARKDOWN, Format.HTML])
def test_of_a_big_message_the_beginning_alone_is_read_and_masked(
    format_: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = [f"password={'x' * 8}{number}" for number in range(150_000)]
    document = document_of(envelope("chat", {"text": "big", "rows": around}))
    assert document.capture.records.is_big(0)
    looked_at: list[int] = []
    text = Redaction.mask_text

    def counted(self: Redaction, said: str) -> str:
        looked_at.append(len(said))
        return text(self, said)

    monkeypatch.setattr(Redaction, "mask_text", counted)
    out = written(document, format_)
    assert "xxxxxxxx" not in out
    assert max(looked_at) < 200_000
    assert "more characters are left out" in out


def test_the_preview_counts_each_message_once_and_says_where() -> None:
    ask = tool_call("login", id="q", arguments={"password": "hunter2", "token": "abc"})
    document = document_of(envelope(), ask, tool_result(ask, "Bearer abcdef.ghi"), "{torn token=abcdef")
    found = deque(preview(document, range(4)), maxlen=1)[0]
    assert (found.messages, found.holding, found.secrets, found.complete) == (4, 3, 4, True)
    assert found.tally == {SecretRule.KEY: 2, SecretRule.BEARER: 1, SecretRule.ASSIGNED: 1}
    assert found.firsts == {SecretRule.KEY: [1], SecretRule.BEARER: [2], SecretRule.ASSIGNED: [3]}


def test_the_ending_of_a_name_says_the_format() -> None:
    assert [format_of(name) for name in ("a.HTML", "b.htm", "c.md", "d.csv", "e.ndjson", "f.txt", "g")] == [
        Format.HTML, Format.HTML, Format.MARKDOWN, Format.CSV, Format.JSONL, None, None,
    ]  # fmt: skip
    assert [format_of(name) for name in ("a.csv.gz", "b.MD.ZST", "c.jsonl.gz", "d.gz")] == [
        Format.CSV, Format.MARKDOWN, Format.JSONL, None,
    ]  # fmt: skip


# The command


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["export", *arguments])


def test_the_command_goes_by_the_ending_or_by_the_option(tmp_path: Path) -> None:
    log = str(log_file(lines_of(envelope("chat", {"text": "hi"}), envelope("chat", {"text": "ho"}))))
    for name, begins in (("a.html", "<!DOCTYPE html>"), ("a.md", "# "), ("a.csv", "no,text"), ("a.jsonl", "{")):
        done = run(log, "-o", str(tmp_path / name), "-e", "no,text", "-Y", 'text == "ho"')
        assert done.exit_code == 0, done.stderr
        assert "1 message" in done.stderr
        assert (tmp_path / name).read_text().startswith(begins)
    assert run(log, "-o", "-", "--format", "csv", "-e", "text").stdout.splitlines() == ["text", "hi", "ho"]


def test_several_files_become_one_capture(tmp_path: Path) -> None:
    logs = [str(log_file(lines_of(envelope("chat", {"text": text})), f"{text}.jsonl")) for text in ("hi", "ho")]
    target = tmp_path / "both.ctxcap"
    asked = [*logs, "-o", str(target), "--format", "capture"]
    assert "secrets" in run(*asked).stderr
    assert not target.exists()
    done = run(*asked, "--unmasked")
    assert (done.exit_code, "2 messages" in done.stderr) == (0, True)
    assert [source.name for source in document_at(target).capture.sources] == ["hi.jsonl", "ho.jsonl"]


def test_the_command_says_which_field_is_none() -> None:
    done = run(str(log_file(lines_of(envelope()))), "-o", "-", "--format", "csv", "-e", "txt")
    assert done.exit_code == 2
    assert "Did you mean text?" in done.stderr
