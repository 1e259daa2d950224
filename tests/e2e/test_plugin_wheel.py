"""A plug-in in a wheel: installed with pip, switched on with the command line, seen in what commands print."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.builders import lines_of, log_file
from tests.plugins import EXAMPLES, ROBOT_LINES

NAME, VERSION = "robot_plugins", "1.2"
ENTRY_POINTS = """[context_inspector.formats]
robot = robot_log:FORMATS
[context_inspector.checks]
question = repeated_question:CHECKS
[context_inspector.fields]
words = repeated_question:FIELDS
"""


def make_wheel(folder: Path) -> Path:
    """Writes a wheel of two examples with entry points, as `pip wheel` does."""
    info = f"{NAME}-{VERSION}.dist-info"
    files = {f"{one}.py": (EXAMPLES / f"{one}.py").read_bytes() for one in ("robot_log", "repeated_question")}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    path = folder / f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return path


@pytest.mark.real
def test_a_wheel_is_installed_switched_on_and_used(tmp_path: Path) -> None:
    site, log = tmp_path / "site", log_file(lines_of(*ROBOT_LINES))
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(site),
         "--disable-pip-version-check", str(make_wheel(tmp_path))],
        check=True, timeout=200,
    )  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def run(*words: str | Path, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "inspector", *map(str, words)], env=environment, capture_output=True, text=True,
            timeout=200, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout

    (listed,) = json.loads(run("plugins", "list", "--json"))
    assert (listed["name"], listed["origin"], listed["version"], listed["on"]) == (NAME, "package", VERSION, False)
    assert listed["adds"] == ["formats", "checks", "fields"]
    run("list", log, code=2)
    enabled = run("plugins", "enable", NAME)
    assert enabled == (
        f"{NAME} is on. It adds: format robot-log, check question-repeated, field question.words.\n"
    )  # fmt: skip
    rows = [
        json.loads(row) for row in run("list", log, "-e", "no,from,question.words", "--format", "jsonl").splitlines()
    ]
    assert [row["from"] for row in rows] == ["user", "robot", "tools", "user", "robot"]
    assert rows[0]["question.words"] == 4
    assert "question-repeated" in run("check", log)
    # Another version of the package has to be switched on again.
    metadata = next(site.glob("*.dist-info/METADATA"))
    metadata.write_text(metadata.read_text().replace(VERSION, "1.3"))
    (listed,) = json.loads(run("plugins", "list", "--json"))
    assert not listed["on"]
    assert listed["error"] == "it has changed since it was switched on; switch it on again to run it"
    run("list", log, code=2)
