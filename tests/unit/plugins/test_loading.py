"""Plug-ins run only when switched on, and each sort of declaration is seen where its built-in twins are."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest

from inspector.analysis.findings.check_table import CHECK_BY_CODE
from inspector.engine.frames import SCHEMA, Hello, framed
from inspector.engine.process import start_engine
from inspector.filters import compile_filter
from inspector.filters.completion import Completer
from inspector.filters.errors import FilterError
from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats import guards
from inspector.plugins import loading
from inspector.plugins.discovery import plugins_folder
from inspector.settings.model import Settings
from inspector.settings.store import save_settings
from tests.builders import document_of, lines_of, log_file
from tests.commands import asked, printed
from tests.plugins import example, loaded, plugin_file

pytestmark = pytest.mark.usefixtures("no_plugins_left")
QUESTIONS = [
    {"id": str(number), "ts": f"2026-01-05T10:00:0{number}Z", "from": "ann", "to": ["bob"], "kind": "chat",
     "payload": {"text": text}, "protocol": "mew/v0.4"}
    for number, text in enumerate(("Is it clean?", "Yes.", "Is it clean?"))
]  # fmt: skip
CHECK = """
from inspector.plugin import Check, Problem
def find(messages, memory):
    {body}
CHECKS = [Check(code="toy-check", severity="warning", title="T", sentence="{{who}}: {{detail}}", matters="M", fix="F",
                find=find)]
"""


def texts(codes: str = "toy-check") -> list[str]:
    return [one.text for one in document_of(*QUESTIONS).analysis.findings.all() if one.code == codes]


def test_nothing_of_a_plugin_runs_before_it_is_switched_on(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    plugin_file("toy", f"open({str(marker)!r}, 'w').close()\nCHECKS = []\n__version__ = '2.1'\n")
    (state,) = loaded()
    assert (state.name, state.version, state.adds, state.is_on, state.trouble) == ("toy", "2.1", ("checks",), False, "")
    printed("plugins", "list")
    assert not marker.exists()


def test_the_example_check_and_its_field() -> None:
    (state,) = loaded(example("repeated_question"))
    assert state.is_on
    assert state.adds == ("check question-repeated", "field question.words")
    assert texts("question-repeated") == ["ann asks again: No. 1 has the same question."]
    document = document_of(*QUESTIONS)
    shown = compile_filter("question.words >= 3 && finding == question-repeated").mask(document.analysis, np.arange(3))
    assert shown.tolist() == [False, False, True]
    offered = Completer(document.analysis).complete("quest", 5)
    assert "question.words" in str(offered)
    loaded()
    assert "question-repeated" not in CHECK_BY_CODE
    assert "question.words" not in FIELD_BY_NAME
    assert texts("question-repeated") == []
    with pytest.raises(FilterError):
        compile_filter("question.words >= 3")


def test_a_changed_file_has_to_be_switched_on_again() -> None:
    before = plugin_file("toy", "CHECKS = []\n")
    after = plugin_file("toy", "raise SystemError\n")
    (state,) = loaded(before)
    assert not state.is_on
    assert state.trouble == "it has changed since it was switched on; switch it on again to run it"
    (state,) = loaded(after)
    assert state.trouble == "its import raised SystemError"


def test_a_missing_plugin_is_named() -> None:
    switched = plugin_file("toy", "CHECKS = []\n")
    (plugins_folder() / "toy.py").unlink()
    (state,) = loaded(switched)
    assert (state.name, state.is_on, state.trouble) == ("toy", False, "it is missing")


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("raise ValueError('no')", "its import raised ValueError: no"),
        ("import sys; sys.exit()", "its import raised SystemExit"),
        ("from inspector.plugin import require_api; require_api(99)", "needs version 99 of the API"),
        ("CHECKS = [1]", "int is no Check"),
        ("FORMATS = 'codex'", "str is no Format"),
        ("CHECKS = 7", "int is no Check"),
        ("class L(list):\n    def __iter__(self): raise OSError('x')\nFIELDS = L()", "its import raised OSError: x"),
        (CHECK.format(body="return ()").replace('"toy-check"', '"request-unanswered"'), "there is another check"),
        (CHECK.format(body="return ()").replace("{who}", "{who.__class__}"), "names {who.__class__}"),
        (CHECK.format(body="return ()").replace('"warning"', '"fatal"'), "the severity of toy-check is none of"),
        ("from inspector.plugin import Field\nFIELDS = [Field(name='kind', type='text', label='K', help='H',"
         " value=id)]", "'kind' is no name of a field"),
        ("from inspector.plugin import Field\nFIELDS = [Field(name='usage.input', type='text', label='K', help='H',"
         " value=id)]", "there is another field usage.input"),
    ],
)  # fmt: skip
def test_a_plugin_that_cannot_be_used_says_why_and_adds_nothing(code: str, trouble: str) -> None:
    code = code.replace("request-unanswered", next(iter(CHECK_BY_CODE)))
    checks, fields = dict(CHECK_BY_CODE), dict(FIELD_BY_NAME)
    (state,) = loaded(plugin_file("toy", code))
    assert trouble in state.trouble
    assert state.is_on
    assert checks == CHECK_BY_CODE
    assert fields == FIELD_BY_NAME


def test_an_import_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.plugins.importing.IMPORT_S", 0.2)
    (state,) = loaded(plugin_file("toy", "while True: pass"))
    assert state.trouble == "its import took longer than 0.2 s"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('no')", "it raised ValueError: no"),
        ("import sys; sys.exit(1)", "it raised SystemExit: 1"),
        ("return 3", "it returned int in place of problems"),
        ("return 'abc'", "it returned str in place of problems"),
        ("return [Problem(number=99)]", "it returned a problem of message 99, which it has not seen"),
        ("return [Problem(number='1')]", "it returned Problem in place of a Problem"),
        ("return [None]", "it returned NoneType in place of a Problem"),
        ("while True: yield Problem(number=1)", "it returned more problems than there are messages"),
        ("while True: pass", "it took longer than 0.3 s"),
        ("return (x for x in iter(int, 1))", "it returned int in place of a Problem"),
    ],
)
def test_a_check_that_fails_is_switched_off_and_the_log_opens(
    body: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.analysis.findings.added_checks.BLOCK_S", 0.3)
    loaded(plugin_file("toy", CHECK.format(body=body)))
    document = document_of(*QUESTIONS)
    assert len(document.analysis) == 3
    assert not document.failed_checks
    told = f"Plug-in toy, check toy-check is switched off for this log: {reason}."
    assert document.read_errors == [told]


def test_a_check_keeps_its_memory_over_blocks_and_secrets_are_masked() -> None:
    body = "memory['n'] = memory.get('n', 0) + len(messages)\n    " \
        "return [Problem(number=m.number, detail=f'{memory[\"n\"]} {m.text} api_key=sk-ant-REDACTED')" \
        " for m in messages]"  # fmt: skip
    loaded(plugin_file("toy", CHECK.format(body=body)))
    found = texts()
    assert len(found) == 3
    assert found[0].startswith("ann: 3 Is it clean?")
    assert not any("0123456789" in text for text in found)


def test_a_field_that_fails_is_absent() -> None:
    code = "from inspector.plugin import Field\nFIELDS = [Field(name='toy.n', type='whole number', label='N'," \
        " help='H', value=lambda m: 'text')]"  # fmt: skip
    loaded(plugin_file("toy", code))
    document = document_of(*QUESTIONS)
    assert FIELD_BY_NAME["toy.n"].value(document.analysis, 0) is None
    assert [trip.reason for trip in guards.trips()] == ["it returned str in place of a whole number"]


def test_false_of_a_field_is_absence() -> None:
    code = "from inspector.plugin import Field\nFIELDS = [Field(name='toy.ask', type='yes or no', label='A'," \
        " help='H', value=lambda m: m.text.endswith('?'))]"  # fmt: skip
    loaded(plugin_file("toy", code))
    analysis = document_of(*QUESTIONS).analysis
    masks = {
        text: compile_filter(text).mask(analysis, np.arange(3)).tolist()
        for text in ("toy.ask", "toy.ask == true", "toy.ask != false", "toy.ask == false", "!toy.ask")
    }
    assert list(masks.values()) == [[True, False, True]] * 3 + [[False, True, False]] * 2


def test_the_command_line_switches_on_and_off() -> None:
    assert "There are no plug-ins" in printed("plugins", "list")
    example("repeated_question")
    (listed,) = json.loads(printed("plugins", "list", "--json"))
    assert listed["adds"] == ["checks", "fields"]
    assert not listed["on"]
    assert "It adds: check question-repeated, field question.words." in printed(
        "plugins", "enable", "repeated_question"
    )
    (listed,) = json.loads(printed("plugins", "list", "--json"))
    assert listed["on"]
    assert printed("plugins", "disable", "repeated_question") == "repeated_question is off.\n"
    missing = asked("plugins", "enable", "nothing")
    assert missing.exit_code == 2
    assert "There is no plug-in nothing. There are: repeated_question." in missing.output


def test_a_plugin_that_fails_stays_off() -> None:
    plugin_file("toy", "raise ValueError('no')")
    failed = asked("plugins", "enable", "toy")
    assert failed.exit_code == 2
    assert "stays off: its import raised ValueError: no." in failed.output
    assert not json.loads(printed("plugins", "list", "--json"))[0]["on"]


def test_names_of_files_cannot_leave_the_folder() -> None:
    plugins_folder().mkdir(parents=True)
    (plugins_folder() / "a b.py").write_text("CHECKS = []")
    switched = Settings.model_validate(
        {"plugins": [{"name": "../x", "origin": "file", "digest": "0"}]}
    ).plugins  # fmt: skip
    loading.load(switched)
    troubles = {one.name: one.trouble for one in loading.states(switched)}
    assert troubles["../x"] == "it is missing"
    assert troubles["a b"] == "its name has other characters than letters, digits, - and _"


def test_a_command_names_plugins_that_are_not_used() -> None:
    plugin_file("toy", "CHECKS = []\n")
    printed("plugins", "enable", "toy")
    plugin_file("toy", "CHECKS = [1]\n")
    found = asked("list", log_file(lines_of(*QUESTIONS)))
    assert found.exit_code == 0
    changed = "it has changed since it was switched on; switch it on again to run it"
    assert f"The plug-in toy is not used: {changed}." in found.stderr


def test_prints_of_a_plugin_do_not_mix_with_results() -> None:
    code = """print("importing")
from inspector.plugin import Field
def value(message):
    print("asked")
    return "x"
FIELDS = [Field(name="toy.x", type="text", label="X", help="H", value=value)]
"""
    plugin_file("toy", code)
    assert printed("plugins", "enable", "toy").startswith("toy is on.")
    loaded()
    found = asked("list", log_file(lines_of(*QUESTIONS)), "-e", "no,toy.x", "--format", "jsonl")
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert [row["toy.x"] for row in rows] == ["x"] * 3
    assert "asked" in found.stderr


_LOUD = """import os, sys
os.write(1, b"noise")
sys.__stdout__.write("noise"); sys.__stdout__.flush()
os.system("echo noise")
from inspector.plugin import Field
def value(message):
    {within}
    return "x"
FIELDS = [Field(name="toy.x", type="text", label="X", help="H", value=value)]
"""


@pytest.mark.real
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
@pytest.mark.parametrize("within", ['os.write(1, b"noise")', "os.fork()"], ids=["writes", "forks"])
def test_output_around_the_streams_and_forks_do_not_mix_with_results(within: str) -> None:
    plugin_file("toy", _LOUD.format(within=within))
    log = log_file(lines_of(*QUESTIONS))
    run = [sys.executable, "-m", "inspector"]
    enabled = subprocess.run([*run, "plugins", "enable", "toy"], capture_output=True, text=True, check=True)
    assert enabled.stdout == "toy is on. It adds: field toy.x.\n"
    words = ["list", str(log), "-e", "no,toy.x", "--format", "jsonl"]
    listed = subprocess.run([*run, *words], capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in listed.stdout.splitlines()] == [
        {"no": number, "toy.x": "x"} for number in (1, 2, 3)
    ]
    assert "noise" in listed.stderr


_ENDLESS = {
    "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()\n",
    "exit function": "import atexit, time\natexit.register(time.sleep, 3600)\n",
}


@pytest.mark.real
@pytest.mark.parametrize("sort", _ENDLESS)
def test_a_command_ends_with_its_code_although_a_plugin_does_not(sort: str) -> None:
    switched = plugin_file("toy", _ENDLESS[sort] + CHECK.format(body="return [Problem(number=1)]"))
    save_settings(Settings(plugins=[switched]))
    log = log_file(lines_of(*QUESTIONS))
    run = [sys.executable, "-m", "inspector", "check", str(log), "--fail-on", "warning"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert "toy-check" in done.stdout
    assert "A plug-in did not end within 5 s" in done.stderr
    assert done.returncode == 1


@pytest.mark.real
def test_an_engine_ends_although_a_plugin_does_not() -> None:
    ran = plugins_folder() / "ran"
    code = _ENDLESS["thread"] + f"open({str(ran)!r}, 'w').close()\nCHECKS = []\n"
    save_settings(Settings(plugins=[plugin_file("toy", code)]))
    process = start_engine()
    assert process.stdin is not None
    process.stdin.write(framed(msgspec.msgpack.encode(Hello(SCHEMA, "test"))))
    process.stdin.flush()
    ends = time.monotonic() + 300
    while not ran.exists():
        assert time.monotonic() < ends
        time.sleep(0.05)
    process.stdin.close()
    assert process.wait(300) == 0
    assert process.stdout is not None
    process.stdout.close()
