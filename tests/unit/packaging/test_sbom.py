"""The bill of materials of a bundle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sbom  # pyright: ignore[reportMissingImports]

from inspector.diagnostics.licences import bundled_licences, to_json

PARTS = [
    {"name": "context-inspector", "version": "1.0", "licence": "MIT", "text": "..."},
    {"name": "numpy", "version": "0", "licence": "BSD-3-Clause AND (MIT OR Zlib)", "text": ""},
    {"name": "Inter", "version": "4.001", "licence": "Apache License, Version 2.0", "text": ""},
    {"name": "odd", "version": "", "licence": "not stated", "text": ""},
]


def test_parts_have_names_versions_and_licences() -> None:
    made: dict[str, Any] = sbom.document(PARTS, 1_700_000_000)
    assert made["metadata"]["component"]["purl"] == "pkg:pypi/context-inspector@1.0"
    assert made["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    numpy, inter, odd = made["components"]
    assert numpy["licenses"] == [{"expression": "BSD-3-Clause AND (MIT OR Zlib)"}]
    assert "purl" not in numpy, "another version is installed"
    assert inter["licenses"] == [{"license": {"name": "Apache License, Version 2.0"}}]
    assert "licenses" not in odd
    (graph,) = made["dependencies"]
    assert graph["dependsOn"] == ["numpy@0", "Inter@4.001", "odd"]


def test_the_same_parts_give_the_same_file() -> None:
    assert sbom.document(PARTS, 1) == sbom.document(PARTS, 1)
    assert sbom.document(PARTS, 1)["serialNumber"] != sbom.document(PARTS[:2], 1)["serialNumber"]


def test_all_parts_of_the_program_are_valid(tmp_path: Path) -> None:
    listed = tmp_path / "_internal/inspector/_resources/licences.json"
    listed.parent.mkdir(parents=True)
    listed.write_text(to_json(bundled_licences()), "utf-8")
    text = sbom.text(tmp_path, 1)
    made: dict[str, Any] = json.loads(text)
    references = [one["bom-ref"] for one in made["components"]]
    assert len(references) == len(set(references)) > 50
    assert {one["name"]: one for one in made["components"]}["numpy"]["purl"].startswith("pkg:pypi/numpy@")
    validation = pytest.importorskip("cyclonedx.validation.json", reason="release.yml installs it")
    from cyclonedx.schema import SchemaVersion  # pyright: ignore[reportMissingImports]

    assert validation.JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
