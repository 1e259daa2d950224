"""Tests of `inspector.diagnostics.crash_report`: what a report says, and above all what it does not."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from inspector.diagnostics import crash_report
from inspector.diagnostics.crash_report import (
    Environment,
    Failures,
    OpenedWindow,
    ReportChoices,
    compose_report,
    describe_failures,
)
from inspector.protocol.secrets.masking import MASK, mask_text
from inspector.settings import ConnectionSettings, Preset, Settings

NOTHING = ReportChoices()
EVERYTHING = ReportChoices(file_names=True, error_words=True, log_lines=True)
TOKEN = "Bearer sk-live-0123456789abcdef0123"


def _raised(words: str = "alice said hello") -> ValueError:
    try:
        try:
            raise KeyError(words)
        except KeyError as error:
            raise ValueError(words) from error
    except ValueError as error:
        return error


def _report(choices: ReportChoices = NOTHING, *, log_lines: tuple[str, ...] = ()) -> str:
    settings = Settings()
    settings.recent_files = ["/home/u/secret plans.jsonl"]
    settings.filter_history = ['from == "alice"']
    settings.presets = [Preset(name="Alice's", filter='from == "alice"')]
    settings.connections = []
    settings.recent_connections = [ConnectionSettings(url="wss://gateway.example/ws", space="hidden-space")]
    failures = Failures()
    failures.count_failure("task", _raised(), "Task 'read' failed")
    failures.count_failure("task", _raised(), "Task 'read' failed")
    opened = OpenedWindow("/home/u/logs/plans of alice.jsonl", "gateway-log", 1234, 7, 99, 3, 2)
    where = Environment([("Program", "Context Inspector 1")], settings.model_dump(), [opened], log_lines)
    return compose_report("Error", describe_failures(failures, choices), where, choices, mask_text)


def test_alike_failures_count_as_one() -> None:
    failures = Failures()
    for _ in range(3):
        failures.count_failure("event", _raised())
    failures.count_failure("task", _raised())
    assert [(one.origin, one.count) for one in failures.kinds] == [("event", 3), ("task", 1)]
    assert failures.total == 4


def test_failures_from_many_threads_all_count() -> None:
    failures = Failures()
    error = _raised()

    def fail() -> None:
        for _ in range(200):
            failures.count_failure("thread", error)

    threads = [threading.Thread(target=fail) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures.total == 800
    assert [one.count for one in failures.kinds] == [800]


def test_many_kinds_are_counted_and_not_all_kept() -> None:
    failures = Failures()
    for number in range(50):
        failures.count_failure("Qt", None, f"message {number}")
    assert len(failures.kinds) == 20
    assert failures.total == 50
    assert describe_failures(failures, ReportChoices())[-1] == "30 more errors of other kinds"


def test_a_report_says_what_matters() -> None:
    report = _report()
    assert "ValueError (task), 2 times" in report
    assert "which caused:" in report
    assert "in _raised" in report
    assert "gateway-log, 1,234 messages (7 shown), 99 bytes, 3 participants, 2 contexts" in report
    assert "display.theme: system" in report
    assert "recent_files: 1" in report


def test_a_report_names_nobody_and_nothing_unasked() -> None:
    report = _report(log_lines=("INFO opened /home/u/logs/plans of alice.jsonl",)).lower()
    for told in ("alice", "plans", "gateway.example", "hidden-space", "hello", "/home/u"):
        assert told not in report


def test_what_is_ticked_is_in_it() -> None:
    report = _report(EVERYTHING, log_lines=("2026-11-22 INFO opened something",))
    assert "/home/u/logs/plans of alice.jsonl: gateway-log" in report
    assert "alice said hello" in report
    assert "opened something" in report


def test_log_lines_without_file_names_name_no_file() -> None:
    lines = ("INFO opened /home/u/logs/plans of alice.jsonl", "WARNING could not read /srv/shared/other.log: gone")
    report = _report(ReportChoices(log_lines=True), log_lines=lines)
    assert "opened log 1" in report
    assert "could not read (a file): gone" in report
    assert "other.log" not in report


def test_secrets_are_masked_whatever_is_ticked() -> None:
    failures = Failures()
    failures.count_failure("event", _raised(f"cannot send {TOKEN}"))
    report = compose_report(
        "Error", describe_failures(failures, EVERYTHING), Environment([], log_lines=[f"DEBUG {TOKEN}"]), EVERYTHING,
        mask_text,
    )  # fmt: skip
    assert "sk-live" not in report
    assert report.count(MASK) == 2


def test_paths_of_the_program_begin_where_they_tell_something() -> None:
    home = str(Path.home())
    text = (
        f'File "{home}/x/lib/python3.11/site-packages/qasync/__init__.py", line 1\n'
        f'File "{home}/work/inspector/ui/app/application.py", line 2\n'
        f'File "/opt/py/lib/asyncio/base.py", line 3\n{home}/notes'
    )
    assert crash_report.shorten_paths(text) == (
        'File "qasync/__init__.py", line 1\nFile "inspector/ui/app/application.py", line 2\n'
        'File "asyncio/base.py", line 3\n~/notes'
    )  # fmt: skip


def test_a_dump_says_nothing_it_was_not_asked_for() -> None:
    dump = "Qt: cannot show alice\nFatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n  File"
    assert "alice" not in crash_report.describe_dump(dump, ReportChoices())
    assert "Fatal Python error: Aborted" in crash_report.describe_dump(dump, ReportChoices())
    assert "alice" in crash_report.describe_dump(dump, EVERYTHING)


class Order(BaseModel):
    amount: int


def test_lines_of_an_error_are_none_of_a_dump_unless_asked_for() -> None:
    letter = {"amount": "Dear Bob, the merger"}
    with pytest.raises(ValidationError) as raised:
        Order.model_validate(letter)
    dump = crash_report.traceback_words(raised.value, words=mask_text)
    assert "Dear Bob" not in crash_report.describe_dump(dump, ReportChoices())
    assert "ValidationError" in crash_report.describe_dump(dump, ReportChoices())
    assert "Dear Bob" in crash_report.describe_dump(dump, EVERYTHING)
    assert "merger" not in crash_report.describe_dump(
        "ValueError: bad\nthe merger is on\n  indented merger", ReportChoices()
    )


@pytest.mark.parametrize(
    "words",
    [
        "No such file: '/srv/Acme merger/deal plan.jsonl' at all",
        "could not read /srv/Acme merger/deal plan.jsonl: gone",
        r"opened C:\Users\ada\Acme deals\plan merger.jsonl",
        r"[WinError 2] none: 'C:\\Users\\ada\\Acme merger\\plan.jsonl'",
        r"\\server\share\Acme merger\plan.jsonl",
        '"/srv/Bob\'s Acme merger.jsonl"',
        "~/Acme merger plan.jsonl",
        "'~/Acme merger plan.jsonl'",
    ],
)
def test_names_of_files_with_blanks_are_left_out(words: str) -> None:
    report = compose_report("t", [words], Environment([]), ReportChoices(error_words=True), mask_text)
    assert "(a file)" in report
    for told in ("Acme", "merger", "plan", "deal"):
        assert told not in report


def test_lines_of_source_are_no_names_of_files() -> None:
    trace = '  File "inspector/ui/app/application.py", line 2, in run\n    share = done / total / 2 // 3'
    assert trace in compose_report("t", [trace], Environment([]), NOTHING, mask_text)


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_that_cannot_say_itself_is_told_all_the_same() -> None:
    failures = Failures()
    known = failures.count_failure("task", UnspeakableError())
    assert known is not None
    assert (known.title, known.words, known.count) == ("UnspeakableError", "", 1)
    assert failures.kinds == [known]


_CLEANED_UP_MEANWHILE = """
import faulthandler, gc, sys
from inspector.diagnostics.crash_report import Failures
class Careless:
    def __init__(self): self.me = self
    def __del__(self): raise ValueError("in clean-up")
faulthandler.dump_traceback_later(20, exit=True)
for often in range(20, 1220, 3):
    failures = Failures()
    sys.unraisablehook = lambda args: failures.count_failure("clean-up", args.exc_value)
    gc.disable(); Careless()
    gc.set_threshold(often, 10, 10); gc.enable()  # the collector's turn comes somewhere in what follows
    try: {}["k"]
    except KeyError as error: failures.count_failure("task", error)
    gc.disable(); gc.collect()
    assert [one.count for one in failures.kinds] == [1, 1], failures.kinds
"""


@pytest.mark.real
def test_what_fails_in_clean_up_while_a_failure_is_noted_locks_nothing_up() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CLEANED_UP_MEANWHILE], capture_output=True, timeout=120, check=False, text=True
    )
    assert done.returncode == 0, done.stderr


def test_errors_in_groups_are_all_told() -> None:
    try:
        raise ExceptionGroup("both", [_raised(), OSError("di" + "sk")])
    except ExceptionGroup as error:
        words = crash_report.traceback_words(error)
    assert words.count("one of several errors:") == 2
    assert "OSError" in words
    assert "disk" not in words


@given(st.text(max_size=300), st.text(max_size=50))
def test_any_words_make_a_report(words: str, name: str) -> None:
    failures = Failures()
    failures.count_failure("event", ValueError(words), words)
    where = Environment([("a", words)], {"display": {"theme": name}}, [OpenedWindow(name, "", 0, 0, 0)], [words])
    for choices in (ReportChoices(), EVERYTHING):
        assert compose_report("t", describe_failures(failures, choices), where, choices, mask_text).endswith("\n")
