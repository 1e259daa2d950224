"""Several logs as one document: each message once, whoever saw it, in whatever order they are named."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.document.saving import save_copy
from inspector.document.source_set import SourceChoice
from inspector.document.summary import message_story
from inspector.filters.fields import FIELDS
from inspector.reading.files import merged_reader
from inspector.reading.files.source_reader import SourceReader, UnknownFormatError
from inspector.sources.bundle import write_bundle
from inspector.store.files.source_files import ClockBasis
from tests.pictures import picture
from tests.samples import FORMAT_SAMPLES, LINE_SAMPLES, first_of
from tests.strategies import share_of_examples


def _line(number: int, *, sender: str = "ann", text: str = "hello", **more: Any) -> dict[str, Any]:
    ts = f"2026-01-02T03:04:{number // 1000 % 60:02}.{number % 1000:03}Z"
    return {
        "protocol": "mew/v0.4", "id": f"m{number}", "ts": ts, "from": sender, "kind": "chat",
        "payload": {"text": text}, **more,
    }  # fmt: skip


def _logged(event: str, envelope: dict[str, Any], participant: str, later_ms: int = 2) -> dict[str, Any]:
    second, _, rest = envelope["ts"].rpartition(".")
    ms = int(rest[:-1]) + later_ms
    return {
        "timestamp": f"{second}.{ms:03}Z", "event": event, "id": envelope["id"], "envelope": envelope,
        "participant": participant, "space_id": "demo", "direction": "inbound", "transport": "websocket",
    }  # fmt: skip


def _write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


def _opened(*paths: Path, block_bytes: int = 1 << 20) -> CaptureDocument:
    document = CaptureDocument()
    for _ in document.open_together([SourceChoice(path) for path in paths], block_bytes=block_bytes):
        pass
    return document


def _facts(document: CaptureDocument) -> list[tuple[Any, ...]]:
    capture = document.capture
    return [
        (
            capture.records.envelope_id(row), capture.string("space", row), capture.logged_sender(row),
            sorted(capture.sources[number].name for number in capture.sources_of(row)),
            sorted(str(one.participant) for one in capture.deliveries.deliveries_of(row)),
        )
        for row in range(len(capture))
    ]  # fmt: skip


def _scenario(folder: Path) -> list[Path]:
    said = [_line(100 + 10 * n, sender="ann" if n % 2 else "bob") for n in range(30)]
    log: list[dict[str, Any]] = []
    for one in said:
        sent = {**one, "correlation_id": "m1"}  # as a client may write it; the gateway passes on a list
        log.append(_logged("received", sent, one["from"]))
        passed = {**one, "correlation_id": ["m1"]}
        log += [_logged("delivered", passed, name, 3) for name in ("ann", "bob")]
    had = [{**one, "correlation_id": ["m1"]} for one in said]
    return [
        _write(folder / "envelope-history.jsonl", log),
        _write(folder / "ann.log", had),
        _write(folder / "bob.log", had[5:20]),
    ]


def test_each_message_is_there_once_with_who_saw_it(tmp_path: Path) -> None:
    paths = _scenario(tmp_path)
    document = _opened(*paths)
    found = _facts(document)
    document.close()
    assert len(found) == 30
    assert {fact[1] for fact in found} == {"demo"}
    assert all(fact[4] == ["ann", "bob"] for fact in found)
    assert [len(fact[3]) for fact in found] == [2] * 5 + [3] * 15 + [2] * 10
    assert all("envelope-history.jsonl" in fact[3] for fact in found)


@pytest.mark.parametrize("block_bytes", first_of((700, 3_000, 1 << 20)))
def test_any_order_of_naming_and_any_blocks_give_the_same_document(tmp_path: Path, block_bytes: int) -> None:
    paths = _scenario(tmp_path)
    whole = _opened(*paths)
    expected = _facts(whole)
    whole.close()
    for order in itertools.permutations(paths):
        document = _opened(*order, block_bytes=block_bytes)
        found = _facts(document)
        document.close()
        assert found == expected, order


def test_a_folder_is_its_logs_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    _scenario(tmp_path)
    (tmp_path / "notes.log").write_text("dear diary\n")
    (tmp_path / "README.md").write_text("# nothing\n")
    document = CaptureDocument()
    document.load(tmp_path)
    assert [source.name for source in document.capture.sources] == [
        "ann.log", "bob.log", "envelope-history.jsonl", "notes.log",
    ]  # fmt: skip
    assert len(document.capture) == 30
    assert any("notes.log" in sentence for sentence in document.read_errors)
    document.close()


def test_a_folder_with_one_log_is_that_log_with_the_participants_below_logs(tmp_path: Path) -> None:
    log, ann, _ = _scenario(tmp_path)
    (tmp_path / "bob.log").unlink()
    ann.unlink()
    for expected in (["envelope-history.jsonl"], ["carl.log", "envelope-history.jsonl"]):
        document = CaptureDocument()
        document.load(tmp_path)
        assert sorted(source.name for source in document.capture.sources) == expected
        document.close()
        (tmp_path / "logs").mkdir(exist_ok=True)
        _write(tmp_path / "logs" / "carl.log", [_line(100, sender="bob")])
    assert log.exists()


def test_nothing_known_is_refused(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("dear diary\n")
    document = CaptureDocument()
    with pytest.raises(UnknownFormatError, match="no log that can be read"):
        document.load(tmp_path)
    document.close()


def test_a_file_named_twice_is_one_source_and_opens_as_it_does_alone(tmp_path: Path) -> None:
    log = _scenario(tmp_path)[0]
    twice, alone = _opened(log, log), CaptureDocument()
    alone.load(log)
    assert _facts(twice) == _facts(alone)
    twice.close()
    alone.close()


def test_removing_a_source_is_as_never_having_added_it(tmp_path: Path) -> None:
    log, ann, bob = _scenario(tmp_path)
    shutil.copytree(tmp_path, other := tmp_path.parent / f"{tmp_path.name}-other")
    (other / bob.name).unlink()
    without, never = _opened(log, ann), CaptureDocument()
    never.load(other)
    assert _facts(without) == _facts(never)
    without.close()
    never.close()
    shutil.rmtree(other)


def test_the_true_sender_is_told_by_the_gateways_log_beside_a_participants(tmp_path: Path) -> None:
    forged = _line(1, sender="lead")
    log = _write(tmp_path / "zz.jsonl", [_logged("received", forged, "mallory")])
    own = _write(tmp_path / "aa.log", [forged])
    document = _opened(own, log)
    assert len(document.capture) == 1
    assert document.capture.logged_sender(0) == "mallory"
    document.close()


_MEW = Path(__file__).parents[2] / "data/recordings/mew"


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in _MEW.glob("*/logs")))
def test_recorded_logs_of_one_scenario_hold_each_message_once_with_who_saw_it(folder: str) -> None:
    whole, alone = CaptureDocument(), CaptureDocument()
    whole.load(_MEW / folder)
    alone.load(_MEW / folder / "envelope-history.jsonl")
    assert len(whole.capture) == len(alone.capture)
    own = [one for one in whole.capture.sources if one.known_format != "gateway-log"]
    for source in own:
        ids = [json.loads(line)["id"] for line in source.path.read_text().splitlines() if line.strip()]
        seen = [row for row in range(len(whole.capture)) if source.name in _seen(whole, row)]
        assert sorted(ids) == sorted(str(whole.capture.records.envelope_id(row)) for row in seen)
    assert all("envelope-history.jsonl" in _seen(whole, row) for row in range(len(whole.capture)))
    for document in (whole, alone):
        document.close()


def _seen(document: CaptureDocument, row: int) -> list[str]:
    return [document.capture.sources[number].name for number in document.capture.sources_of(row)]


def test_a_copy_that_differs_is_shown_as_what_it_is(tmp_path: Path) -> None:
    heard, logged = _line(1, text="pay 10"), _line(1, text="pay 1000")
    log = _write(tmp_path / "gateway.jsonl", [_logged("received", logged, "ann")])
    own = _write(tmp_path / "ann.log", [heard])
    document = _opened(own, log)
    story = message_story(document, 0)
    other = next(one for one in story["sightings"])
    assert "pay 1000" in (other["differs"] or "") or "pay 1000" in story["raw"]
    assert 'pay 10"' in (other["differs"] or "") or 'pay 10"' in story["raw"]
    assert sorted(story["fields"]["seen_by"]) == ["ann.log", "gateway.jsonl"]
    document.close()


def test_what_a_source_has_twice_and_other_ids_are_messages_of_their_own(tmp_path: Path) -> None:
    one, other = _line(1), _line(1, text="something else", sender="eve")
    first = _write(tmp_path / "a.log", [one, one, _line(3)])
    second = _write(tmp_path / "b.log", [one, other])
    document = _opened(first, second)
    assert sorted(len(fact[3]) for fact in _facts(document)) == [1, 1, 1, 2]
    document.close()


def test_calls_of_servers_with_the_same_ids_are_answered_by_their_own(tmp_path: Path) -> None:
    def tapped(tool: str, start_ms: int) -> list[dict[str, Any]]:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
        answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": tool}]}}
        return [
            {"t": f"2026-01-02T03:04:05.{start_ms:03}Z", "dir": "client->server", "message": call},
            {"t": f"2026-01-02T03:04:05.{start_ms + 100:03}Z", "dir": "server->client", "message": answer},
        ]

    paths = [_write(tmp_path / f"{name}.jsonl", tapped(name, n * 20)) for n, name in enumerate(("files", "search"))]
    document = _opened(*paths)
    capture = document.capture
    for row in range(4):
        cause = [step.message for step in document.chain(row)]
        assert {int(capture.columns["source"][other]) for other in cause} == {int(capture.columns["source"][row])}
        assert len(cause) == 2
    document.close()


@settings(deadline=None)
@given(
    spread=st.dictionaries(st.integers(0, 59_999), st.integers(1, 7), min_size=1, max_size=40),
    block_bytes=st.integers(200, 4_000),
)
def test_each_message_is_seen_by_who_has_it(
    tmp_path_factory: pytest.TempPathFactory, spread: dict[int, int], block_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("spread")
    by_source = [sorted(number for number, who in spread.items() if who >> place & 1) for place in range(3)]
    paths = [
        _write(folder / f"{place}.log", [_line(number) for number in numbers])
        for place, numbers in enumerate(by_source)
        if numbers
    ]
    document = _opened(*paths, block_bytes=block_bytes)
    found = {fact[0]: set(fact[3]) for fact in _facts(document)}
    names = {f"m{number}": {f"{place}.log" for place in range(3) if who >> place & 1} for number, who in spread.items()}
    assert len(document.capture) == len(spread)
    document.close()
    if len(paths) > 1:
        assert found == names


_TIMES = st.lists(st.integers(0, 30), min_size=1, max_size=25).map(sorted)  # in 10 ms: many are the same


@settings(deadline=None)
@given(
    st.lists(_TIMES, min_size=2, max_size=4), st.integers(150, 4_000), st.integers(0, 40),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_the_order_is_by_time_and_does_not_depend_on_blocks(
    tmp_path_factory: pytest.TempPathFactory, by_source: list[list[int]], block_bytes: int, worthwhile: int,
    shuffled: Random,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("order")
    expected: list[tuple[int, str]] = []
    paths: list[Path] = []
    for name, times in zip("abcd", by_source, strict=False):
        lines = [{**_line(10 * ms), "id": f"{name}{n}"} for n, ms in enumerate(times)]
        expected += [(10 * ms, f"{name}{n}") for n, ms in enumerate(times)]
        paths.append(_write(folder / f"{name}.log", lines))
    expected.sort(key=lambda one: (one[0], one[1][0]))
    shuffled.shuffle(paths)
    with patch.object(merged_reader, "_MERGE_BATCH", worthwhile):
        document = _opened(*paths, block_bytes=block_bytes)
    found = [document.capture.records.envelope_id(row) for row in range(len(document.capture))]
    document.close()
    assert found == [name for _, name in expected]


@settings(deadline=None)
@given(st.integers(-3_000, 3_000).map(lambda ms: ms * 1_000_000), st.integers(150, 4_000))
def test_a_clock_that_is_wrong_is_put_right_by_what_both_have(
    tmp_path_factory: pytest.TempPathFactory, wrong_ns: int, block_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("clocks")
    said = [_line(5_000 + 100 * n) for n in range(20)]
    log = _write(folder / "log.jsonl", [_logged("received", one, "ann") for one in said])
    base = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()
    arrivals = [round((base + n / 10 + 0.005) * 1e9) + wrong_ns for n in range(20)]
    own = [{"t": arrival, "dir": "in", "frame": one} for arrival, one in zip(arrivals, said, strict=True)]
    own.insert(10, {"t": arrivals[10] - 50_000_000, "dir": "in", "frame": {**_line(5_950), "id": "between"}})
    seen = _write(folder / "seen.ctxcap", [{"ctxcap": 1, "origin": {"space": "demo"}}, *own])
    document = _opened(log, seen, block_bytes=block_bytes)
    capture = document.capture
    assert [capture.records.envelope_id(row) for row in range(len(capture))].index("between") == 10
    assert np.all(np.diff(capture.columns["time_ns"]) > 0)
    source = next(one for one in capture.sources if one.name == "seen.ctxcap")
    assert abs(source.clock_offset_ns + wrong_ns) <= 20_000_000
    document.close()


_MIXED = ("acp", "a2a", "claude-code", "gateway-log", "json-rpc", "model-calls", "opencode")
_OFFSETS = st.none() | st.integers(-(10**12), 10**12)


@share_of_examples(3)
@given(
    st.lists(st.tuples(st.sampled_from(_MIXED), _OFFSETS), min_size=2, max_size=4, unique_by=lambda one: one[0]),
    st.tuples(st.integers(300, 5_000), st.integers(300, 5_000)), st.randoms(use_true_random=False),
)  # fmt: skip
def test_sources_in_any_order_cut_anywhere_by_any_clock_are_the_same_document(
    mixed: list[tuple[str, int | None]], blocks: tuple[int, int], shuffled: Random
) -> None:
    choices = [SourceChoice(FORMAT_SAMPLES[f"{name}.jsonl"], clock_offset_ns=offset) for name, offset in mixed]
    seen: list[Any] = []
    for block_bytes in blocks:
        document = CaptureDocument()
        for _ in document.open_together(choices, block_bytes=block_bytes):
            pass
        rows = range(len(document.capture))
        told = {field.name: [field.value(document.analysis, row) for row in rows] for field in FIELDS}
        seen.append((told, [(one.name, one.clock_offset_ns) for one in document.capture.sources]))
        document.close()
        shuffled.shuffle(choices)
    assert seen[0] == seen[1]


@share_of_examples(2)
@given(st.sampled_from(LINE_SAMPLES), st.floats(0, 1), st.integers(300, 5_000))
def test_a_document_of_one_source_in_parts_equals_the_plain_one(
    tmp_path_factory: pytest.TempPathFactory, sample: Path, share: float, block_bytes: int
) -> None:
    lines = sample.read_bytes().splitlines(keepends=True)
    at, folder = round(share * len(lines)), tmp_path_factory.mktemp("parts")
    (folder / "x.jsonl.1").write_bytes(b"".join(lines[:at]))
    (folder / "x.jsonl").write_bytes(b"".join(lines[at:]))
    document, plain = _opened(folder, block_bytes=block_bytes), CaptureDocument()
    plain.load(sample)
    assert picture(document) == picture(plain)
    document.close()
    plain.close()


def test_the_middle_of_a_long_log_tells_the_clock_of_who_came_late(tmp_path: Path) -> None:
    said = [_line(n, text="x" * 400) for n in range(0, 55_000, 5)]
    log = _write(tmp_path / "log.jsonl", [_logged("received", one, "ann", 0) for one in said])
    slow: list[dict[str, Any]] = [{"t": f"{one['ts'][:-1]}Z", "dir": "in", "frame": one} for one in said[9_000:]]
    for line in slow:
        second = int(line["t"][17:19]) - 20  # twenty seconds slow
        line["t"] = f"{line['t'][:17]}{second:02}{line['t'][19:]}"
    late = _write(tmp_path / "late.ctxcap", [{"ctxcap": 1, "origin": {"space": "demo"}}, *slow])
    document = _opened(log, late)
    source = next(one for one in document.capture.sources if one.name == "late.ctxcap")
    assert abs(source.clock_offset_ns - 20_000_000_000) < 1_000_000
    document.close()


def test_an_offset_that_is_set_counts(tmp_path: Path) -> None:
    first, second = _write(tmp_path / "a.log", [_line(10), _line(30)]), _write(tmp_path / "b.log", [_line(20)])
    document = CaptureDocument()
    for _ in document.open_together([SourceChoice(first), SourceChoice(second, clock_offset_ns=15_000_000)]):
        pass
    capture = document.capture
    assert [capture.records.envelope_id(row) for row in range(3)] == ["m10", "m30", "m20"]
    times = capture.columns["time_ns"]
    assert int(times[2]) - int(times[1]) == 5_000_000
    assert [one.clock_basis for one in capture.sources] == [ClockBasis.OWN_CLOCK, ClockBasis.SET_BY_USER]
    document.close()


def test_rotated_logs_are_one_source_that_reads_through(tmp_path: Path) -> None:
    lines = [json.dumps(_line(n)) for n in range(9)]
    (tmp_path / "x.log.2.gz").write_bytes(gzip.compress("\n".join(lines[:3]).encode()))  # no end of line
    (tmp_path / "x.log.1").write_text("\n".join(lines[3:6]) + "\n")
    (tmp_path / "x.log").write_text("\n".join(lines[6:]) + "\n")
    for choices in ([tmp_path], [tmp_path / name for name in ("x.log", "x.log.1", "x.log.2.gz")]):
        document = CaptureDocument()
        for _ in document.open_together([SourceChoice(path) for path in choices]):
            pass
        capture = document.capture
        assert [source.name for source in capture.sources] == ["x.log"]
        assert [capture.records.envelope_id(row) for row in range(len(capture))] == [f"m{n}" for n in range(9)]
        document.close()


def test_a_log_goes_on_behind_what_was_rotated_away_of_it(tmp_path: Path) -> None:
    lines = [json.dumps(_line(n)).encode() + b"\n" for n in range(6)]
    (tmp_path / "x.log.1.gz").write_bytes(gzip.compress(b"".join(lines[:2])))
    log = tmp_path / "x.log"
    log.write_bytes(lines[2] + lines[3][:20])
    document = CaptureDocument()
    for _ in document.open_together([SourceChoice(tmp_path)], follow=True):
        pass
    with log.open("ab") as file:
        file.write(lines[3][20:] + lines[4])
    with patch("inspector.sources.follow.GRACE_S", 0.0):
        _poll_until(document, lambda: document.capture.records.envelope_id(len(document.capture) - 1) == "m4")
        log.rename(tmp_path / "x.log.1")
        log.write_bytes(lines[5])
        _poll_until(document, lambda: document.capture.records.envelope_id(len(document.capture) - 1) == "m5")
    ids = [document.capture.records.envelope_id(row) for row in range(len(document.capture))]
    assert [one for one in ids if one is not None] == [f"m{n}" for n in (0, 1, 2, 3, 4, 5)]
    document.close()


def _poll_until(document: CaptureDocument, there: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not there() and time.monotonic() < until:
        document.poll()
        time.sleep(0.005)
    assert there()


def test_an_empty_log_beside_what_is_none_is_refused_with_what_that_is(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("")
    (tmp_path / "b.log").write_text("dear diary\n")
    document = CaptureDocument()
    with pytest.raises(UnknownFormatError, match=r"b\.log is no log"):
        document.load(tmp_path)
    document.close()


def test_a_log_that_grows_is_read_on_with_the_others_each_message_once(tmp_path: Path) -> None:
    log, ann, bob = _scenario(tmp_path)
    whole = {path: path.read_text().splitlines(keepends=True) for path in (log, ann, bob)}
    expected_document = _opened(log, ann, bob)
    expected = sorted(map(str, _facts(expected_document)))
    expected_document.close()
    for path, lines in whole.items():
        path.write_text("".join(lines[: len(lines) // 2]))
    document = CaptureDocument()
    for _ in document.open_together([SourceChoice(path) for path in whole], follow=True):
        pass
    for path, lines in whole.items():
        with path.open("a") as file:
            file.write("".join(lines[len(lines) // 2 :]))
    until = time.monotonic() + 10
    while sorted(map(str, _facts(document))) != expected and time.monotonic() < until:
        if not document.poll():
            time.sleep(0.002)  # for the threads that follow
    assert sorted(map(str, _facts(document))) == expected
    document.close()


def test_a_source_that_cannot_be_read_further_leaves_the_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _write(tmp_path / "a.log", [_line(n) for n in range(0, 100, 2)])
    second = _write(tmp_path / "b.log", [_line(n) for n in range(1, 100, 2)])
    real = SourceReader.next_block

    def failing(self: SourceReader, **how: Any) -> Any:
        if self.source.name == "a.log" and self.source.read_to > 2_000:
            raise OSError(5, "Input/output error")
        return real(self, **how)

    monkeypatch.setattr(SourceReader, "next_block", failing)
    document = _opened(first, second, block_bytes=1_000)
    names = [document.capture.sources[int(number)].name for number in document.capture.columns["source"]]
    assert names.count("b.log") == 50
    assert 0 < names.count("a.log") < 50
    assert any("a.log cannot be read to its end" in sentence for sentence in document.read_errors)
    document.close()


def test_each_gateways_log_has_its_own_decisions(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        said = {**_line(10), "id": name}
        _write(folder / "envelope-history.jsonl", [_logged("received", said, "ann")])
        verdict = {"timestamp": said["ts"], "event": "capability_decision", "envelope_id": name, "result": "allowed"}
        _write(folder / "capability-decisions.jsonl", [verdict])
    document = _opened(*(tmp_path / name / "envelope-history.jsonl" for name in ("one", "two")))
    assert [len(document.decisions.decisions_on(row)) for row in range(2)] == [1, 1]
    document.close()


def _live_lines(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first = {"ctxcap": 1, "origin": {"space": "demo", "source": "gateway"}}
    start = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()
    return [first, *({"t": round((start + n / 100) * 1e9), "dir": "in", "frame": one} for n, one in enumerate(said))]


@pytest.mark.parametrize("had_live", [0, 7, 16])
@pytest.mark.parametrize("turns", [[], [0, 0, 1, 1], [1, 1, 0, 1, 0]])
def test_a_live_capture_and_a_log_beside_it_become_what_both_are_when_opened_later(
    tmp_path: Path, had_live: int, turns: list[int]
) -> None:
    said = [_line(5_000 + 10 * n, sender="eve" if n == 7 else "ann") for n in range(20)]
    log = [_logged("received", one, "mallory" if one["from"] == "eve" else "ann", 0) for one in said]
    heard = [one for n, one in enumerate(said) if n % 5]  # refused messages reach nobody
    files = [(tmp_path / "live.ctxcap").open("w"), (tmp_path / "log.jsonl").open("w")]
    paths = [Path(file.name) for file in files]
    left = [[json.dumps(one) + "\n" for one in found] for found in (_live_lines(heard), log)]

    def write(which: int, count: int) -> None:
        files[which].write("".join(left[which][:count]))
        files[which].flush()
        del left[which][:count]

    write(0, 1 + had_live)
    write(1, 9)
    document = CaptureDocument()
    for _ in document.open_together([SourceChoice(paths[0], is_live=True), SourceChoice(paths[1])], follow=True):
        pass
    assert document.live
    for which in (*turns, 0, 1):
        write(which, 5 if any(turns) else 99)
        document.poll()
    write(0, 99)
    write(1, 99)
    until = time.monotonic() + 5
    while len(document.capture) < 20 and time.monotonic() < until:
        if not document.poll():
            time.sleep(0.002)  # for the thread that follows
    document.end_live()
    for file in files:
        file.close()
    later = _opened(*paths)
    found, expected = (sorted(map(str, _facts(one))) for one in (document, later))
    sender = document.capture.logged_sender(
        next(r for r in range(20) if document.capture.records.envelope_id(r) == "m5070")
    )
    document.close()
    later.close()
    assert found == expected
    assert sender == "mallory"


async def test_several_sources_saved_as_one_capture_open_as_the_same_document(tmp_path: Path) -> None:
    log, *others = _scenario(tmp_path)
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(others[0].read_bytes()))
    others[0].unlink()
    choices = [SourceChoice(log), SourceChoice(packed), *(SourceChoice(path, clock_offset_ns=5) for path in others[1:])]
    document, target = CaptureDocument(), tmp_path / "out" / "all.ctxcap"
    target.parent.mkdir()
    for _ in document.open_together(choices):
        pass
    await save_copy(document, target)
    with pytest.raises(OSError, match="one of its sources"):
        await save_copy(document, log)
    again, twice = CaptureDocument(), tmp_path / "twice.ctxcap"
    again.load(target)
    await save_copy(again, twice)
    for path in (target, twice):
        again.close()
        again = CaptureDocument()
        again.load(path)
        assert (_facts(again), again.name) == (_facts(document), path.stem)
        assert [(one.name, one.clock_basis, one.clock_offset_ns, one.main_format) for one in again.capture.sources] == [
            (one.name, one.clock_basis, one.clock_offset_ns, one.main_format) for one in document.capture.sources
        ]  # fmt: skip
        assert [one.path.parent.parent for one in again.choices] == [path] * 3
    document.close()
    again.close()
    with (tmp_path / "outside.ctxcap").open("wb") as file:
        write_bundle(file, b'{"ctxsources":1,"sources":[{"path":"../outside.log"}]}', [])
    with pytest.raises(UnknownFormatError, match="names files outside of it"):
        CaptureDocument().load(tmp_path / "outside.ctxcap")
    (tmp_path / "torn.ctxcap").write_bytes(target.read_bytes()[:2_000])
    with pytest.raises((OSError, UnknownFormatError)):
        CaptureDocument().load(tmp_path / "torn.ctxcap")


def test_an_offset_that_is_set_is_no_estimate_where_others_are_put_by_it(tmp_path: Path) -> None:
    both = [_line(n) for n in range(10, 200, 10)]
    first, second = _write(tmp_path / "a.log", both), _write(tmp_path / "b.log", both)
    document = CaptureDocument()
    for _ in document.open_together([SourceChoice(first, clock_offset_ns=15_000_000), SourceChoice(second)]):
        pass
    clocks = [(one.clock_basis, one.clock_offset_ns) for one in document.capture.sources]
    assert clocks == [(ClockBasis.SET_BY_USER, 15_000_000), (ClockBasis.ESTIMATED, 15_000_000)]
    document.close()
