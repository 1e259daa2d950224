"""The folder to copy: its page describes the fields, and a copy made by the page's own commands passes all checks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from inspector.formats import table
from inspector.formats.format import Format, load
from inspector.formats.vocabulary import Voice
from tests.pages import ROOT
from tests.unit.formats.conformance import FORMATS_FOLDER

SKELETON = FORMATS_FOLDER / "_skeleton"
PAGE = (SKELETON / "README.md").read_text(encoding="utf-8")
SAMPLE = SKELETON / "samples" / "toy-1.jsonl"
EXPECTED = SKELETON / "samples" / "toy-1.expected.json"
READER = (SKELETON / "reader.py").read_text(encoding="utf-8")


def test_the_page_describes_the_fields() -> None:
    described = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert described <= {one.name for one in fields(Format)}, "fields that are gone"
    used = set(re.findall(r"^    (\w+)=", (SKELETON / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE))
    assert used <= described
    assert {
        one.name for one in fields(Format) if one.default is MISSING and one.default_factory is MISSING
    } <= described


def test_the_parts_that_the_page_names_exist() -> None:
    references = set(re.findall(r'"(inspector\.[\w.]+:\w+)"', PAGE))
    of_listed = [one for one in references if not one.startswith("inspector.formats.walnut.")]
    assert of_listed
    assert all(load(reference) is not None for reference in of_listed)


def test_the_reader_uses_every_event() -> None:
    events = {name for name in vars(Voice) if not name.startswith("_")} - {one.name for one in fields(Voice)}
    left_out = {"instructions", "error"}
    assert {name for name in events - left_out if f"VOICE.{name}(" not in READER} == set()
    assert {name for name in events - left_out if f"VOICE.{name}(" not in PAGE} == set()
    assert 60 <= len(READER.splitlines()) <= 115


def test_it_is_not_in_the_table() -> None:
    assert "robot" not in table.SELECTABLE_FORMATS


def checkout(folder: Path) -> None:
    """Makes a checkout of links, with format folders of its own."""
    for path in ROOT.iterdir():
        if path.name not in ("inspector", ".pytest_cache", ".hypothesis"):
            (folder / path.name).symlink_to(path)
    (folder / "inspector").mkdir()
    for path in (ROOT / "inspector").iterdir():
        if path.name != "formats":
            (folder / "inspector" / path.name).symlink_to(path)
    shutil.copytree(FORMATS_FOLDER, folder / "inspector/formats", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.real
def test_a_copy_made_as_the_page_says_conforms(tmp_path: Path) -> None:
    checkout(tmp_path)
    log = tmp_path / "walnut.log"
    log.write_text(SAMPLE.read_text(encoding="utf-8").replace("robot", "walnut"), encoding="utf-8")
    commands = re.search(r"## 2\..*?```\n(.*?)```", PAGE, re.DOTALL)
    assert commands is not None
    subprocess.run(["bash", "-e"], input=commands[1].replace("YOUR-LOG", str(log)), text=True, cwd=tmp_path, check=True)
    listed = tmp_path / "inspector/formats/table.py"
    text = listed.read_text(encoding="utf-8")
    text = text.replace("    vscode_chat,\n", "    vscode_chat,\n    walnut,\n", 1)
    text = text.replace("    vscode_chat.FORMAT,\n", "    vscode_chat.FORMAT, walnut.FORMAT,\n", 1)
    listed.write_text(text, encoding="utf-8")

    def run(*arguments: str) -> str:
        names = {"PYTHONPATH": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=names, capture_output=True, text=True, timeout=200
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "tests.unit.formats.conformance", "--write", "walnut")
    samples = tmp_path / "inspector/formats/walnut/samples"
    written = json.loads((samples / "walnut-1.expected.json").read_text(encoding="utf-8"))
    own = json.loads(EXPECTED.read_text(encoding="utf-8").replace("robot", "walnut"))
    own["participants"].sort()
    assert written == own, "the copy reads its log as the skeleton does"
    test = "tests/unit/formats/test_conformance.py"
    found = run("-m", "pytest", "-q", "-p", "no:cacheprovider", test, "-k", "walnut or claims or listed")
    assert int(re.findall(r"(\d+) passed", found)[0]) >= 9, found
    assert "skipped" not in found
