"""Manifests of Flatpak, Homebrew and winget: filled in from the files of a release, and parsed."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import bundle  # pyright: ignore[reportMissingImports]
import manifests  # pyright: ignore[reportMissingImports]
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
URL = f"https://example.com/owner/name/releases/download/v{bundle.version()}"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A folder with the files of a release, each with its name as content."""
    for pattern in manifests._FILES.values():
        name = pattern.format(name=bundle.NAME, version=bundle.version())
        (tmp_path / name).write_text(name, "utf-8")
    return tmp_path


def sum_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def texts(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text("utf-8") for file in manifests.write(URL, folder)}


def test_all_are_written_without_placeholders(release: Path) -> None:
    made = texts(release)
    assert len(made) == 5
    assert [name for name, text in made.items() if re.search(r"@[A-Z0-9_]+@", text)] == []
    assert all(bundle.version() in text for text in made.values())


def test_winget_installs_for_one_user_and_for_all(release: Path) -> None:
    made: dict[str, Any] = {
        name: yaml.safe_load(text)
        for name, text in texts(release).items()
        if name.startswith("ContextInspector.")
    }  # fmt: skip
    assert {one["PackageIdentifier"] for one in made.values()} == {"ContextInspector.ContextInspector"}
    assert {one["PackageVersion"] for one in made.values()} == {bundle.version()}
    assert {one["ManifestType"] for one in made.values()} == {"version", "installer", "defaultLocale"}
    installer = made["ContextInspector.ContextInspector.installer.yaml"]
    name = f"context-inspector-{bundle.version()}-windows-x86_64-setup.exe"
    assert {one["InstallerUrl"] for one in installer["Installers"]} == {f"{URL}/{name}"}
    assert {one["InstallerSha256"] for one in installer["Installers"]} == {sum_of(name).upper()}
    assert [one["Scope"] for one in installer["Installers"]] == ["user", "machine"]
    script = (ROOT / "packaging/windows/context-inspector.iss").read_text("utf-8")
    assert f"AppId={{{installer['ProductCode'].removesuffix('_is1')}\n" in script
    (oldest,) = re.findall(r"^MinVersion=(.+)$", script, re.MULTILINE)
    assert installer["MinimumOSVersion"] == f"{oldest}.0"


def test_flatpak_asks_for_little(release: Path) -> None:
    made: dict[str, Any] = yaml.safe_load(texts(release)[f"{bundle.IDENTIFIER}.yml"])
    assert made["id"] == bundle.IDENTIFIER
    assert set(made["finish-args"]) == {
        "--share=ipc", "--socket=wayland", "--socket=fallback-x11", "--share=network",
        "--talk-name=org.freedesktop.secrets",
    }  # fmt: skip
    (module,) = made["modules"]
    (source,) = module["sources"]
    name = f"context-inspector-{bundle.version()}-linux-x86_64.tar.gz"
    assert (source["url"], source["sha256"]) == (f"{URL}/{name}", sum_of(name))


def test_the_cask_parses(release: Path) -> None:
    text = texts(release)["context-inspector.rb"]
    for machine in ("arm64", "x86_64"):
        assert sum_of(f"context-inspector-{bundle.version()}-macos-{machine}.dmg") in text
    assert 'homepage "https://example.com/owner/name"' in text
    assert bundle.version() not in text.replace(f'version "{bundle.version()}"', "")
    assert "download/v#{version}/context-inspector-#{version}-macos-#{arch}.dmg" in text
    assert "depends_on macos: :ventura\n" in text  # Homebrew has deprecated ">= :ventura"
    if ruby := shutil.which("ruby"):
        subprocess.run([ruby, "-c", "-"], input=text, text=True, check=True, capture_output=True)


def test_a_manifest_without_its_files_is_left_out(
    release: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    for file in release.glob("*.dmg"):
        file.unlink()
    assert "context-inspector.rb" not in texts(release)
    assert "homebrew/context-inspector.rb: left out, the folder has no" in capsys.readouterr().out


@pytest.mark.parametrize("url", ["http://example.com/v1", "file:///tmp", "https://h/\nrun: x", 'https://h/"#{x}'])
def test_other_addresses_are_refused(release: Path, url: str) -> None:
    with pytest.raises(ValueError, match="no https address"):
        manifests.write(url, release)


def test_names_of_files_are_those_of_the_builds() -> None:
    script = (ROOT / "packaging/windows/context-inspector.iss").read_text("utf-8")
    assert "OutputBaseFilename=context-inspector-{#AppVersion}-windows-x86_64-setup" in script
    assert "context-inspector-$version-macos-$(uname -m).dmg" in (ROOT / "packaging/macos/sign.sh").read_text("utf-8")
