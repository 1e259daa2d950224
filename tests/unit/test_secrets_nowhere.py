"""No way out of the command line or the core shows a secret, wherever the log has it: every command in every form."""

from __future__ import annotations

import json
import logging
from collections import deque
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pytest
from mcp.client import Client

from inspector.cli.commands import COMMANDS
from inspector.export.parquet import parquet_steps
from inspector.filters.completion import Completer
from inspector.filters.fields import FIELDS
from inspector.mcp_server.captures import Captures
from inspector.mcp_server.server import server_of
from inspector.protocol.secrets.masking import mask_text
from inspector.survey.file_runs import has_several_runs
from inspector.survey.one_run import SurveyOptions, survey_run
from inspector.survey.run_places import RunPlace
from inspector.tables import TABLES
from tests.builders import document_of, envelope, lines_of, log_file
from tests.commands import asked, reading_once
from tests.leaky import SECRET, SPLIT_KINDS, leaky, leaky_lines, planted_sample
from tests.samples import FORMAT_SAMPLES

BEGUN = SECRET[:6]
ALL = ",".join(field.name for field in FIELDS)
WITHOUT_A_LOG = {
    "record", "tap", "explain-filter", "msp", "sessions", "tap install", "tap uninstall", "tap list",
    "mcp", "mcp install", "survey", "guide", "plugins", "formats", "engine",
}  # fmt: skip
"""What they print is tested where they are: it is not what a log holds, or its lines as they are."""
WAYS: dict[str, list[list[str]]] = {
    "summary": [[], ["--json"], ["--tokens"]],
    "steps": [[], ["--json"], ["--sort", "took", "--limit", "0"]],
    "list": [[], ["--format", "jsonl"], ["--format", "csv"], ["-e", ALL], ["-e", ALL, "--format", "jsonl"],
             ["-e", ALL, "--format", "csv"], ["-Y", 'kind contains "token"'], ["-e", "payload.args,payload.deep"]],
    "contexts": [[], ["--json"], ["--tokens"]],
    "participants": [[], ["--json"]],
    "model-sees": [[], ["--json"], ["--participant", "lead"], ["--participant", "files", "--json"], ["--messages"]],
    "waste": [[], ["--json"]],
    "check": [[], ["--json"], ["--format", "junit"], ["--format", "sarif"]],
    "query": [[f"SELECT * FROM {table.name}", *form] for table in TABLES for form in ([], ["--format", "csv"])]
             + [["SELECT payload(no), payload(no)->>'$.token' FROM messages"],
                ["SELECT text FROM messages ORDER BY no DESC LIMIT 900"]],
    "slice": [["-o", "-"], ["-o", "-", "-Y", "!stream", "--with-related"]],
}  # fmt: skip


def test_every_command_is_asked() -> None:
    told = "a command that prints what a log holds has its options in WAYS; another stands in WITHOUT_A_LOG"
    assert set(COMMANDS) - WITHOUT_A_LOG == {*WAYS, "show", "export", "merged-context", "diff", "bisect"}, told


@pytest.fixture
def log() -> Path:
    return log_file(leaky_lines(), "leaky.jsonl")


def output(*words: str | Path) -> str:
    return asked(*words).output


def around(text: str) -> str:
    """Where a secret stands in a text."""
    place = text.find(BEGUN)
    return text[max(0, place - 120) : place + 40] if place >= 0 else ""


@pytest.mark.sweep
@pytest.mark.parametrize("command", WAYS)
def test_no_command_shows_a_secret(log: Path, command: str) -> None:
    with reading_once():
        outputs = [(way, output(command, log, *way)) for way in WAYS[command]]
    for way, text in outputs:
        assert len(text) > 20 or text.strip() == "[]", way
        assert around(text) == "", way


def test_no_name_of_a_file_shows_a_secret(tmp_path: Path) -> None:
    files = [tmp_path / f"token={SECRET}{number}.jsonl" for number in range(2)]
    for number, file in enumerate(files):
        file.write_bytes(lines_of(envelope("chat", {"text": f"hi {number}"}, id=f"m{number}")))
    ways: list[list[str | Path]] = [
        ["summary", *files], ["summary", *files, "--json"], ["check", *files], ["check", *files, "--format", "junit"],
        ["check", *files, "--format", "sarif"], ["show", *files, "1"], ["show", *files, "1", "--json"],
        ["list", *files, "-e", ALL], ["diff", *files], ["diff", *files, "--format", "html"],
    ]  # fmt: skip
    for way in ways:
        text = output(*way)
        assert len(text) > 20
        assert around(text) == "", way


@pytest.mark.sweep
def test_no_comparison_shows_a_secret(log: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    others = [
        log_file(b"".join(lines[::2]), "half.jsonl"),
        log_file(b"".join(lines).replace(b'"text"', b'"content"'), "changed.jsonl"),
    ]
    for other in others:
        for form in ("text", "json", "html", "junit"):
            found = output("diff", log, other, "--format", form)
            assert len(found) > 200, form
            assert around(found) == "", form


@pytest.mark.sweep
def test_no_comparison_of_many_runs_shows_a_secret(log: Path) -> None:
    half = log_file(b"".join(log.read_bytes().splitlines(keepends=True)[::2]), "half.jsonl")
    for by in ("text", "payload.args", 'text contains "token"'):
        for form in ("text", "json", "html"):
            found = output("diff", "--many", log, half, "--by", by, "--format", form)
            assert len(found) > 200, form
            assert around(found) == "", (by, form)
    for form in ("text", "json"):
        assert around(output("bisect", half, log, "--when", "text", "--format", form)) == ""


@pytest.mark.sweep
def test_no_declaration_and_no_trial_of_it_shows_a_secret(log: Path, tmp_path: Path) -> None:
    records = [{"at": n, "say": f"api_key={SECRET}", "keys": {f"token={SECRET}": 1}, "ev": "did"} for n in range(6)]
    other = log_file("".join(json.dumps(one) + "\n" for one in records).encode(), "other.jsonl")
    for file in (log, other):
        written = asked("formats", "new", file)
        assert written.exit_code == 0
        declaration = tmp_path / "declared.toml"
        declaration.write_text(written.stdout)
        assert BEGUN not in written.output
        tried = asked("formats", "try", file, "--format-file", declaration)
        assert "record" in tried.stdout
        assert BEGUN not in tried.output


def test_no_message_shows_a_secret(log: Path) -> None:
    with reading_once():
        count = json.loads(output("summary", log, "--json"))["messages"]
        found = [(number, way, around(text)) for number in range(1, count + 1) for way in ([], ["--json"])
                 if BEGUN in (text := output("show", log, str(number), *way))]  # fmt: skip
    assert count > 50
    assert found == []


@pytest.mark.sweep
def test_no_export_holds_a_secret(log: Path, tmp_path: Path) -> None:
    ways = [[form] for form in ("jsonl", "csv", "md", "html")]
    ways += [["jsonl", "--self-contained"], ["csv", "-e", ALL], ["otlp"], ["otlp", "--with-content"]]
    contexts = [f"c-{number}" for number in range(len(SPLIT_KINDS))]
    ways += [["msp", "--context", context] for context in contexts]
    out = tmp_path / "out"
    with reading_once():
        for way in ways:
            answer = output("export", log, "-o", out, "--format", *way)
            written = out.read_text()
            assert len(written) > 200, (way, answer)
            assert (around(written), around(answer)) == ("", ""), way
            out.unlink()


def test_no_table_of_a_survey_or_of_messages_holds_a_secret(log: Path, tmp_path: Path) -> None:
    found = survey_run(RunPlace(str(log), log.stat().st_size, 1), SurveyOptions())
    assert set(found.tables) >= {"runs", "findings", "tools", "contexts", "tokens", "waste"}
    for name, rows in found.tables.items():
        assert bool(rows) != (name == "failures"), name
        assert around(str(rows)) == "", name
    deque(parquet_steps(leaky(), None, tmp_path / "m.parquet", raw=True), maxlen=0)
    with closing(duckdb.connect()) as connection:
        for row in connection.execute("SELECT * FROM read_parquet(?)", [str(tmp_path / "m.parquet")]).fetchall():
            assert around(str(row)) == ""


FORMATS = sorted(name for name in FORMAT_SAMPLES if name.endswith(".jsonl"))
OF_A_FORMAT = [
    ["check", "--format", "junit"], ["check", "--format", "sarif"], ["summary", "--json", "--tokens"], ["participants"],
    ["list", "-e", ALL, "--format", "csv"], ["contexts", "--json"], ["model-sees", "--messages"], ["waste"],
    *(["query", f"SELECT * FROM {table.name}", "--format", "csv"] for table in TABLES), ["slice", "-o", "-"],
    *(["export", "-o", "-", "--format", *form] for form in (["otlp", "--with-content"], ["jsonl"], ["md"])),
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("name", FORMATS)
def test_no_format_shows_a_secret(name: str) -> None:
    planted = log_file(planted_sample(FORMAT_SAMPLES[name]), name)
    assert SECRET in output("slice", planted, "-o", "-", "--unmasked")
    # Each run of a file with several is cut out of a document of its own.
    apart = has_several_runs(planted)
    with nullcontext() if apart else reading_once():
        outputs = [(way, output(way[0], planted, *way[1:])) for way in OF_A_FORMAT]
    assert [(way, around(text)) for way, text in outputs if BEGUN in text] == []
    assert all(text for _, text in outputs)
    found = survey_run(RunPlace(str(planted), planted.stat().st_size, 1), SurveyOptions())
    assert {name: around(str(rows)) for name, rows in found.tables.items() if BEGUN in str(rows)} == {}


async def test_no_answer_to_an_agent_holds_a_secret(log: Path) -> None:
    names = [field.name for field in FIELDS]
    asked_for: list[tuple[str, dict[str, Any]]] = [
        ("list", {"fields": names[at : at + 20]}) for at in range(0, len(names), 20)
    ]
    asked_for += [(tool, {"no": number}) for tool in ("show", "chain") for number in (2, 3, 60)]
    half = log_file(b"".join(leaky_lines().splitlines(keepends=True)[::2]), "half.jsonl")
    asked_for.append(("compare_runs", {"a": "leaky.jsonl", "b": "half.jsonl"}))
    with closing(Captures([log])) as captures, closing(Captures([log, half])) as two:
        async with Client(server_of(two)) as client:
            (content,) = (await client.call_tool(*asked_for.pop())).content
            assert "missing" in getattr(content, "text", "")
            assert around(getattr(content, "text", "")) == ""
        async with Client(server_of(captures)) as client:
            others = {tool.name for tool in (await client.list_tools()).tools} - {
                "list",
                "show",
                "chain",
                "compare_runs",
            }
            for tool, arguments in (*asked_for, *((one, {}) for one in sorted(others))):
                (content,) = (await client.call_tool(tool, arguments)).content
                assert around(getattr(content, "text", "")) == "", tool


@pytest.mark.sweep
def test_no_merged_context_holds_a_secret(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    for number in range(len(SPLIT_KINDS)):
        output("export", log, "-o", out, "--format", "msp", "--context", f"c-{number}")
        sub = json.loads(out.read_text())["subsessions"][0]["subsession_id"]
        for way in ([], ["--json"], ["--messages"]):
            text = output("merged-context", out, "-s", sub, *way)
            assert len(text) > 20
            assert around(text) == "", way


def test_nothing_that_is_offered_for_a_filter_is_a_secret() -> None:
    completer = Completer(leaky().analysis)
    for name in [*(field.name for field in FIELDS), *completer.payload_names()]:
        for text in (f"{name} == ", f'{name} == "{BEGUN[:2]}', name):
            offered = completer.complete(text, len(text)).candidates
            found = [one for one in offered if BEGUN in one.text + one.label + one.help]
            assert found == [], text


def test_no_log_line_of_reading_holds_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        document = leaky()
        document.count_tokens()
    assert around(caplog.text) == ""


@pytest.mark.parametrize("kind", SPLIT_KINDS)
def test_no_part_of_a_kind_shows_what_is_masked_in_the_whole(kind: str) -> None:
    document = document_of(lines_of({"kind": kind, "id": "a", "payload": {}}))
    for field in FIELDS:
        value = field.value(document.analysis, 0)
        if isinstance(value, str) and SECRET in value:
            assert SECRET not in mask_text(value), field.name


@pytest.mark.parametrize(
    "lines", ["user,password\nme,{}", "api_keys:\n  - {}", "db_password: !vault |\n  {}\n  {}", "password: |\n  {}\n"]
)
def test_no_comparison_shows_a_secret_on_a_line_of_its_own(lines: str) -> None:
    text = lines.replace("{}", f"{SECRET}9x")
    logs = [
        log_file(lines_of(envelope("chat", {"text": f"Hello. {more}"}, id="m")), name)
        for name, more in (("a.jsonl", ""), ("b.jsonl", f"\n{text}"))
    ]
    for form in ("text", "json", "html"):
        found = output("diff", *logs, "--format", form)
        assert "Hello" in found
        assert around(found) == "", form
