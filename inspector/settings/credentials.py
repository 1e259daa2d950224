"""Tokens of kept connections, stored only in the operating system's keyring (docs/design.md 4, secrets).

The keyring may ask the user for a password, and it uses D-Bus: a call can take minutes, or never return. So each call
runs in a daemon thread, never on the loop. The first call loads the `keyring` library in that thread (some 200 ms of
imports with its cryptography).

Without a keyring, measured with keyring 25.7: a missing D-Bus or service gives the `fail` backend (NoKeyringError); a
keyring that stays locked gives KeyringLocked. Its configuration may also name backends that write plain files or
discard everything; these are refused here.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar, cast
from urllib.parse import urlsplit

from inspector.settings import NamedConnection
from inspector.sources.connection import Secret

SERVICE = "Context Inspector"
"""Service name of the entries, visible in the keyring's own tools."""

SYSTEM_BACKENDS = ("SecretService", "libsecret", "kwallet", "macOS", "Windows")
"""Modules of `keyring.backends` for an operating system's keyring."""

NO_LIBRARY = "The keyring library is not installed, so the token is not kept: it is asked for each time."
NO_KEYRING = "No system keyring was found here, so the token is not kept: it is asked for each time."
FOREIGN = "The keyring set up here is not the system's own, so the token is not kept: it is asked for each time."
LOCKED = {
    "open": "The system keyring is locked, so the token is not kept: it is asked for each time.",
    "read": "The system keyring is locked. Unlock it and try again, or type the token.",
    "keep": "The system keyring is locked, so the token was not kept.",
    "remove": "The system keyring is locked, so the token is still in it; remove it there.",
}
GONE = "The system keyring no longer holds this token. Type it once more."

Result = TypeVar("Result")


class KeyringError(Exception):
    """The keyring cannot be used; the text is a sentence or two for the user without secrets."""


class Backend(Protocol):
    """The used part of a `keyring` backend. Any call may block or raise anything."""

    def get_password(self, service: str, username: str) -> str | None:
        """Returns the secret."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Stores a secret, replacing an old one."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Deletes a secret; raises if there is none."""
        ...


def account_name(connection: NamedConnection) -> str:
    """Returns the name of a connection's keyring entry: its gateway's address and its id.

    The address is included, so that a token never goes to another gateway, whatever the settings name. The space and
    the connection's name are not included, since they may change.
    """
    return f"{gateway_of(connection.url)} {connection.id}"


def gateway_of(url: str) -> str:
    """Returns scheme, host and port of an address, lower case: the gateway that receives the token."""
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text else f"ws://{text}")
    except ValueError:
        # `urlsplit` refuses a bracket that is not closed.
        return ""
    # Both names of a scheme reach the same gateway, so they share the token.
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme.lower(), parts.scheme.lower())
    return f"{scheme}://{parts.netloc.rpartition('@')[2].lower()}"


class TokenStore:
    """Reads and writes tokens. One per application; calls are serialized, and never block the loop."""

    def __init__(self, open_backend: Callable[[], Backend] | None = None) -> None:
        """Creates a store without loading the library.

        Args:
            open_backend: returns the keyring, or raises `KeyringError`; `system_backend` by default.
        """
        self._open = open_backend or system_backend
        self._backend: Backend | None = None
        self._lock = threading.Lock()

    async def unavailable_reason(self) -> str:
        """Returns the reason why no token can be stored, or ""; unlocks no keyring."""
        try:
            # The keyring is only opened: reading a token could ask for its password.
            await _run_in_thread(self._ready)
        except KeyringError as error:
            return str(error)
        return ""

    async def read_token(self, name: str) -> Secret:
        """Returns the token of an account.

        Raises:
            KeyringError: if there is no keyring, it is locked, or it has no such token.
        """
        found = await _run_in_thread(lambda: self._call("read", lambda backend: backend.get_password(SERVICE, name)))
        if not found:
            raise KeyringError(GONE)
        return Secret(found)

    async def store_token(self, name: str, token: Secret) -> None:
        """Stores a token, replacing an old one.

        Raises:
            KeyringError: if it is not stored.
        """
        secret = token.get_secret_value()
        await _run_in_thread(
            lambda: self._call("keep", lambda backend: backend.set_password(SERVICE, name, secret), secret)
        )

    async def delete_token(self, name: str) -> None:
        """Deletes a token, if there is one.

        Raises:
            KeyringError: if the keyring fails.
        """
        await _run_in_thread(lambda: self._call("remove", lambda backend: _remove(backend, name)))

    # In the thread

    def _ready(self) -> Backend:
        with self._lock:
            return self._opened()

    def _opened(self) -> Backend:
        if self._backend is None:
            self._backend = self._open()
        return self._backend

    def _call(self, what: str, call: Callable[[Backend], Result], secret: str = "") -> Result:
        with self._lock:
            try:
                return call(self._opened())
            except KeyringError:
                raise
            except Exception as error:  # noqa: BLE001 - backends raise errors of their systems
                sentence = _sentence(what, error, secret)
        # Raised outside the handler, so that the backend's message and frames are not attached as context.
        raise KeyringError(sentence)


def system_backend() -> Backend:
    """Returns the operating system's keyring. Blocks while the library loads and D-Bus answers.

    Raises:
        KeyringError: if there is none, or another one than the system's is configured.
    """
    # Imported late: the library loads its backends, which may take seconds.
    try:
        import keyring
        from keyring.backends import chainer, fail
    except ImportError:
        raise KeyringError(NO_LIBRARY) from None
    try:
        found = keyring.get_keyring()
        backends = list(found.backends) if isinstance(found, chainer.ChainerBackend) else [found]
    except Exception as error:  # noqa: BLE001 - a configuration may name anything
        sentence = _sentence("open", error)
    else:
        for backend in backends:
            # Other backends may store secrets in plain files.
            package, _, module = type(backend).__module__.rpartition(".")
            if package == "keyring.backends" and module in SYSTEM_BACKENDS:
                return cast("Backend", backend)
        none = not backends or type(found) is fail.Keyring
        sentence = NO_KEYRING if none else FOREIGN
    raise KeyringError(sentence)


def _remove(backend: Backend, name: str) -> None:
    # Backends report a missing entry in different ways, so check first.
    if backend.get_password(SERVICE, name) is not None:
        backend.delete_password(SERVICE, name)


def _sentence(what: str, error: Exception, secret: str = "") -> str:
    """Returns an error as a sentence, never with the secret."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if "KeyringLocked" in names:
        return LOCKED[what]
    if "NoKeyringError" in names:
        return NO_KEYRING
    lines = str(error).strip().splitlines()
    reason = lines[0][:160].rstrip(". ") if lines else type(error).__name__
    # Some backends put the value into their message.
    if secret and secret in str(error):
        reason = type(error).__name__
    done = {"read": "read from", "keep": "kept in", "remove": "removed from"}.get(what)
    if done is None:
        return f"The system keyring cannot be used: {reason}."
    return f"The token could not be {done} the system keyring: {reason}."


async def _run_in_thread(call: Callable[[], Result]) -> Result:
    """Runs a call in a daemon thread: one that never returns blocks neither the loop nor the exit.

    The loop's executor would wait for its threads at exit. After a cancellation the call continues, and its result is
    dropped.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def deliver(result: Result | None, failure: BaseException | None) -> None:
        # The waiting task was cancelled meanwhile.
        if done.done():
            return
        if failure is not None:
            done.set_exception(failure)
        else:
            done.set_result(cast("Result", result))

    def run() -> None:
        result: Result | None = None
        failure: BaseException | None = None
        try:
            result = call()
        except BaseException as error:  # noqa: BLE001 - the caller waits for an answer, whatever the error
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(deliver, result, failure)

    threading.Thread(target=run, name="system keyring", daemon=True).start()
    return await done
