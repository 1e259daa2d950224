"""Compares `list --format jsonl` with stored digests, for all fields of all samples and recordings.

The digests guard moves of code that must not change the result of reading a log. Write them anew only

- after a deliberate change of such a result, which its changelog line explains;
- after a sample was added, edited or renamed, or a field was added.

    python -m tests.unit.formats.test_list_golden

It prints each log and the fields whose values differ from before. A renamed sample with the same output is not printed.
Samples and fields without digests are not compared.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from inspector.base import paths
from inspector.filters.fields import FIELDS
from tests.commands import asked
from tests.samples import DATA, FORMAT_SAMPLES, sample

GOLDEN = DATA / "golden"
SHARED = DATA.parents[2] / "shared"

LONGEST = 2_000_000
"""Bytes of the longest log compared, uncompressed; three recordings of 8 to 405 MB take minutes."""

NO_LOGS = frozenset({".md", ".py", ".pyc", ".pem", ".toml"})
"""Suffixes of documentation, scripts, certificates and lists beside the logs."""

FOLDERS = (
    "msp/folder",
    "together",
    "transcripts/claude-code",
    "transcripts/codex-forks/two-metas-timed-turns",
    "transcripts/orders",
)
SHARED_FOLDERS = (
    "recordings/transcripts/claude/subagent-dir",
    "recordings/transcripts/claude/v2.1.281-subagents-and-team/projects/-work-demo-project",
    "recordings/transcripts/codex/review-subagents",
    "recordings/transcripts/opencode/storage-1",
    "recordings/transcripts/opencode/storage-2",
    "strangers/sessions/h09_background_agent",
)
"""Folders that open as one document."""

# No field is left out. Times are UTC, sources are file names without folders, settings and prices come from an empty
# home, and no sample has marks beside it. Only the order of sessions in a folder depends on the machine, by file times.


def _read(golden: str) -> dict[str, Any]:
    return json.loads((GOLDEN / golden).read_text("utf-8"))


SAMPLES = _read("list_digests.json")
RECORDINGS = _read("recordings_digests.json")


def content(path: Path) -> bytes:
    """Returns the bytes of a log, uncompressed, or of all files of a folder and their names."""
    if path.is_dir():
        inner = sorted(one for one in path.rglob("*") if one.is_file())
        return b"\0".join(part for one in inner for part in (str(one.relative_to(path)).encode(), one.read_bytes()))
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error):
        return data


def short_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


@contextmanager
def timed_copy(folder: Path) -> Generator[Path]:
    """Copies a folder and gives its files increasing times by path; sessions of a folder open oldest first."""
    with tempfile.TemporaryDirectory() as parent:
        copy = shutil.copytree(folder, Path(parent) / "logs" / folder.name)
        for place, path in enumerate(sorted(copy.rglob("*"))):
            os.utime(path, (1_790_000_000 + place, 1_790_000_000 + place))
        yield copy


def digests(path: Path, fields: list[str]) -> dict[str, str]:
    """Returns digests of a log's content and of all, of each line and of each field of the command's output.

    A log that the command refuses has an empty output.
    """
    with timed_copy(path) if path.is_dir() else nullcontext(path) as log:
        result = asked("list", log, "--field", ",".join(fields), "--format", "jsonl")
    assert result.exit_code in (0, 2), result.output
    output = result.stdout_bytes
    lines = output.splitlines(keepends=True)
    rows = [json.loads(line) for line in lines]
    columns = (json.dumps([row[name] for row in rows]).encode() for name in fields)
    return {
        "log": short_digest(content(path)),
        "output": hashlib.sha256(output).hexdigest(),
        "lines": "".join(map(short_digest, lines)),
        "fields": "".join(map(short_digest, columns)) if rows else "",
    }


def pieces(joined: str) -> list[str]:
    return [joined[place : place + 8] for place in range(0, len(joined), 8)]


def difference(before: dict[str, str], after: dict[str, str], fields: list[str]) -> str:
    """Returns a sentence on the first line and the fields that differ, or an empty string."""
    if before["output"] == after["output"]:
        return ""
    old, new = pieces(before["lines"]), pieces(after["lines"])
    equal = (place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1])
    first = next(equal, min(len(old), len(new))) + 1
    columns = zip(fields, pieces(before["fields"]), pieces(after["fields"]), strict=False)
    changed = [name for name, *pair in columns if pair[0] != pair[1]] if len(old) == len(new) else []
    return f"lines {len(old)} -> {len(new)}, first difference in line {first}, fields: {', '.join(changed) or '-'}"


def check(path: Path, golden: dict[str, Any], name: str) -> None:
    after = digests(path, golden["fields"])
    assert not (found := difference(golden["logs"][name], after, golden["fields"])), f"{name}: {found}"


@pytest.mark.sweep
@pytest.mark.parametrize("name", SAMPLES["logs"])
def test_samples_list_as_before(name: str) -> None:
    path = sample(name)
    assert path.exists(), f"{name} was removed or renamed: write the digests anew"
    assert short_digest(content(path)) == SAMPLES["logs"][name]["log"], f"{name} was edited: write them anew"
    check(path, SAMPLES, name)


@pytest.mark.real
@pytest.mark.parametrize("name", RECORDINGS["logs"])
def test_recordings_list_as_before(name: str) -> None:
    path = SHARED / name
    if not path.exists() or short_digest(content(path)) != RECORDINGS["logs"][name]["log"]:
        pytest.skip("the recording is absent or another one")
    check(path, RECORDINGS, name)


def test_a_difference_names_the_line_and_the_fields() -> None:
    fields = ["no", "text"]
    before = {"output": "a", "lines": "0000000100000002", "fields": "0000000a0000000b"}
    assert difference(before, before, fields) == ""
    after = {"output": "b", "lines": "0000000100000003", "fields": "0000000a0000000c"}
    assert difference(before, after, fields) == "lines 2 -> 2, first difference in line 2, fields: text"
    shorter = {"output": "c", "lines": "00000001", "fields": "0000000d0000000e"}
    assert difference(before, shorter, fields) == "lines 2 -> 1, first difference in line 2, fields: -"


def logs(folder: Path) -> list[Path]:
    """Returns the files below a folder that are compared."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and GOLDEN not in path.parents]
    return [path for path in files if path.suffix not in NO_LOGS and len(content(path)) < LONGEST]


def named(paths_: list[Path], root: Path) -> dict[str, Path]:
    return {path.relative_to(root).as_posix(): path for path in paths_}


def write(golden: str, found: dict[str, Path]) -> None:
    """Writes digests by name, and prints the logs whose output differs from before."""
    begun, before = time.monotonic(), _read(golden)
    names = [field.name for field in FIELDS]
    after = {name: digests(path, names) for name, path in found.items()}
    known = {old["log"]: old for old in before["logs"].values()}
    for name, new in after.items():
        old = before["logs"].get(name) or known.get(new["log"])
        if old is None or before["fields"] != names:
            continue
        if told := difference(old, new, names):
            print(f"{name}: {told}" + ("" if old["log"] == new["log"] else " (the log was edited)"))
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(new)}" for name, new in after.items())
    text = f'{{"fields": {json.dumps(names)},\n "logs": {{\n{rows}\n}}}}\n'
    (GOLDEN / golden).write_text(text, "utf-8")
    read = sum(bool(new["lines"]) for new in after.values())
    print(f"{golden}: {len(after)} logs, {read} with messages, {len(text):,} B, {time.monotonic() - begun:.0f} s")


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ[paths.HOME_VARIABLE] = home
        samples = named([*logs(DATA), *(DATA / name for name in FOLDERS)], DATA)
        own = {f"formats/{name}": path for name, path in FORMAT_SAMPLES.items()}
        write("list_digests.json", dict(sorted({**samples, **own}.items())))
        if SHARED.is_dir():
            recorded = [path for part in ("recordings", "strangers") for path in logs(SHARED / part)]
            recorded += [SHARED / name for name in SHARED_FOLDERS]
            write("recordings_digests.json", named(recorded, SHARED))


if __name__ == "__main__":
    main()
