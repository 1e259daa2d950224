"""Which file a tap writes, and the sentences where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from inspector.tap import capture_name
from inspector.tap.capture_name import NotPossibleError


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_name, "PATIENCE_S", 0.1)


def claim_file(output: str, program: str, *, append: bool) -> tuple[str, bool]:
    path, is_made, hold, _ = capture_name.claim_file(output, program, append=append)
    assert hold.file >= 0
    hold.release()
    return path, is_made


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
    for number in (2, 3):  # a client starts its server twice: each start has a file of its own
        beside = tmp_path / f"a-{number}.ctxcap"
        assert claim_file(str(capture), "server", append=False) == (str(beside), True)
        beside.write_bytes(b'{"ctxcap":1}\n')
    assert capture.read_bytes() == b'{"ctxcap":1}\n'
    assert claim_file(str(other), "server", append=False) == (str(tmp_path / "other-2"), True)
    assert claim_file(str(capture), "server", append=True) == (str(capture), False)
    with pytest.raises(NotPossibleError, match="is not a capture"):
        claim_file(str(other), "server", append=True)
    with pytest.raises(NotPossibleError, match="cannot be written"):
        claim_file(str(other / "a.ctxcap"), "server", append=False)
    assert other.read_bytes() == b"diary"


def test_a_file_that_another_tap_writes_is_not_gone_on_with_until_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    hold = capture_name.claim_file(str(path), "server", append=False).hold
    with pytest.raises(NotPossibleError, match=r"^Another tap writes .*a\.ctxcap\. Choose another name"):
        claim_file(str(path), "server", append=True)
    beside = capture_name.claim_file(str(path), "server", append=False)
    assert (beside.path, beside.is_beside) == (str(tmp_path / "a-2.ctxcap"), True)
    beside.hold.release()
    hold.release()
    assert claim_file(str(path), "server", append=True) == (str(path), False)


def test_a_tap_that_is_about_to_end_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_name, "PATIENCE_S", 10.0)
    path = tmp_path / "a.ctxcap"
    hold = capture_name.claim_file(str(path), "server", append=False).hold
    timer = threading.Timer(0.05, hold.release)
    timer.start()
    assert claim_file(str(path), "server", append=True) == (str(path), False)
    timer.join()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
@pytest.mark.timeout(100)
@pytest.mark.parametrize("append", [False, True])
def test_what_is_no_file_is_refused_and_never_read(append: bool, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), os.devnull):
        with pytest.raises(NotPossibleError, match="is not a regular file, so it cannot be a capture"):
            claim_file(path, "server", append=append)


@pytest.mark.real
def test_standard_output_is_no_place_for_a_capture(tmp_path: Path) -> None:
    with pytest.raises(NotPossibleError, match="Standard output belongs to the server"):
        claim_file("-", "server", append=False)
    script = (
        "import sys; from inspector.tap.capture_name import NotPossibleError, claim_file\n"
        "try: claim_file(sys.argv[1], 'server', append=False)\n"
        "except NotPossibleError as error: sys.stderr.write(str(error))\n"
    )
    path = tmp_path / "a.ctxcap"
    with path.open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)], stdout=out, stderr=subprocess.PIPE, text=True, check=True
        )
    assert done.stderr.startswith(f"The server's output goes to {path}, so it cannot be the capture.")
    assert path.read_bytes() == b""
