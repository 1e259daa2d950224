"""What scripts are told of a model's context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from inspector.cli import app
from tests.builders import envelope, lines_of, log_file, tool_call, tool_result

HINT = {"contextHints": [{"step": 1, "tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
SECRET = "sk-abcdefghijkl0123456789MNOPQRSTuv"


@pytest.fixture
def path() -> Path:
    """1 to 6 the loop of lead: hint, page, store; 7 of human; 8 a thought of somebody else; 9 forgets the oldest."""
    step, search, store = tool_call("get_step"), tool_call("search"), tool_call("store")
    summary = {"context": {"lifecycle": "transient", "summary": "15 visits"}}
    lines = [
        step, tool_result(step, meta=HINT), search, tool_result(search, "visit " * 200, meta=summary),
        store, tool_result(store, meta={"context": {"consumed": True}}),
        envelope("chat", {"text": f"Key {SECRET}"}, sender="human"),
        envelope("reasoning/thought", {"message": "Hm"}, sender="writer"),
        envelope("participant/forget", {"entries": 1}, sender="human", to=["lead"]),
    ]  # fmt: skip
    return log_file(lines_of(*lines))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["model-sees", *(str(argument) for argument in arguments)])


def told(*arguments: str | Path) -> Any:
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def numbers(entries: list[dict[str, Any]]) -> list[int]:
    return [entry["no"] for entry in entries]


def test_the_end_of_the_busiest_participant_in_words(path: Path) -> None:
    found = run(path)

    assert found.exit_code == 0
    head, *rest = found.stdout.splitlines()
    assert head.startswith("lead at No. 9: ")
    assert "without collapsing. Estimate (cl100k_base)." in head
    page = next(line for line in rest if "15 visits" in line)
    assert "No. 6 consumed it" in page
    assert SECRET not in found.stdout


def test_a_moment_and_what_it_costs(path: Path) -> None:
    before, after = told(path, "--at", "4"), told(path, "--at", "6")

    assert numbers(before["entries"]) == [1, 2, 3, 4]
    assert before["tokens"] == before["tokens_without_collapsing"] > 200
    assert after["tokens_without_collapsing"] - after["tokens"] > 150
    assert after["estimate"] == "cl100k_base"
    assert after["reported"] is None
    page = after["entries"][3]
    assert (page["collapsed"], page["because"], page["content"], page["assumed"]) == (True, 6, "15 visits", True)


def test_without_collapsing_and_with_the_reasoning_of_others(path: Path) -> None:
    found = told(path, "--no-collapsing", "--others-reasoning")

    assert found["tokens"] == found["tokens_without_collapsing"]
    assert numbers(found["entries"]) == [2, 3, 4, 5, 6, 7, 8]


def test_what_is_out_is_listed_when_asked_for(path: Path) -> None:
    entries = told(path, "--out")["entries"]

    assert numbers(entries) == list(range(1, 10))
    assert (entries[0]["included"], entries[0]["because"], entries[0]["tokens"]) == (False, 9, 0)
    assert entries[7]["reason"] == "Reasoning of another participant."
    assert run(path, "--out").stdout.count("\n- ") == 3


def test_the_difference_of_two_moments(path: Path) -> None:
    found = told(path, "--since", "4")

    assert [numbers(found[part]) for part in ("came", "went", "collapsed")] == [[5, 6, 7], [1], [4]]
    assert found["tokens"] < 0
    words = run(path, "--since", "4").stdout
    earlier, later = (told(path, "--at", number)["tokens"] for number in ("4", "9"))
    assert words.startswith(f"From No. 4 ({earlier} tokens) to No. 9 ({later} tokens): {later - earlier:+,} tokens.")
    changes = [entry["change"] for part in ("came", "went", "collapsed") for entry in found[part]]
    assert sum(changes) == found["tokens"] == later - earlier
    assert f"{found['collapsed'][0]['change']:+,}" in words


def test_what_is_reported_and_in_no_traffic() -> None:
    status = {"tokens": 900, "max_tokens": 1_000}
    lines = [envelope("chat", {"text": "Hello"}), envelope("participant/status", status), *_of_lead()]
    path = log_file(lines_of(*lines))

    before, after = told(path, "--at", "2"), told(path)

    assert before["not_in_traffic"] == after["not_in_traffic"] == 900 - before["tokens"]
    assert (
        f"{after['not_in_traffic']} of the 900 reported tokens are not in the log, such as system prompt"
        in run(path).stdout
    )
    assert told(path, "--at", "1")["not_in_traffic"] is None


def _of_lead() -> list[dict[str, Any]]:
    return [envelope("chat", {"text": "word " * 40})]


def test_messages_and_tools_ready_to_send(path: Path) -> None:
    found = run(path, "--messages", "--at", "7")

    made = json.loads(found.stdout)
    assert list(made) == ["messages"]
    messages = made["messages"]
    assert [message["role"] for message in messages] == ["assistant", "tool"] * 3 + ["user"]
    assert messages[0]["tool_calls"][0]["function"]["name"] == "get_step"
    assert messages[1]["tool_call_id"] == messages[0]["tool_calls"][0]["id"]
    assert SECRET not in found.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            ["--participant", "ghost"], "has no model context of ghost. It has contexts of: lead", id="nobody"
        ),
        pytest.param(["--at", "0"], "has no message No. 0; its messages are No. 1 to 9.", id="before the first"),
        pytest.param(["--at", "10"], "has no message No. 10", id="after the last"),
        pytest.param(
            ["--at", "3", "--since", "5"],
            "The first message must come before the second: 5, 3.",
            id="the wrong way round",
        ),
        pytest.param(
            ["--messages", "--since", "3"], "--messages and --since cannot be combined", id="two things at once"
        ),
    ],
)
def test_what_cannot_be_told(path: Path, arguments: list[str], sentence: str) -> None:
    found = run(path, *arguments)

    assert found.exit_code != 0
    assert sentence in found.output.replace("\n", " ")


def test_another_participant(path: Path) -> None:
    assert told(path, "--participant", "writer")["participant"] == "writer"


def test_an_empty_log() -> None:
    found = run(log_file(b"", "empty.jsonl"))

    assert found.exit_code != 0
    assert "Traceback" not in found.output
