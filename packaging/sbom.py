"""Writes the software bill of materials of a bundle, as CycloneDX 1.6 in JSON, from its list of licences."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

import bundle

_EXPRESSION = re.compile(r"\(?[A-Za-z0-9.+-]+\)?(?: (?:AND|OR|WITH) \(?[A-Za-z0-9.+-]+\)?)*")
_UNKNOWN = ("", "not stated", "see text")


def document(licences: list[dict[str, str]], moment: int) -> dict[str, Any]:
    """Returns the bill of materials.

    Args:
        licences: name, version, licence and text of each part, with the program itself first.
        moment: time of the build, Unix seconds.
    """
    own, *parts = (_component(one) for one in licences)
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment)),
            "component": {**own, "type": "application"},
        },
        "components": parts,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [one["bom-ref"] for one in parts]}],
    }
    # The same content has the same number, so that a build can be repeated.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "serialNumber": f"urn:uuid:{number}",
        **content,
    }


def text(folder: Path, moment: int) -> str:
    """Returns the bill of materials of a bundle's folder as JSON."""
    listed = json.loads((folder / "_internal/inspector/_resources/licences.json").read_text("utf-8"))
    return json.dumps(document(listed, moment), ensure_ascii=False, indent=1) + "\n"


def _component(part: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "library", "name": part["name"], "version": part["version"]}
    found["bom-ref"] = found["name"] if not found["version"] else f"{found['name']}@{found['version']}"
    licence = part["licence"].strip()
    if licence not in _UNKNOWN:
        named = {"expression": licence} if _EXPRESSION.fullmatch(licence) else {"license": {"name": licence}}
        found["licenses"] = [named]
    if address := _package_url(part["name"], part["version"]):
        found["purl"] = address
    return found


def _package_url(name: str, version: str) -> str:
    """Returns the address of a part from PyPI or Debian, "" for other parts."""
    if name == bundle.NAME:
        return f"pkg:pypi/{name}@{version}"
    try:
        if metadata.version(name) == version:
            return f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    except (metadata.PackageNotFoundError, ValueError):
        pass
    if shutil.which("dpkg-query") is None or " " in name:
        return ""
    asked = ["dpkg-query", "-W", "-f=${Version}", name]
    installed = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}" if installed == version else ""
