"""Several logs as one document: each message once, whoever saw it, in whatever order they are named."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.capture.reading import UnknownFormatError
from inspector.document.document import CaptureDocument
from inspector.document.saving import save_copy, why_not_saved


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
    for _ in document.open_together(paths, block_bytes=block_bytes):
        pass
    return document


def _facts(document: CaptureDocument) -> list[tuple[Any, ...]]:
    capture = document.capture
    return [
        (
            capture.envelope_id(row), capture.string("space", row), capture.true_sender(row),
            sorted(capture.sources[number].name for number in capture.sources_of(row)),
            sorted(str(one.participant) for one in capture.deliveries_of(row)),
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


def test_any_order_of_naming_and_any_blocks_give_the_same_document(tmp_path: Path) -> None:
    paths = _scenario(tmp_path)
    expected = None
    for order in itertools.permutations(paths):
        for block_bytes in (1 << 20, 3_000, 700):
            document = _opened(*order, block_bytes=block_bytes)
            found = sorted(map(str, _facts(document)))
            document.close()
            expected = expected or found
            assert found == expected, block_bytes


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
    assert any("notes.log" in sentence for sentence in document.troubles)
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
    assert document.capture.true_sender(0) == "mallory"
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


async def test_several_logs_are_not_saved_as_the_first_of_them(tmp_path: Path) -> None:
    document = _opened(*_scenario(tmp_path))
    with pytest.raises(OSError, match="several logs") as refused:
        await save_copy(document, tmp_path / "all.jsonl")
    assert "Export its messages instead" in why_not_saved(refused.value, tmp_path / "all.jsonl")
    assert not (tmp_path / "all.jsonl").exists()
    document.close()
