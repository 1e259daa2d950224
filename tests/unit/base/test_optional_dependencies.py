from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, TracesData

from inspector.base import optional_dependencies
from inspector.base.optional_dependencies import EXTRAS, FLEET, OTEL, STATS
from inspector.formats.otlp.protobuf import ProtobufError, traces_of
from inspector.survey.run_places import PlaceError, find_runs

ROOT = Path(__file__).resolve().parents[3]
LOG = "tests/data/captures/demo-round.ctxcap"


@pytest.fixture
def without_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where none is installed."""
    monkeypatch.setattr(optional_dependencies, "_is_installed", lambda _name: False)


def test_they_are_those_of_the_project() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {one.name for one in EXTRAS} == declared.keys() - {"dev", "package"}
    assert [one.missing_modules() for one in EXTRAS if one is not STATS] == [[], [], []]
    assert OTEL.missing_message() == ""


def test_what_is_missing_is_said_with_what_brings_it(without_extras: None) -> None:
    assert FLEET.missing_message() == (
        "This needs the extra fleet (distributed, fsspec, cryptography). "
        "To install it: pip install 'context-inspector[fleet]'."
    )
    with pytest.raises(ProtobufError, match=r"^OTLP as protobuf needs the extra otel .*'context-inspector\[otel\]'"):
        traces_of(b"\n\x02\n\x00")
    with pytest.raises(PlaceError, match=r"^s3://bucket/night needs the extra fleet "):
        find_runs(["s3://bucket/night"])


def test_pipx_keeps_the_program_in_a_place_of_its_own(
    without_extras: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pipx_metadata.json").write_text("{}", "utf-8")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert "pipx runpip context-inspector install 'context-inspector[otel]'" in OTEL.missing_message()


def test_nothing_can_be_installed_into_a_package(without_extras: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert "package does not hold it" in FLEET.missing_message()
    (page,) = re.findall(r"the guide's page (\w+) says", FLEET.missing_message())
    assert f"# {page}\n" in (ROOT / "docs/install.md").read_text("utf-8")


_WITHOUT = """
import sys
from inspector.base.optional_dependencies import EXTRAS
gone = {name.partition(".")[0] for one in EXTRAS for name in one.modules} | {"dask", "s3fs", "tornado", "google"}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in gone - {"opentelemetry"} or name.startswith("opentelemetry.proto"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from inspector.__main__ import main
main()
"""


@pytest.mark.real
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["survey", LOG, "-o", "{home}/survey"], 2, "needs the extra fleet"),
        (["slice", "s3://bucket/log.jsonl", "-Y", "kind", "-o", "{home}/out.jsonl"], 2, "needs the extra fleet"),
        (["slice", LOG, "-Y", 'kind == "chat"', "-o", "{home}/out.jsonl"], 0, "out.jsonl:"),
        (["summary", "{home}/traces.bin"], 0, "needs the extra otel"),
    ],
)
def test_commands_say_which_is_missing(arguments: list[str], code: int, said: str, tmp_path: Path) -> None:
    span = ResourceSpans(scope_spans=[ScopeSpans(spans=[Span(name="chat", trace_id=b"t" * 16, span_id=b"s" * 8)])])
    (tmp_path / "traces.bin").write_bytes(TracesData(resource_spans=[span]).SerializeToString())
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, *(one.format(home=tmp_path) for one in arguments)],
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=120,
        env={**os.environ, "CONTEXT_INSPECTOR_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    assert said in done.stderr, done.stdout
    assert "Traceback" not in done.stderr
    assert done.returncode == code
