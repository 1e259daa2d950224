"""Asks whether a known vulnerability concerns anything that is installed here: `make audit`.

Uses pip-audit, in an environment of its own below `build/`, so that the audited one gains nothing by it. The advisory
services are asked in turn, PyPI's and OSV, until one knows every package.

Exit codes, for CI: 0 nothing is known against any package; 1 something is; 75 (EX_TEMPFAIL) some or all packages could
not be asked about, for example without a network, and nothing is known against the others. `make` itself turns the
last two into its own 2: CI that tells them apart runs `.venv/bin/python packaging/audit.py`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from inspector.diagnostics import licences

_OWN = "context-inspector"
_TOOL = "pip-audit>=2.7,<3"
_SERVICES = ("pypi", "osv")
_ROOT = Path(__file__).resolve().parent.parent
_TIMEOUT_S = 300
_MOST_IN_VAIN = 7
"""So many questions without an answer, one after another, and a service is asked no more."""
_NONE, _FOUND, _NOT_ASKED = 0, 1, 75


@dataclass
class Answer:
    """What the services know.

    Attributes:
        asked: packages a service answered for.
        against: lines about vulnerable packages.
        trouble: why others could not be asked about.
        failed: there was no answer at all.
    """

    asked: set[str] = field(default_factory=set)
    against: list[str] = field(default_factory=list)
    trouble: str = ""
    failed: bool = False


def installed() -> dict[str, str]:
    """Every distribution of this environment but our own, with its version."""
    found = {_normal(one.name): one.version for one in metadata.distributions() if one.name}
    found.pop(_OWN, None)
    return dict(sorted(found.items()))


def audit_tool() -> Path:
    """The pip-audit program, installed when it is not there.

    Raises:
        OSError: it cannot be installed.
    """
    folder = _ROOT / "build" / "audit"
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    tool = scripts / ("pip-audit.exe" if sys.platform == "win32" else "pip-audit")
    if not tool.exists():
        venv.create(folder, with_pip=True)
        done = subprocess.run(
            [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _TOOL],
            capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        if done.returncode:
            raise OSError(f"pip-audit could not be installed: {_last_line(done.stderr)}")
    return tool


def ask(tool: Path, service: str, packages: dict[str, str]) -> Answer:
    """Ask one service about packages."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text("".join(f"{name}=={version}\n" for name, version in packages.items()), encoding="utf-8")
        command = [tool, "-r", listed, "--no-deps", "--disable-pip", "-s", service, "--progress-spinner", "off"]
        done = subprocess.run(
            [*command, "-f", "json"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )  # fmt: skip
    return answer_of(done.stdout, done.stderr, service)


def ask_in_parts(tool: Path, service: str, packages: dict[str, str]) -> Answer:
    """Ask one service about packages; where it answers nothing for one of them, about the others without it.

    A package that a service refuses ends pip-audit without an answer: the packages are halved until it stands alone.
    """
    found, waiting, vain, answer = Answer(), [packages], 0, Answer()
    while waiting and vain < _MOST_IN_VAIN:
        part = waiting.pop()
        answer = ask(tool, service, part)
        vain = vain + 1 if answer.failed else 0
        found.asked |= answer.asked
        found.against += answer.against
        found.trouble = found.trouble or ("" if answer.failed and len(part) > 1 else answer.trouble)
        if answer.failed and len(part) > 1:
            names = list(part)
            halves = names[: len(names) // 2], names[len(names) // 2 :]
            waiting += [{name: part[name] for name in half} for half in halves]
    if vain:
        found.trouble = found.trouble or answer.trouble
    return found


def answer_of(output: str, errors: str, service: str) -> Answer:
    """What pip-audit said; it ends with 0 also when it could not ask about a single package."""
    try:
        found: dict[str, Any] = json.loads(output)
        dependencies: list[dict[str, Any]] = found["dependencies"]
    except (ValueError, LookupError, TypeError):
        return Answer(trouble=f"{service}: {_last_line(errors)}", failed=True)
    answer = Answer()
    for one in dependencies:
        if "skip_reason" in one:
            answer.trouble = answer.trouble or f"{service}: {one['skip_reason']}"
            continue
        answer.asked.add(_normal(one["name"]))
        for known in one.get("vulns", []):
            fixed = ", ".join(known.get("fix_versions", [])) or "no version yet"
            answer.against.append(f"{one['name']} {one['version']}: {known['id']}, fixed in {fixed}")
    return answer


def _normal(name: str) -> str:
    """One name, one writing."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason was given"


def _shipped() -> set[str]:
    return {_normal(one.metadata["Name"]) for one in licences.required_distributions(_OWN)} - {_OWN}


def main() -> int:
    """Ask, say what is known, and return the exit code."""
    packages = installed()
    shipped, left, against, troubles = _shipped(), dict(packages), list[str](), list[str]()
    try:
        tool = audit_tool()
        for service in _SERVICES:
            if left:
                answer = ask_in_parts(tool, service, left)
                against += answer.against
                left = {name: version for name, version in left.items() if name not in answer.asked}
                troubles += [answer.trouble] if answer.trouble else []
    except (OSError, subprocess.TimeoutExpired) as error:
        troubles.append(str(error))
    for line in against:
        name = _normal(line.partition(" ")[0])
        print(f"{line} ({'shipped' if name in shipped else 'for development only'})")
    return _say(len(packages), left, against, troubles)


def _say(total: int, left: dict[str, str], against: list[str], troubles: list[str]) -> int:
    asked = total - len(left)
    if asked:
        print(f"Asked about {asked} of {total} packages: {len(against) or 'no'} known vulnerabilities.")
    if left:
        if asked:
            print(f"{len(left)} packages could not be asked about: {', '.join(left)}.")
        else:
            print(f"The audit could not run; nothing is known about any of the {total} packages installed.")
        for trouble in troubles:
            print(f"  {trouble}")
    return _FOUND if against else _NOT_ASKED if left else _NONE


if __name__ == "__main__":
    sys.exit(main())
