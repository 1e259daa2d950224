"""Excerpts of what somebody wrote are plain words wherever they are shown."""

from __future__ import annotations

from inspector.document.document import CaptureDocument
from inspector.document.session_titles import MAX_TITLE, SessionTitles, title_of_session
from inspector.present.findings import finding_line
from inspector.present.message_row import row_content
from inspector.present.session_titles import shown_session_title
from inspector.present.subject import name_of
from tests.builders import document_of, envelope
from tests.pages import ROOT
from tests.unit.present.test_account import account

_MARKED = "## Plan\n\nFix the **timeout** in `server.py`, see [the issue](https://example.com/1)."
_WORDS = "Plan Fix the timeout in server.py, see the issue."


def test_a_row_a_chain_and_what_happened_show_plain_words() -> None:
    document = document_of(envelope("chat", {"text": _MARKED}, sender="lead"))
    assert row_content(document, 0).text == _WORDS
    assert " ".join(name_of(document.analysis, 0)[0].split()) == _WORDS
    (first, *_rest) = account(document).lines
    assert (first.about, first.text) == ("First message", f"lead: “{_WORDS}”")


def test_thoughts_are_plain_words_and_arguments_of_tools_are_not_touched() -> None:
    thought = envelope("reasoning/thought", {"text": _MARKED}, sender="lead", context="r-1")
    params = {"name": "write", "arguments": {"text": "**bold** `code`"}}
    call = envelope("mcp/request", {"method": "tools/call", "params": params}, sender="lead", to=["files"])
    document = document_of(thought, call)
    assert row_content(document, 0).text == _WORDS
    assert "**bold** `code`" in row_content(document, 1).text


def test_a_title_is_plain_words() -> None:
    titles = SessionTitles(document_of(envelope("chat", {"text": "x"})).capture)
    assert titles.on_one_line(_MARKED) == _WORDS


def test_a_long_title_is_cut_alike_everywhere() -> None:
    title = {"type": "custom-title", "customTitle": "word " * 60, "sessionId": "s"}
    prompt = {
        "type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "timestamp": "2026-09-01T08:00:01.000Z",
        "cwd": "/w", "version": "2.1.0", "message": {"role": "user", "content": "hello"},
    }  # fmt: skip
    capture = document_of(title, prompt).capture
    assert title_of_session(capture) == shown_session_title(capture)
    assert title_of_session(capture).endswith("…")
    assert len(title_of_session(capture)) == MAX_TITLE


def test_sentences_of_findings_are_plain_words() -> None:
    document = CaptureDocument()
    document.load(ROOT / "tests/data/recordings/mcp/py2-http-legacy-2025-11-25.jsonl")
    rows = range(len(document.capture))
    found = [(one.check.code, row) for row in rows for one in document.analysis.findings.found.findings_about(row)]
    lines = [line for code, message in found if (line := finding_line(document, code, message)) is not None]
    assert len(lines) > 2
    assert any("tide changed" in line.sentence for line in lines)
    assert not any("`" in line.sentence or "`" in line.advice for line in lines)
    document.close()
