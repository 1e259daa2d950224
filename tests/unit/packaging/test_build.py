from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType

import build  # pyright: ignore[reportMissingImports]
import licence_list  # pyright: ignore[reportMissingImports]
import pytest

from inspector.diagnostics.licences import Licence, to_json
from tests.pages import links

_MOMENT = 1_700_000_000


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The build, of a folder with a program and a library in it, made at a known moment."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(_MOMENT))
    build.moment.cache_clear()
    for name, place in (("MADE", "made"), ("DIST", "dist"), ("FOLDER", "made/program")):
        monkeypatch.setattr(build, name, tmp_path / place)
        (tmp_path / place).mkdir(exist_ok=True)
    listed = tmp_path / "made/program/_internal/inspector/_resources/licences.json"
    listed.parent.mkdir(parents=True)
    listed.write_text(to_json([Licence("context-inspector", "1.0", "MIT", "")]), "utf-8")
    for name in ("context-inspector", "_internal/lib.so.1"):
        (build.FOLDER / name).write_bytes(b"\x7fELF")
        (build.FOLDER / name).chmod(0o755)
    (build.FOLDER / "lib.so").symlink_to("_internal/lib.so.1")
    yield build
    build.moment.cache_clear()


def sum_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_an_archive_made_again_is_the_same(builder: ModuleType) -> None:
    made = builder.portable()
    first = sum_of(made)
    assert int.from_bytes(made.read_bytes()[4:8], "little") == _MOMENT, "no time of day in its head"
    for file in builder.FOLDER.rglob("*"):
        os.utime(file, (1, 1), follow_symlinks=False)
    assert sum_of(builder.portable()) == first


def test_what_nfpm_reads_has_the_age_of_the_commit(builder: ModuleType) -> None:
    builder._age(builder.FOLDER)
    found = (builder.FOLDER, *builder.FOLDER.rglob("*"))
    assert {int(one.lstat().st_mtime) for one in found} == {_MOMENT}


def test_only_the_program_can_be_run(builder: ModuleType) -> None:
    builder.plain_libraries()
    run = [one.name for one in builder.FOLDER.rglob("*") if one.is_file() and one.stat().st_mode & 0o111]
    assert run == ["context-inspector"]


def test_debian_reads_which_version_it_is(builder: ModuleType) -> None:
    text = builder.debian_changes()
    assert re.match(r"context-inspector \([\w.~]+-1\) unstable; urgency=medium\n\n  \* ", text)
    assert re.search(r"\n -- .+ <.+@.+>  Tue, 14 Nov 2023 22:13:20 \+0000\n$", text)


def test_users_get_the_guide_and_its_pictures(builder: ModuleType, tmp_path: Path) -> None:
    builder.guide(tmp_path / "guide")
    found = {str(one.relative_to(tmp_path / "guide")) for one in (tmp_path / "guide").rglob("*") if one.is_file()}
    assert {"README.md", "first-steps.md", "pictures/filter.png"} <= found
    assert {Path(one).suffix for one in found} == {".md", ".png"}
    assert (tmp_path / "SECURITY.md").is_file()
    pages = (tmp_path / "guide").glob("*.md")
    shown = [page.parent / link for page in pages for link in links(page) if link.endswith(".png")]
    assert len(shown) > 20
    assert [str(picture) for picture in shown if not picture.is_file()] == []


def test_what_the_builder_puts_in_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    some = metadata.distribution("pytest")  # the builder itself is not installed where tests run
    monkeypatch.setattr(metadata, "distribution", lambda _name: some)
    bootloader, hooks = licence_list.of_builder()
    assert "bootloader" in bootloader.name
    assert bootloader.licence == "GPL-2.0-or-later WITH Bootloader-exception, Apache-2.0"
    assert hooks.licence == "Apache-2.0"
    assert bootloader.text
    assert hooks.text


def test_the_openssl_that_cryptography_contains_is_listed() -> None:
    (openssl,) = licence_list.linked_into(["aiohttp", "cryptography"])
    assert openssl.name == "OpenSSL in cryptography"
    assert re.fullmatch(r"\d+\.\d+\.\w+", openssl.version)
    assert (openssl.licence, "Apache License" in openssl.text) == ("Apache-2.0", True)
    assert licence_list.linked_into(["aiohttp"]) == []


def test_where_there_is_no_git_it_is_made_now(builder: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    monkeypatch.setenv("PATH", "/nowhere")
    assert abs(builder.moment() - time.time()) < 60
