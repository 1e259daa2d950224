"""The command line: exit codes, and exactly the shapes of docs/design.md 5."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from inspector.analysis.findings.streams import StreamChecks
from inspector.cli import app
from tests.builders import document_of, envelope, lines_of, log_file, received, tool_call, tool_result
from tests.samples import first_of
from tests.unit.formats.conformance import FORMATS_FOLDER

SESSIONS = Path(__file__).parents[2] / "data" / "msp"
RECORDING = Path(__file__).parents[2] / "data" / "recordings" / "mcp-rune" / "01-loop-current-names.jsonl"


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def printed(*arguments: str | Path, stdin: bytes | None = None) -> Any:
    done = run(*arguments, stdin=stdin)
    assert (done.exit_code, done.stderr) == (0, "")
    return json.loads(done.stdout)


def listed(*arguments: str | Path) -> list[dict[str, Any]]:
    done = run("list", *arguments, "--format", "jsonl")
    assert (done.exit_code, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def log(*lines: Any) -> Path:
    return log_file(lines_of(*lines))


def test_help_says_how_to_open_a_log_or_a_gateway() -> None:
    words = " ".join(run("--help").stdout.split())
    assert "[FILE | ws://...]... | COMMAND" in words
    assert "Without a command it opens the window: on each log FILE (- for standard input)" in words
    assert "│ window" not in words
    for one in ((), ("list",), ("list", "any.jsonl")):
        assert run(*one, "-h").stdout == run(*one, "--help").stdout


def test_the_tap_has_help_and_takes_the_servers_options_as_they_are() -> None:
    words = " ".join(run("tap", "--help").stdout.split())
    assert "put `context-inspector tap -o FILE --` before the server's command" in words
    assert run("tap", "--", "server").exit_code == 2  # without a file
    assert run("tap", "-o", "file").exit_code == 2  # without a server


# summary


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_a_files_name_says_nothing_to_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J\u202e\nforged.jsonl"
    path.write_bytes(log("no log").read_bytes())
    for command in (["summary"], ["check"], ["model-sees", "--participant", "x"], ["show"]):
        said = run(command[0], path, *command[1:], *(["9"] if command == ["show"] else []))
        assert "\x1b" not in said.output
        assert "\u202e" not in said.output
        assert not said.stdout.startswith("forged")
        assert "\nforged" not in said.stdout


def test_a_comparison_takes_one_log_from_standard_input() -> None:
    refused = run("diff", "-", "-", stdin=b"{}")
    assert (refused.exit_code, refused.stderr) == (2, "A and B cannot both be standard input.\n")


def test_a_comparison_has_the_stated_cost_of_a_run_without_prices_as_tables_of_runs_do(tmp_path: Path) -> None:
    path, prices = FORMATS_FOLDER / "swe_agent" / "samples" / "kites.traj", tmp_path / "prices.txt"
    prices.write_text("other-model = 1 in, 1 out")
    found = printed("diff", path, path, "--prices", prices, "--format", "json")
    stated = printed("summary", path, "--prices", prices, "--json")["stated_cost"]
    assert stated > 0
    assert found["totals"]["a"]["cost"] == stated


def test_a_missing_run_is_refused_with_the_names_of_the_runs() -> None:
    path = FORMATS_FOLDER / "inspect_ai" / "samples" / "bread.json"
    refused = run("diff", path / "oat-1", path / "oat")
    assert refused.exit_code == 2
    assert "it holds no run oat; it holds rye-1, oat-1, spelt-1." in refused.stderr


def test_summary_json() -> None:
    found = printed("summary", RECORDING, "--json")
    latency = found.pop("latency")
    assert found.pop("tokens")["uncounted"] == 0
    assert sum(found.pop("tool_counts").values()) == 11
    assert [one["saved"] for one in found.pop("context")] == [1_356]
    assert {name: one["count"] for name, one in latency["participants"].items()} == {"server": 13}
    assert sum(one["count"] for one in latency["tools"].values()) == 11
    told = found.pop("account")
    assert [line["about"] for line in told] == ["Done", "Collapsed", "Tokens", "Tokens", "Tokens"]
    assert (told[0]["no"], told[-1]["no"], told[0]["filter"]) == (
        None, 5, 'kind == "mcp/request" && method == "tools/call" && from == "client"',
    )  # fmt: skip
    assert found.pop("waiting") == []
    assert [card["id"] for card in found.pop("overview")][:2] == ["people", "tools"]
    assert found == {
        "file": str(RECORDING), "format": "wrapped", "records": 27, "messages": 27, "unreadable": 0, "spaces": [],
        "participants": ["client", "server"], "kinds": {"mcp/request": 14, "mcp/response": 13}, "contexts": 0,
        "main": 27, "badges": {"transient": 2, "consumed": 2, "collapsed": 2, "pending": 0},
        "pending_results": [],
        "findings": {"consumed-nothing": 1},
        "calls": {"tools": 11, "answered": 11, "failed": 0, "unanswered": 0, "rejected": 0},
        "models": {}, "usage": None, "cost": None, "stated_cost": None,
        "rpc": {"requests": 13, "answered": 13, "errors": 0, "versions": ["2025-11-25"]},
        "sub_agents": 0, "compactions": 0,
        "sources": [{"name": RECORDING.name, "format": "wrapped", "records": 27}],
    }  # fmt: skip


def test_summary_tells_tokens_of_everything_added_up() -> None:
    found = printed("summary", RECORDING, "--json")["tokens"]
    assert found["tokenizer"] == "cl100k_base"
    assert (found["uncounted"], found["main"], found["contexts"]) == (0, found["total"], [])
    assert found["total"] == sum(found["kinds"].values()) == sum(found["participants"].values())
    assert found["total"] == sum(printed_lines("list", RECORDING, "-e", "tokens"))
    assert found["tools"]["search_records"] > found["collapsed"]["before"] > found["collapsed"]["after"] > 0
    assert found["without_collapsing"] - found["with_collapsing"] == found["collapsed"]["saved"]
    said = run("summary", RECORDING).output
    assert f"tokens        {found['total']:,}, estimate (cl100k_base)" in said
    assert "with collapsing" in said


def test_tokens_are_counted_when_asked_for_only() -> None:
    assert printed("summary", RECORDING, "--json", "--no-tokens")["tokens"] is None
    assert "not counted; --tokens counts them" in run("summary", RECORDING, "--no-tokens").output
    path = log(envelope("chat", {"text": "one two"}, context="a/b"), envelope("chat", {"text": "one"}, context="a"))
    main, above, below = printed("contexts", path, "--json", "--tokens")
    assert (main["type"], main["path"], main["tokens"], main["subtree_tokens"]) == ("main", None, 0, 3)
    assert (main["messages"], main["subtree_messages"]) == (0, 2)
    assert [node["path"] for node in printed("contexts", path, "--json")] == [above["path"], below["path"]]
    assert (above["tokens"], above["subtree_tokens"], below["tokens"], below["subtree_tokens"]) == (1, 3, 2, 2)
    assert "tokens" not in printed("contexts", path, "--json")[0]
    assert "3 tokens" in run("contexts", path, "--tokens").output
    assert printed("show", path, "1", "--json")["fields"]["tokens"] == 2
    assert run("list", path, "-Y", "tokens > 1", "-e", "no", "--format", "csv").output.split() == ["no", "1"]


def printed_lines(*arguments: Any) -> list[int]:
    """The tokens of each message that is listed."""
    return [json.loads(line)["tokens"] for line in run(*arguments, "--format", "jsonl").output.splitlines()]


def test_counts_of_one_are_singular() -> None:
    one = log(envelope("chat", {"text": "x"}, context="a"))
    assert "1 message in 1 record, 0 unreadable" in run("summary", one).stdout
    assert "a  1 message, active" in run("contexts", one).stdout
    assert "1 messages" not in run("participants", one).stdout + run("summary", one).stdout


def test_summary_for_people() -> None:
    done = run("summary", log(envelope(), "{torn"))
    assert done.exit_code == 0
    assert "2 messages in 2 records, 1 unreadable" in done.stdout
    assert "(no readable kind)" in done.stdout
    assert "findings      1 unreadable" in done.stdout


def test_standard_input() -> None:
    found = printed("summary", "-", "--json", stdin=lines_of(envelope(), envelope()))
    assert (found["file"], found["messages"]) == ("-", 2)


@pytest.mark.parametrize("name", first_of(("weekly-report.json", "lines.jsonl", "array.json", "odd.json"), 3))
@pytest.mark.parametrize("command", first_of(("summary", "check", "contexts", "list")))
def test_sessions_on_standard_input_are_read_as_from_a_file(command: str, name: str) -> None:
    path = SESSIONS / name
    file, stream = run(command, path), run(command, "-", stdin=path.read_bytes())
    assert stream.exit_code == file.exit_code
    assert stream.stdout == file.stdout.replace(str(path), "-").replace(name, "standard input")


def test_sessions_that_break_off_on_standard_input_are_said_so() -> None:
    done = run("check", "-", stdin=(SESSIONS / "weekly-report.json").read_bytes()[:900])
    assert done.exit_code == 2
    assert done.stderr.startswith("standard input is not JSON: ")


# list


def test_list_jsonl_has_the_default_fields() -> None:
    lines = [envelope(ts="2026-01-05T09:00:00.010Z", id="a", to=["files"], payload={"text": "hi"}), {"kind": "chat"}]
    assert listed(log(*lines)) == [
        {"no": 1, "time": "2026-01-05T09:00:00.010Z", "from": "lead", "to": ["files"], "kind": "chat", "context": None,
         "text": "hi"},
        {"no": 2, "time": None, "from": None, "to": [], "kind": "chat", "context": None, "text": None},
    ]  # fmt: skip


def test_list_fields_repeated_with_commas_and_of_payloads() -> None:
    (row,) = listed(
        RECORDING,
        "-Y",
        "consumes && no == 17",
        "-e",
        "no,collapsed.by",
        "-e",
        "consumes",
        "-e",
        "payload.result.isError",
    )
    assert row == {"no": 17, "collapsed.by": None, "consumes": 15, "payload.result.isError": None}


def test_list_fields_keep_their_types() -> None:
    request = tool_call("grep", ts="2026-01-05T09:00:00.000Z")
    path = log(request, tool_result(request, ts="2026-01-05T09:00:00.250Z", result={"isError": True}))
    names = "latency,answered,error,badge,to,ts,context.depth,payload.result.content.0"
    assert listed(path, "-e", names)[1] == {
        "latency": 250.0, "answered": None, "error": True, "badge": [], "to": ["lead"],
        "ts": "2026-01-05T09:00:00.250Z",
        "context.depth": None, "payload.result.content.0": {"type": "text", "text": "done"},
    }  # fmt: skip


def test_list_filter_limit_and_order() -> None:
    path = log(*(envelope(sender=sender) for sender in "abab"))
    assert [row["no"] for row in listed(path, "-Y", "from == b")] == [2, 4]
    assert [row["no"] for row in listed(path, "--limit", "3")] == [1, 2, 3]
    assert [row["no"] for row in listed(path, "-Y", "from == b", "--limit", "1")] == [2]
    assert listed(path, "--limit", "0") == []
    assert listed(path, "-Y", "from == nobody") == []


def test_list_csv() -> None:
    text = 'a "quoted", text\nof two lines'
    done = run(
        "list", log(envelope(payload={"text": text}, to=["x", "y"])), "-e", "no,to,text,context", "--format", "csv"
    )
    assert done.exit_code == 0
    assert list(csv.reader(io.StringIO(done.stdout))) == [["no", "to", "text", "context"], ["1", "x, y", text, ""]]
    acting = log(envelope(payload={"text": "=1+1", "n": -1}, sender="@a\u061c\U000e0041"))
    [row] = csv.reader(
        io.StringIO(run("list", acting, "-e", "from,text,payload.n", "--format", "csv").stdout.split()[1])
    )
    assert row == ["'@a\\u061c\\udb40\\udc41", "'=1+1", "-1"]


def test_list_table_is_one_line_each_and_shows_control_characters() -> None:
    done = run("list", log(envelope(payload={"text": "one\ntwo\x1b[31m\u202e"})))
    assert len(done.stdout.splitlines()) == 2
    assert "one two\\u001b[31m\\u202e" in done.stdout


def test_half_a_surrogate_pair_is_printed_escaped() -> None:
    path = log(b'{"kind":"chat","id":"\\ud800","payload":{"text":"\\ud800"}}')
    assert listed(path, "-e", "id,text") == [{"id": "\ud800", "text": "\ud800"}]
    for way in ("table", "csv"):
        assert "\\ud800" in run("list", path, "--format", way).stdout


def test_secrets_are_masked() -> None:
    join = {"type": "join", "participantId": "me", "token": "very-secret-token"}
    path = log({"t": 1, "dir": "out", "frame": join}, envelope("space/invite-ack", {"token": "very-secret-token"}))
    outputs = [
        run("list", path, "-e", "text,payload.token"), run("list", path, "-e", "payload.token", "--format", "jsonl"),
        run("show", path, "1"), run("show", path, "2", "--json"),
    ]  # fmt: skip
    assert all(done.exit_code == 0 and "very-secret-token" not in done.stdout for done in outputs)


def test_a_value_is_masked_for_the_name_beside_it() -> None:
    path = log(envelope(payload={"env": [{"name": "API_KEY", "value": "hunter2"}, {"name": "LANG", "value": "en"}]}))
    for command in ("list", path, "--format", "jsonl"), ("list", path), ("export", path, "--format", "csv", "-o", "-"):
        said = run(*command, "-e", "payload.env.0.value,payload.env.1.value").stdout
        assert "hunter2" not in said
        assert "en" in said


# contexts


def test_contexts_json() -> None:
    path = log(message := envelope(context="a/b", sender="x", ts="2026-01-05T09:00:00.000Z"))
    assert printed("contexts", path, "--json") == [
        {"path": "a", "parent": None, "label": "a", "type": None,
         "type_reason": None, "labels": [], "metadata": {},
         "state": "active", "depth": 1, "messages": 0,
         "subtree_messages": 1, "implicit": True, "participants": [], "space": None, "id": "a",
         "first": None, "last": None, "started_by": None, "ended_by": None, "conclusion": None, "told": None,
         "bytes": 0, "odd": []},
        {"path": "a/b", "parent": "a", "label": "b", "type": None,
         "type_reason": None, "labels": [], "metadata": {},
         "state": "active", "depth": 2, "messages": 1,
         "subtree_messages": 1, "implicit": False, "participants": ["x"], "space": None, "id": "b",
         "first": 1, "last": 1, "started_by": None, "ended_by": None, "conclusion": None, "told": "envelope",
             "bytes": len(json.dumps(message)), "odd": []},
    ]  # fmt: skip


def test_contexts_say_what_concluded_them() -> None:
    path = log(
        envelope("reasoning/thought", context="r"), envelope("reasoning/conclusion", {"text": "so"}, context="r")
    )
    [node] = printed("contexts", path, "--json")
    assert (node["ended_by"], node["conclusion"]) == (2, "so")
    assert "“so”, No. 2" in run("contexts", path).stdout


def test_contexts_for_people() -> None:
    assert run("contexts", log(envelope(context="a/b"))).stdout.splitlines() == [
        "a  1 message, active", "  b  1 message, active",
    ]  # fmt: skip
    assert run("contexts", log(envelope())).stdout == "All messages are in the main context.\n"
    assert printed("contexts", log(envelope()), "--json") == []


# show


def test_show_json() -> None:
    lines = [received(envelope(id="a", payload={"text": "hi"})), received(envelope(id="b", correlation_id=["a"]))]
    found = printed("show", log(*lines), "2", "--json")
    assert list(found) == [
        "no", "fields", "envelope", "raw", "deliveries", "sources", "sightings", "causes", "effects", "links", "odd",
        "repeats", "chain", "likely", "capability", "lifecycle", "carried", "findings",
    ]  # fmt: skip
    assert (found["no"], found["causes"], found["effects"], found["findings"]) == (2, [1], [], [])
    assert found["envelope"] == lines[1]["envelope"]
    assert json.loads(found["raw"]) == lines[1]["envelope"]
    assert found["fields"]["time"] == lines[1]["timestamp"]


def test_show_says_after_which_thought_a_call_was_made() -> None:
    times = ("2026-01-05T10:00:00Z", "2026-01-05T10:00:00.002Z")
    start = envelope("reasoning/start", {"message": "why"}, id="r", ts=times[0])
    path = log(start, tool_call("write", id="w", ts=times[1]))
    why = "the start of lead before it, 2 ms earlier, in a reasoning that was open"
    assert f"likely            No. 2 probably follows No. 1: {why}\n" in run("show", path, "2").stdout
    link = {"no": 2, "id": "w", "relation": "follows", "of": 1, "of_id": "r", "why": why}
    assert printed("show", path, "2", "--json")["likely"] == printed("show", path, "1", "--json")["likely"] == [link]


def test_show_an_unreadable_message() -> None:
    found = printed("show", log(envelope(), b"{torn \xff"), "2", "--json")
    assert (found["envelope"], found["raw"]) == (None, "{torn \\xff")
    assert "{torn" in run("show", log(envelope(), "{torn"), "2").stdout


@pytest.mark.parametrize("depth", [100, 400, 900, 990])
def test_show_what_is_nested_deeply(depth: int) -> None:
    path = log(b'{"kind":"mcp/response","payload":{"result":{"a":' + b"[" * depth + b"]" * depth + b"}}}", envelope())
    for arguments in (("show", path, "1", "--json"), ("show", path, "1"), ("list", path), ("summary", path)):
        assert run(*arguments).exit_code == 0
    assert listed(path, "-e", "payload.result,text")


# check


WRONG = [
    envelope(id="x1", context="why//fs", sender="coder"),
    envelope("mcp/response", {"result": {}}, correlation_id=["lost"], sender="files\x1b[31m", context="why//fs"),
    envelope("mcp/request:tools/call:rm", {"method": "tools/call", "params": {"name": "grep"}}, context="why//fs"),
]


def test_check_json() -> None:
    found = printed("check", log(*WRONG), "--json")
    assert [list(finding) for finding in found] == [["code", "severity", "no", "context", "text"]] * len(found)
    assert found[0] == {
        "code": "kind-payload-disagree", "severity": "error", "no": 3, "context": "why/fs",
        "text": "The kind names tools/call rm, the payload tools/call grep; the payload is executed.",
    }  # fmt: skip
    assert {(finding["code"], finding["no"]) for finding in found if finding["severity"] == "warning"} == {
        ("context-malformed", 1), ("response-without-request", 2),
    }  # fmt: skip


@pytest.mark.parametrize(("format_", "shown"), [("table", "no  id\n1   a\n"), ("csv", "no,id\r\n1,a\r\n")])
def test_a_field_named_twice_is_listed_once(format_: str, shown: str) -> None:
    path = log(envelope(id="a"))
    done = run("list", path, "-e", "no,id,no", "-e", "id", "--format", format_)
    assert (done.exit_code, done.stdout_bytes.decode()) == (0, shown)


@pytest.mark.parametrize("none", ["", " , "])
def test_no_field_is_refused(none: str) -> None:
    done = run("list", log(envelope()), "-e", none)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "Name a field, such as -e no,from,text.\n")


def test_check_for_people() -> None:
    shown = run("check", log(*WRONG)).stdout.splitlines()
    assert shown[:4] == [
        "1 error",
        "  kind-payload-disagree (1): Kind and payload name different calls",
        "    No. 3       The kind names tools/call rm, the payload tools/call grep; the payload is executed.",
        "    -> Write the same method and tool in kind and payload.",
    ]
    assert shown[4] == "2 warnings"
    assert any("files\\u001b[31m answers a request" in line for line in shown)
    clean = log(envelope(id="a", context="why-1f3a9c0d2e"))
    assert run("check", clean).stdout == f"{clean}: no findings.\n"
    empty = log()
    assert run("check", empty).stdout == f"{empty}: no findings.\nThe log has no messages.\n"


def test_messages_that_report_a_failure_are_said() -> None:
    call, other = tool_call("grep", id="a"), tool_call("read", id="b")
    wrong = {"isError": True}
    one = log(call, tool_result(call, result=wrong))
    assert run("check", one, "--fail-on", "warning").stdout.splitlines() == [
        f"{one}: no findings.",
        "1 message reports a failure; `list FILE -Y error` lists them.",
    ]
    two = log(call, tool_result(call, result=wrong), other, tool_result(other, result=wrong))
    assert "2 messages report a failure; " in run("check", two).stdout
    assert "  failures      2; `list FILE -Y error` lists them" in run("summary", two).stdout.splitlines()
    assert "failures" not in run("summary", log(call, tool_result(call))).stdout
    assert printed("check", two, "--json") == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize("command", [("list",), ("list", "--format", "csv"), ("summary", "--json")])
@pytest.mark.real
def test_an_answer_for_which_there_is_no_room_is_said(command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "inspector", *command, str(log(envelope()))], stdout=full, stderr=subprocess.PIPE,
            check=False, text=True,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2, "The answer cannot be written: No space left on device. It is incomplete.\n",
    )  # fmt: skip


def test_participants_of_an_empty_log_are_nobody() -> None:
    assert run("participants", log()).stdout == "There are no participants.\n"
    assert printed("participants", log(), "--json") == []


def _fail(*_: object) -> None:
    raise RuntimeError("broken")


@pytest.mark.logs_warnings
def test_check_tells_of_checks_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StreamChecks, "feed", _fail)
    sentence = (
        "The checks of streams ended at No. 1 by an error in this program, which its log file describes. "
        "Later messages were not checked by them."
    )
    clean, wrong = log(envelope(id="a", context="why-1f3a9c0d2e")), log(*WRONG)
    done = run("check", clean)
    assert (done.exit_code, done.stdout) == (70, f"{sentence}\n{clean}: no findings by the other checks.\n")
    assert run("check", wrong).exit_code == 70
    assert run("check", wrong, "--fail-on", "error").exit_code == 1
    told = {"code": "checks-failed", "severity": "error", "no": None, "context": None, "text": sentence}
    assert json.loads(run("check", clean, "--json").stdout) == [told]
    suite = ElementTree.fromstring(run("check", clean, "--format", "junit").stdout.split("\n", 1)[1])
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
    assert [error.get("message") for error in suite.iter("error")] == [sentence]
    (one,) = json.loads(run("check", clean, "--format", "sarif").stdout)["runs"]
    (invocation,) = one["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [each["message"]["text"] for each in invocation["toolExecutionNotifications"]] == [sentence]


def test_check_masks_secrets() -> None:
    shown = run("check", log(envelope(correlation_id=["token=s3cr3t-value"]))).stdout
    assert "correlation-dangling" in shown
    assert "s3cr3t" not in shown
    found = printed("summary", log(envelope(context="token=s3cr3t-value")), "--json")
    assert found["findings"]["context-secret"] == 1


@pytest.mark.parametrize(
    ("lines", "level", "code"),
    [
        (WRONG, None, 0), (WRONG, "warning", 1), (WRONG, "error", 1), (WRONG, "note", 2),
        (WRONG[:2], "warning", 1), (WRONG[:2], "error", 0), ([envelope()], "warning", 0),
    ],
)  # fmt: skip
def test_check_fails_on_what_it_is_told_to(lines: list[Any], level: str | None, code: int) -> None:
    for more in ((), ("--json",)):
        assert run("check", log(*lines), *(("--fail-on", level) if level else ()), *more).exit_code == code
    assert run("check", "nowhere.jsonl").exit_code == 2


def test_findings_in_lists_and_messages() -> None:
    path = log(*WRONG)
    found = listed(path, "-Y", "finding.severity >= warning", "-e", "no,finding,finding.severity")
    assert found[2] == {"no": 3, "finding": ["kind-payload-disagree"], "finding.severity": "error"}
    assert [row["no"] for row in listed(path, "-Y", 'finding == "response-without-request"')] == [2]
    assert printed("show", path, "3", "--json")["findings"] == [
        {"code": "kind-payload-disagree", "severity": "error",
         "text": "The kind names tools/call rm, the payload tools/call grep; the payload is executed."}
    ]  # fmt: skip
    assert "error             kind-payload-disagree: The kind names" in run("show", path, "3").stdout


# Exit codes


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["summary", "/nowhere.jsonl"], "/nowhere.jsonl cannot be read: No such file or directory."),
        (["summary", Path(__file__).parent], "cannot be read: it is a folder; open a log in it."),
        (["list", RECORDING, "-e", "kindd"], "kindd"),
        (["list", RECORDING, "-e", "visible"], "visible"),
        (["list", RECORDING, "-e", "a == b"], "a"),
        (["list", RECORDING, "-e", "kind == chat"], "kind == chat is no field."),
        (["list", RECORDING, "-Y", "kind =="], "^"),
        (["list", RECORDING, "-Y", "kindd == chat"], "kindd"),
        (["list", RECORDING, "-Y", "context under $context"], "context"),
        (["list", RECORDING, "--format", "xml"], "xml"),
        (["list", RECORDING, "--limit", "-1"], "greater than or equal to 0"),
        (["show", RECORDING, "0"], "There is no message 0"),
        (["show", RECORDING, "28"], "There is no message 28"),
        (["show", RECORDING, "x"], "x"),
        (["show", RECORDING], "NO"),
        (["summary"], "FILE"),
        (["summary", RECORDING, "--yaml"], "--yaml"),
        (["never-heard-of"], "never-heard-of"),
    ],
    ids=lambda value: " ".join(map(str, value[-2:])) if isinstance(value, list) else "",
)
def test_bad_usage_is_exit_code_2_and_a_sentence(arguments: list[Any], sentence: str) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert sentence in done.stderr


def test_a_file_of_nothing_known_is_exit_code_2() -> None:
    done = run("summary", log_file(b"hello\n", "notes.txt"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("notes.txt is no log that can be read. Its first line is plain text")


def test_a_folder_without_anything_says_so(tmp_path: Path) -> None:
    sentence = "the folder is empty; open a log, or a folder with logs."
    assert run("summary", tmp_path).stderr.strip().endswith(sentence)


def test_nothing_that_matches_is_exit_code_0() -> None:
    done = run("list", RECORDING, "-Y", 'kind == "task/never"', "--format", "jsonl")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


def test_version() -> None:
    assert run("--version").stdout.startswith("context-inspector ")


# The program itself


def program(*arguments: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"QT_QPA_PLATFORM": "none of them"}
    command = [sys.executable, "-m", "inspector", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


@pytest.mark.real
def test_a_reader_who_has_had_enough_is_no_error() -> None:
    path = log(*(envelope(payload={"text": "x" * 200}) for _ in range(3_000)))
    process = program("list", str(path))
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    errors = process.stderr
    assert errors is not None
    # Where there is SIGPIPE it ends the program, as it ends any tool; elsewhere it ends by itself.
    assert (errors.read(), process.wait(timeout=120) in (0, -13)) == (b"", True)
    errors.close()


@pytest.mark.real
def test_the_program_reads_standard_input_and_needs_no_qt() -> None:
    script = "import sys; sys.modules['PySide6'] = None; import inspector.__main__ as m; m.main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "summary", "-", "--json"],
        input=lines_of(envelope()), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["messages"] == 1


def test_the_parser_imports_neither_settings_nor_readers() -> None:
    """Each takes about as long as the parser itself, and every command has the parser."""
    script = (
        "import sys, inspector.startup.program\n"
        "print([n for n in ('inspector.settings', 'inspector.formats.table', 'numpy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"


def test_the_same_answers_as_the_document() -> None:
    document = document_of(*(envelope(context=c) for c in ("a", "a/b", None)))
    path = document.path
    assert path is not None
    assert [row["no"] for row in listed(path, "-Y", "context under a")] == [1, 2]


# What must not reach a terminal or a pipe


HOSTILE = "\x9b31m\u202e\x1b[2J"


def test_nothing_from_the_wire_acts_on_the_terminal() -> None:
    path = log(envelope("odd" + HOSTILE, sender="ev" + HOSTILE, context="c" + HOSTILE), "garb" + HOSTILE)
    for arguments in (["summary"], ["list"], ["contexts"], ["list", "--format", "csv"]):
        done = run(arguments[0], path, *arguments[1:])
        assert done.exit_code == 0
        assert not any(c in done.stdout for c in ("\x9b", "\u202e", "\x1b"))
    for number in ("1", "2"):
        done = run("show", path, number)
        assert not any(c in done.stdout for c in ("\x9b", "\u202e", "\x1b"))
    assert printed("show", path, "1", "--json")["envelope"]["from"] == "ev" + HOSTILE


def test_secrets_are_masked_in_every_command() -> None:
    request = tool_call("f", arguments={"token": "hunter2", "password": "hunter2", "note": "kept"})
    hidden = "Bearer hunter2abc"
    path = log(
        request, tool_result(request, meta={"context": {"lifecycle": "transient", "summary": f"sum {hidden}"}}),
        envelope("reasoning/start", {"message": hidden}, id="r1"), envelope(context=f"r1/{hidden}"),
    )  # fmt: skip
    commands = (
        ("summary", path, "--json"), ("list", path), ("list", path, "--format", "jsonl"), ("contexts", path),
        ("contexts", path, "--json"), ("show", path, "1"), ("show", path, "1", "--json"), ("show", path, "2", "--json"),
    )  # fmt: skip
    for command in commands:
        done = run(*command)
        assert done.exit_code == 0
        assert "hunter2" not in done.stdout, command
    assert "note=kept" in run("list", path).stdout


def test_json_is_json_whatever_a_payload_holds() -> None:
    path = log('{"id":"a","from":"x","kind":"chat","payload":{"x":NaN,"y":[Infinity]}}')
    assert listed(path, "-e", "payload.x,payload.y") == [{"payload.x": "nan", "payload.y": ["inf"]}]


def test_a_quoted_key_may_hold_a_comma() -> None:
    path = log(envelope(payload={"a,b": 1}))
    assert listed(path, "-e", 'no,payload."a,b"') == [{"no": 1, 'payload."a,b"': 1}]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_as_standard_input_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"cat '{log(envelope())}' > '{pipe}'"]) as writer:
        assert printed("summary", pipe, "--json")["messages"] == 1
        assert writer.wait(timeout=60) == 0


@pytest.mark.real
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("command", ["summary", "merged-context"])
def test_a_pipe_that_nobody_writes_to_is_said_to_wait_and_can_be_left(tmp_path: Path, command: str) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [sys.executable, "-m", "inspector", command, str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stderr is not None
        said = running.stderr.readline().decode()
        assert said == "Waiting until somebody writes to pipe.jsonl... Ctrl+C ends it.\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) != 0 or "No program wrote to pipe.jsonl." in running.stderr.read().decode()


@pytest.mark.real
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_sessions_come_through_a_pipe(tmp_path: Path) -> None:
    pipe, sample = tmp_path / "pipe.json", Path(__file__).parents[2] / "data" / "msp" / "nested.json"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"cat '{sample}' > '{pipe}'"]) as writer:
        piped = run("merged-context", pipe)
        assert writer.wait(timeout=60) == 0
    assert piped.output == run("merged-context", sample).output


@pytest.mark.real
def test_any_console_encoding_will_do() -> None:
    path = log(envelope(payload={"text": "5 \N{MULTIPLICATION SIGN} \U0001f600"}))
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "list", str(path)],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"}, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert "\U0001f600" in done.stdout.decode("utf-8")


DIALECTS = Path(__file__).parents[2] / "data" / "dialects"


def test_participants() -> None:
    path = DIALECTS / "mcpx-v0.1.jsonl"
    coder = next(story for story in printed("participants", path, "--json") if story["name"] == "coder")
    assert [one["capability"] for one in coder["capabilities"]] == ["mcp/proposal:*", "mcp/request:*/list", "chat"]
    assert coder["refused"] == [
        {"no": 12, "message": 11, "missing": "mcp/request:tools/call:rm", "predicted": "denied", "verdicts": [],
         "differs": False},
    ]  # fmt: skip
    lines = run("participants", path).output.splitlines()
    assert lines[0] == "coder: present since 2025-08-30T09:00:00.000Z, 2 messages"
    assert "  refused  No. 12: mcp/request:tools/call:rm is missing" in lines
    left = run("participants", DIALECTS / "mcp-x-v0.0.jsonl").output.splitlines()
    assert "bob: left at 2025-08-18T10:00:08.000Z, 1 message" in left
    assert "calc: present since 2025-08-18T10:00:00.000Z, 3 messages" in left
    unannounced = run("participants", DIALECTS / "mew-v0.4.jsonl").output.splitlines()
    assert any(line.startswith("human: never announced, first seen 2026-01-05T09:00:00.050Z") for line in unannounced)
    granted = run("participants", DIALECTS / "meup-v0.2.jsonl").output
    assert "granted by No. 14, not confirmed" in granted


def test_contexts_for_people_name_type_and_metadata() -> None:
    found = run("contexts", DIALECTS / "mcpp-drafts.jsonl").output
    assert "why  5 messages, concluded, reasoning (Its messages say so), trigger=d2, confidence=0.9" in found


def test_summary_for_people_tells_latencies() -> None:
    found = run("summary", DIALECTS / "mew-v0.4.jsonl").output
    assert "latency in ms, by tool" in found
    assert "412.0" in found


def test_show_tells_where_ids_lead() -> None:
    shown = run("show", DIALECTS / "mcpp-drafts.jsonl", "9").output
    assert "chain             No. 8 asked, 1,000.0 ms after No. 7" in shown
    named = run("show", DIALECTS / "mcpp-drafts.jsonl", "8").output
    assert "names             why: context job/why" in named
    early = run("show", DIALECTS / "mew-v0.4.jsonl", "7").output
    assert "link              This response came before its request, No. 8." in early


def test_each_response_alone() -> None:
    names = "no,answers,method,target,tool.rule"
    done = run("list", DIALECTS / "mew-v0.4.jsonl", "-Y", 'kind == "mcp/response"', "--format", "jsonl", "-e", names)
    assert [tuple(json.loads(line).values()) for line in done.output.splitlines()] == [
        (6, 5, "tools/call", "read_file", "correlation"), (7, 8, "completion/complete", "review", "correlation"),
        (17, None, None, None, "unknown"),
    ]  # fmt: skip


def test_explain_filter_prints_the_typed_form() -> None:
    done = run("explain-filter", "size > 2kB && from != lead")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:4] == [
        'size > 2kB && from != "lead"',
        "  all of",
        "    size (whole number) > 2000                             [column]",
        '    not from (text) == "lead", so also where it is absent  [column]',
    ]
    assert 'under "a/b"' in run("explain-filter", "context under $context", "--context", "a/b").stdout


def test_explain_filter_prints_it_for_programs() -> None:
    said = json.loads(run("explain-filter", "--json", "size > 2kB && waiting").stdout)
    assert said == {
        "filter": "size > 2kB && waiting",
        "parts": [
            {"depth": 0, "part": "all of"},
            {"depth": 1, "part": "size (whole number) > 2000", "cost": "column"},
            {"depth": 1, "part": "waiting (text) is present", "cost": "column"},
        ],
        "fields": ["size", "waiting"],
        "changes_with": said["changes_with"],
    }
    assert said["changes_with"]
    assert json.loads(run("explain-filter", "--json", "").stdout)["parts"] == []


def test_explain_filter_points_at_what_is_wrong() -> None:
    done = run("explain-filter", 'badge\n&& form == "\u202e"')
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "There is no field form. Did you mean from?",
        '  badge && form == "\\u202e"',
        "           ^^^^",
    ]
    assert run("explain-filter", "").stdout == "everything: the filter is empty\n"


def test_summary_of_a_log_that_is_mostly_something_else() -> None:
    path = log("starting", "listening", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
    first = run("summary", path).stdout.splitlines()[0]
    assert first == f"{path}: most lines have an unknown format; some are json-rpc"
    assert printed("summary", path, "--json")["format"] is None


def reconnected() -> Path:
    """A capture of ours over three connections, each under an id of its own."""
    origin = {"source": "gateway", "space": "demo", "participant": "inspector-1"}
    lines: list[dict[str, Any]] = [{"ctxcap": 1, "origin": origin}]
    for number in range(1, 4):
        own = f"inspector-{number}"
        join = {"type": "join", "space": "demo", "participantId": own}
        welcome = envelope(
            "system/welcome", {"you": {"id": own, "capabilities": []}, "participants": []}, sender="system:gateway",
            to=[own],
        )  # fmt: skip
        lines += [{"t": number, "dir": "out", "src": 0, "frame": join}, {"t": number, "dir": "in", "frame": welcome}]
    return log(*lines)


def test_our_own_earlier_ids_are_folded_into_the_one_in_use() -> None:
    path = reconnected()
    assert printed("summary", path, "--json")["participants"] == ["inspector-3"]
    (ours,) = printed("participants", path, "--json")
    assert (ours["name"], ours["formerly"]) == ("inspector-3", ["inspector-1", "inspector-2"])
    lines = run("participants", path).stdout.splitlines()
    assert lines[1] == "  formerly inspector-1, inspector-2"


def test_a_log_that_counts_from_its_own_start_has_times_since_then() -> None:
    path = log({"t": 0.0, "message": {"jsonrpc": "2.0", "method": "a"}}, {"t": 3.7, "message": {"method": "b"}})
    assert [row["time"] for row in listed(path, "-e", "time")] == ["+0.000 s", "+3.700 s"]
    assert "time              +3.700 s\n" in run("show", path, "2").stdout
    (line,) = [line for line in run("list", path, "-Y", "no == 2").stdout.splitlines() if line.startswith("2")]
    assert line.split()[1:3] == ["+3.700", "s"]
    for place in ("list", "show"):
        assert "1970" not in run(place, path, *(["2"] if place == "show" else [])).stdout


def test_several_logs_are_one_document_for_every_command(tmp_path: Path) -> None:
    line = (
        '{{"protocol":"mew/v0.4","id":"{0}","ts":"2026-01-02T03:04:0{1}Z","from":"ann","kind":"chat","payload":{{}}}}\n'
    )
    one, other = tmp_path / "one.log", tmp_path / "other.log"
    one.write_text(line.format("a", 1) + line.format("c", 3))
    other.write_text(line.format("b", 2) + line.format("c", 3))
    for given in ([one, other], [other, one], [tmp_path]):
        files = [str(path) for path in given]
        found = json.loads(run("summary", *files, "--json").stdout)
        assert (found["messages"], found["records"]) == (3, 4)
        assert found["sources"] == [
            {"name": "one.log", "format": "envelopes", "records": 2},
            {"name": "other.log", "format": "envelopes", "records": 2},
        ]
        listed = run("list", *files, "-e", "id,source", "--format", "csv").stdout.split()
        assert listed[1:] == ["a,one.log", "b,other.log", "c,one.log"]
        assert json.loads(run("show", *files, "3", "--json").stdout)["sources"] == [
            "one.log", "other.log",
        ]  # fmt: skip
    for missing in ([str(one), str(tmp_path / "nowhere")], [str(one), "-"]):
        assert run("summary", *missing).exit_code == 2


def test_check_holds_a_build_to_what_is_expected() -> None:
    call = tool_call("write_file", id="a")
    path = log(call, tool_result(call))
    assert (
        run("check", path, "--expect-tool", "write_file", "--forbid-tool", "rm", "--max-duration", "3600").exit_code
        == 0
    )
    done = run("check", path, "--expect-tool", "read_file", "--forbid-tool", "write_file")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-2:] == [
        "expect-tool read_file: read_file was never called.", "forbid-tool write_file: write_file was called 1 time.",
    ]  # fmt: skip
    apart = log(envelope(ts="2026-01-05T09:00:00Z"), envelope(ts="2026-01-05T09:01:00Z"))
    assert "It took 60.0 s." in run("check", apart, "--max-duration", "59.9").stdout
    assert run("check", apart, "--max-duration", "60").exit_code == 0


def test_check_for_continuous_integration() -> None:
    path = log(*WRONG)
    found = printed("check", path, "--json")
    assert printed("check", path, "--format", "json") == found
    done = run("check", path, "--format", "junit", "--fail-on", "error", "--forbid-tool", "grep")
    suite = ElementTree.fromstring(done.stdout.split("\n", 1)[1])
    codes = {one["code"] for one in found}
    assert done.exit_code == 1
    assert {case.get("name") for case in suite} == {*codes, "forbid-tool grep"}
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == {"kind-payload-disagree", "forbid-tool grep"}
    assert (suite.get("tests"), suite.get("failures")) == (str(len(codes) + 1), "2")
    (one,) = printed("check", path, "--format", "sarif")["runs"]
    assert one["invocations"] == [{"executionSuccessful": True}]
    results = [
        (r["ruleId"], r["level"], r["locations"][0]["physicalLocation"]["region"]["startLine"]) for r in one["results"]
    ]
    assert results == [(f["code"], f["severity"], f["no"]) for f in found]
    assert {rule["id"] for rule in one["tool"]["driver"]["rules"]} == codes
