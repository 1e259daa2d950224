"""The exported JSON Schemas are current, and say of the samples what the checks say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from inspector.base.paths import resource
from inspector.msp.schema import DRAFT, schemas, write_schemas

DATA = Path(__file__).parents[2] / "data" / "msp"


def _validator(name: str) -> Draft7Validator:
    return Draft7Validator(json.loads(resource("schema", f"msp-{name}.schema.json").read_text(encoding="utf-8")))


def test_the_exported_schemas_are_current(tmp_path: Path):
    write_schemas(tmp_path)
    written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    exported = {path.name: path.read_text(encoding="utf-8") for path in resource("schema").iterdir()}
    assert exported == written == schemas()


@pytest.mark.parametrize("name", sorted(schemas()))
def test_they_are_draft_07(name: str):
    schema = json.loads(schemas()[name])
    assert schema["$schema"] == DRAFT
    assert "$defs" not in schemas()[name]
    Draft7Validator.check_schema(schema)


def _objects(value: Any):
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
    elif "subsession_id" in value:
        yield "subsession", value
    elif "session_id" in value:
        yield "session", value
    else:
        yield "document", value


@pytest.mark.parametrize(
    "name", ["one-file.json", "lone-subsession.json", "nested.json", "array.json", "unknown-fields.json"]
)
def test_good_samples_are_valid(name: str):
    for kind, value in _objects(json.loads((DATA / name).read_text(encoding="utf-8"))):
        assert list(_validator(kind).iter_errors(value)) == []


def test_odd_samples_are_not():
    value = json.loads((DATA / "odd.json").read_text(encoding="utf-8"))
    assert not _validator("document").is_valid(value)
    assert not _validator("session").is_valid(value["session"])
    assert not any(
        _validator("subsession").is_valid(sub) for sub in value["subsessions"] if sub != value["subsessions"][0]
    )
