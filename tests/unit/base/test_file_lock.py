"""Tests of `inspector.base.file_lock`: one holds, others see it, and it is free when its process has ended."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from threading import Timer
from types import SimpleNamespace

import pytest

from inspector.base import file_lock
from inspector.base.file_lock import FileLock, lock_descriptor

_ASKED = """
import os, sys
from inspector.base.file_lock import lock_descriptor
print(lock_descriptor(os.open(sys.argv[1], os.O_RDWR)))
"""


def _held_by_another(path: Path) -> bool:
    done = subprocess.run([sys.executable, "-c", _ASKED, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip() == "False"


@pytest.mark.real
def test_a_file_is_held_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "one"
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    assert lock_descriptor(descriptor)
    assert _held_by_another(path)
    os.close(descriptor)
    assert not _held_by_another(path)


def test_what_is_held_can_be_written_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_bytes(b"before ")
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    assert lock_descriptor(descriptor)
    os.write(descriptor, b"after")
    os.close(descriptor)
    assert path.read_bytes() == b"before after"


def test_a_lock_is_held_by_one_and_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    lock = FileLock.acquire(path)
    assert lock is not None
    assert FileLock.acquire(path, patience_s=0.05) is None
    Timer(0.1, lock.release).start()
    again = FileLock.acquire(path, patience_s=60)
    assert again is not None
    again.release()


def test_a_lock_that_was_removed_by_its_owner_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    owner = FileLock.acquire(path)
    assert owner is not None
    path.unlink()  # the owner's, while it holds it: who waits would hold a file that nobody sees
    other = FileLock.acquire(path)
    assert other is not None
    assert other.is_current
    assert not owner.is_current
    assert FileLock.acquire(path) is None
    owner.release()
    other.release()


def test_what_cannot_be_removed_while_it_is_open_is_removed_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each capture and spool a file was left on Windows."""
    lock = FileLock.acquire(tmp_path / "one.lock")
    assert lock is not None
    unlink = Path.unlink

    def refused(path: Path) -> None:
        if lock._descriptor >= 0:
            raise PermissionError(errno.EACCES, "in use")
        unlink(path)

    monkeypatch.setattr(Path, "unlink", refused)
    monkeypatch.setattr(file_lock, "sys", SimpleNamespace(platform="win32"))
    lock.remove()
    assert not lock.path.exists()


def test_a_lock_is_removed_while_it_is_held(tmp_path: Path) -> None:
    lock = FileLock.acquire(tmp_path / "one.lock")
    assert lock is not None
    lock.remove()
    assert not lock.path.exists()
    other = FileLock.acquire(lock.path)
    assert other is not None
    lock.remove()  # again: by then it is another's
    assert other.is_current
    other.release()


def test_where_nothing_can_be_held_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(file_lock, "_lock_exclusively", no_locks)
    with pytest.raises(OSError, match="No locks"):
        FileLock.acquire(tmp_path / "one.lock")
    with pytest.raises(OSError, match="No such file"):
        FileLock.acquire(tmp_path / "gone" / "one.lock")
