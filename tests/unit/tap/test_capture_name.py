"""Which file a tap writes, and the sentences where it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector.tap.capture_name import NotPossibleError, claim_file


def test_a_new_file_is_made_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "some" / "where" / "a.ctxcap"
    assert claim_file(str(path), "server", append=False) == (str(path), True)
    assert path.read_bytes() == b""
    assert claim_file(str(path), "server", append=False) == (str(path), False)  # empty: as good as new
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_folder_gets_files_of_different_names(tmp_path: Path) -> None:
    made = {claim_file(str(tmp_path), "/usr/bin/my server", append=False) for _ in range(3)}
    assert len(made) == 3
    assert all(Path(path).name.startswith("my-server 20") and is_made for path, is_made in made)


def test_a_home_folder_is_meant_where_no_shell_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert claim_file("~/a.ctxcap", "server", append=False)[0] == str(tmp_path / "a.ctxcap")


def test_what_exists_is_left_alone(tmp_path: Path) -> None:
    capture, other = tmp_path / "a.ctxcap", tmp_path / "other"
    capture.write_bytes(b'{"ctxcap":1}\n')
    other.write_bytes(b"diary")
    with pytest.raises(NotPossibleError, match=r"already holds 13 bytes\. Go on in it with --append"):
        claim_file(str(capture), "server", append=False)
    assert claim_file(str(capture), "server", append=True) == (str(capture), False)
    with pytest.raises(NotPossibleError, match="is no capture"):
        claim_file(str(other), "server", append=True)
    with pytest.raises(NotPossibleError, match="cannot be written"):
        claim_file(str(other / "a.ctxcap"), "server", append=False)
    assert other.read_bytes() == b"diary"
