"""Tests of `packaging/audit.py`: what it makes of pip-audit's answers; nothing is asked of any service here."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[3] / "packaging" / "audit.py"


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit_script", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "audit_script", module)  # dataclasses look there
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "installed", lambda: {"numpy": "1.0", "jaraco-text": "2.0"})
    monkeypatch.setattr(module, "audit_tool", lambda: Path("pip-audit"))
    return module


def answers(monkeypatch: pytest.MonkeyPatch, audit: ModuleType, *said: object) -> None:
    """Let the services give these answers, one after another; text is no JSON."""
    waiting = [one if isinstance(one, str) else json.dumps({"dependencies": one}) for one in said]
    monkeypatch.setattr(
        audit, "ask", lambda _tool, service, _left: audit.answer_of(waiting.pop(0), "no\nnetwork", service)
    )


FINE = [{"name": "numpy", "version": "1.0", "vulns": []}, {"name": "jaraco.text", "version": "2.0", "vulns": []}]
SKIPPED = [{"name": one["name"], "skip_reason": "not found on PyPI"} for one in FINE]
KNOWN = [
    {"name": "numpy", "version": "1.0", "vulns": [{"id": "CVE-1", "fix_versions": ["1.1"]}]},
    {"name": "jaraco.text", "skip_reason": "not found on PyPI"},
]


def test_nothing_known_is_fine(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, audit, FINE)
    assert audit.main() == 0
    assert capsys.readouterr().out == "Asked about 2 of 2 packages: no known vulnerabilities.\n"


def test_what_is_known_fails(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, audit, KNOWN, "")
    assert audit.main() == 1
    said = capsys.readouterr().out
    assert "numpy 1.0: CVE-1, fixed in 1.1 (shipped)" in said
    assert "1 packages could not be asked about: jaraco-text." in said


def test_skipping_everything_is_no_pass(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """pip-audit itself ends with 0 then."""
    answers(monkeypatch, audit, SKIPPED, *["Traceback"] * 3)  # of both, and of each by itself
    assert audit.main() == 75
    said = capsys.readouterr().out
    assert "could not run; nothing is known about any of the 2 packages" in said
    assert "pypi: not found on PyPI" in said
    assert "osv: network" in said


def test_the_second_service_is_asked_about_the_rest(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, audit, KNOWN, FINE[1:])
    assert audit.main() == 1
    answers(monkeypatch, audit, SKIPPED, FINE)
    assert audit.main() == 0


def test_without_the_tool_it_says_so(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone() -> Path:
        raise OSError("pip-audit could not be installed: no network")

    monkeypatch.setattr(audit, "audit_tool", gone)
    assert audit.main() == 75
    assert "no network" in capsys.readouterr().out


def test_a_package_that_a_service_refuses_stands_alone(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = {f"p{number}": "1.0" for number in range(20)}
    monkeypatch.setattr(audit, "installed", lambda: dict(packages))
    asked: list[tuple[str, int]] = []

    def ask(_tool: Path, service: str, part: dict[str, str]) -> object:
        asked.append((service, len(part)))
        if "p13" in part:
            return audit.answer_of("", "403 for p13", service)
        known = [{"name": name, "version": "1.0", "vulns": []} for name in part]
        return audit.answer_of(json.dumps({"dependencies": known}), "", service)

    monkeypatch.setattr(audit, "ask", ask)
    assert audit.main() == 75
    said = capsys.readouterr().out
    assert "Asked about 19 of 20 packages: no known vulnerabilities." in said
    assert "1 packages could not be asked about: p13." in said
    assert "403 for p13" in said
    assert asked[-1] == ("osv", 1)


def test_a_service_that_never_answers_is_asked_no_more(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = {f"p{number}": "1.0" for number in range(100)}
    asked: list[int] = []

    def ask(_tool: Path, service: str, part: dict[str, str]) -> object:
        asked.append(len(part))
        return audit.answer_of("", "no network", service)

    monkeypatch.setattr(audit, "ask", ask)
    found = audit.ask_in_parts(Path("x"), "pypi", packages)
    assert (found.asked, found.trouble, len(asked)) == (set(), "pypi: no network", 7)
