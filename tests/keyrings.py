"""A keyring for tests: in memory, with the troubles that real ones have."""

from __future__ import annotations

import threading


class KeyringLocked(Exception):  # noqa: N818  the name the keyring library gives it
    """What the library raises when nobody unlocks the keyring."""


class NoKeyringError(RuntimeError):
    """What the library raises when there is none."""


class FakeKeyring:
    """Holds secrets by account; fails with `error` while there is one, and answers only while `gate` is open."""

    def __init__(self, **entries: str) -> None:
        self.entries: dict[tuple[str, str], str] = {
            ("Context Inspector", name): token for name, token in entries.items()
        }
        self.error: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.threads: set[str] = set()

    def _asked(self) -> None:
        self.threads.add(threading.current_thread().name)
        self.gate.wait(60)
        if self.error is not None:
            raise self.error

    def tokens(self) -> list[str]:
        return list(self.entries.values())

    def get_password(self, service: str, username: str) -> str | None:
        self._asked()
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._asked()
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._asked()
        del self.entries[service, username]
