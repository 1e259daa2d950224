"""Tokens of kept connections: in the operating system's keyring and nowhere else (docs/design.md 4, secrets).

The keyring may have to ask the user for a password, and it talks over D-Bus: a call can take minutes, or for ever. So
each runs in a thread of its own that nobody waits for at the end of the program, never on the loop. The `keyring`
library (with its cryptography, some 200 ms of imports) is loaded by the first call, in that thread.

What it does without a keyring, measured with keyring 25.7: no D-Bus or no service gives its `fail` backend
(NoKeyringError); a locked one that nobody unlocks gives KeyringLocked. Its configuration may also name backends that
write plain files or nothing at all; those are refused here.
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
"""What the keyring files our entries under; its own tools show it."""

SYSTEM_BACKENDS = ("SecretService", "libsecret", "kwallet", "macOS", "Windows")
"""Modules of `keyring.backends` that are an operating system's keyring."""

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
    """The keyring cannot be used; the text is a sentence or two for the user and holds no secret."""


class Backend(Protocol):
    """The part of a backend of `keyring` that is used. Any call may block, and may raise anything."""

    def get_password(self, service: str, username: str) -> str | None:
        """The secret, or None when there is none."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Put in a secret, in place of one that is there."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Remove a secret; raises when there is none."""
        ...


def account(connection: NamedConnection) -> str:
    """Name of a connection's entry in the keyring: where its token may be sent, and whose it is.

    The address is part of it, so that a token never goes to another gateway than the one it was kept for, however
    the settings came to name another one. The space and the connection's name are not: they may change.
    """
    return f"{gateway_of(connection.url)} {connection.id}"


def gateway_of(url: str) -> str:
    """Scheme, host and port of an address as typed or stored, lower case: the gateway that gets a token."""
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text else f"ws://{text}")
    except ValueError:
        return ""
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme.lower(), parts.scheme.lower())
    return f"{scheme}://{parts.netloc.rpartition('@')[2].lower()}"


class TokenStore:
    """Reads and writes tokens. One for the application; its calls wait for each other, the loop waits for none."""

    def __init__(self, open_backend: Callable[[], Backend] | None = None) -> None:
        """Prepare; nothing is loaded or asked yet.

        Args:
            open_backend: gives the keyring, or raises `KeyringError`; `system_backend` by default.
        """
        self._open = open_backend or system_backend
        self._backend: Backend | None = None
        self._lock = threading.Lock()

    async def trouble(self) -> str:
        """Why no token can be kept here, or "" when one can as far as is known without unlocking anything."""
        try:
            await _apart(self._ready)
        except KeyringError as error:
            return str(error)
        return ""

    async def read(self, name: str) -> Secret:
        """The token of an account.

        Raises:
            KeyringError: there is no keyring, it is locked, or it holds no such token.
        """
        found = await _apart(lambda: self._call("read", lambda backend: backend.get_password(SERVICE, name)))
        if not found:
            raise KeyringError(GONE)
        return Secret(found)

    async def keep(self, name: str, token: Secret) -> None:
        """Put a token in, in place of the one that is there.

        Raises:
            KeyringError: it is not kept.
        """
        secret = token.get_secret_value()
        await _apart(lambda: self._call("keep", lambda backend: backend.set_password(SERVICE, name, secret), secret))

    async def forget(self, name: str) -> None:
        """Remove a token; fine when there is none.

        Raises:
            KeyringError: the keyring could not be asked.
        """
        await _apart(lambda: self._call("remove", lambda backend: _remove(backend, name)))

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
            except Exception as error:  # noqa: BLE001  backends raise what their systems give them
                sentence = _sentence(what, error, secret)
        # Out of the handler: what a backend says, and the values its frames hold, must not come along as a context.
        raise KeyringError(sentence)


def system_backend() -> Backend:
    """The operating system's keyring. Blocks while the library loads and D-Bus answers.

    Raises:
        KeyringError: there is none, or another than the system's is set up.
    """
    try:
        import keyring
        from keyring.backends import chainer, fail
    except ImportError:
        raise KeyringError(NO_LIBRARY) from None
    try:
        found = keyring.get_keyring()
        backends = list(found.backends) if isinstance(found, chainer.ChainerBackend) else [found]
    except Exception as error:  # noqa: BLE001  a configuration may name anything
        sentence = _sentence("open", error)
    else:
        for backend in backends:
            package, _, module = type(backend).__module__.rpartition(".")
            if package == "keyring.backends" and module in SYSTEM_BACKENDS:
                return cast("Backend", backend)
        none = not backends or type(found) is fail.Keyring
        sentence = NO_KEYRING if none else FOREIGN
    raise KeyringError(sentence)


def _remove(backend: Backend, name: str) -> None:
    # A backend says in its own way that there is nothing to remove.
    if backend.get_password(SERVICE, name) is not None:
        backend.delete_password(SERVICE, name)


def _sentence(what: str, error: Exception, secret: str = "") -> str:
    """What went wrong, in words; never with the secret, whatever a backend says."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if "KeyringLocked" in names:
        return LOCKED[what]
    if "NoKeyringError" in names:
        return NO_KEYRING
    lines = str(error).strip().splitlines()
    reason = lines[0][:160].rstrip(". ") if lines else type(error).__name__
    if secret and secret in str(error):
        reason = type(error).__name__
    done = {"read": "read from", "keep": "kept in", "remove": "removed from"}.get(what)
    if done is None:
        return f"The system keyring cannot be used: {reason}."
    return f"The token could not be {done} the system keyring: {reason}."


async def _apart(call: Callable[[], Result]) -> Result:
    """Run a call in a daemon thread: one that never returns holds up neither the loop nor the end of the program.

    Not the loop's executor, whose threads are waited for at the end. Cancelled, the call goes on, and its result is
    dropped.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def deliver(result: Result | None, failure: BaseException | None) -> None:
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
        except BaseException as error:  # noqa: BLE001  whatever it is, somebody waits for an answer
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile, and with it whoever asked
            loop.call_soon_threadsafe(deliver, result, failure)

    threading.Thread(target=run, name="system keyring", daemon=True).start()
    return await done
