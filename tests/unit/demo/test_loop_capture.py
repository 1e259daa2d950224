"""The sample capture of the loop is what the demo's tools say today, and holds every record once."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

from inspector.demo.tools import activities

FOLDER = Path(__file__).parents[2] / "data" / "captures"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_loop", FOLDER / "make_loop.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_what_the_generator_makes() -> None:
    made = "".join(f"{line}\n" for line in generator().lines())
    assert (FOLDER / "loop-mcp.jsonl").read_text(encoding="utf-8") == made


def test_nine_pages_hold_all_132_records_and_the_last_is_transient_too() -> None:
    messages = [json.loads(line)["message"] for line in (FOLDER / "loop-mcp.jsonl").read_text("utf-8").splitlines()]
    pages = [
        message["result"] for message in messages
        if message.get("result", {}).get("_meta", {}).get("context", {}).get("lifecycle") == "transient"
    ]  # fmt: skip
    records = [json.loads(page["content"][0]["text"])["records"] for page in pages]
    assert [len(page) for page in records] == [15] * 8 + [12]
    assert [one["id"] for page in records for one in page] == [one.id for one in activities()]
