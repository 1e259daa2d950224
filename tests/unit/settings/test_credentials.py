"""Tests of `inspector.settings.credentials`."""

from __future__ import annotations

import asyncio
import logging
import sys
import traceback

import pytest

from inspector.settings import NamedConnection, credentials
from inspector.settings.credentials import KeyringError, TokenStore, account_name, gateway_of, system_backend
from inspector.sources.connection import Secret
from tests.keyrings import FakeKeyring, KeyringLocked, NoKeyringError


def named(url: str = "ws://127.0.0.1:8080", **more: str) -> NamedConnection:
    return NamedConnection.model_validate({"id": "0a1b", "name": "staging", "url": url, "space": "demo", **more})


def store(keyring: FakeKeyring) -> TokenStore:
    return TokenStore(lambda: keyring)


async def test_a_token_goes_in_and_comes_out_and_is_gone() -> None:
    keyring = FakeKeyring()
    tokens = store(keyring)
    assert await tokens.unavailable_reason() == ""
    await tokens.store_token("a", Secret("one"))
    await tokens.store_token("a", Secret("two"))
    assert (await tokens.read_token("a")).get_secret_value() == "two"
    await tokens.delete_token("a")
    await tokens.delete_token("a")
    assert keyring.entries == {}
    with pytest.raises(KeyringError, match="no longer holds this token"):
        await tokens.read_token("a")
    assert keyring.threads == {"system keyring"}


def test_a_token_belongs_to_one_gateway_whatever_the_name_and_the_space() -> None:
    assert account_name(named()) == "ws://127.0.0.1:8080 0a1b"
    assert account_name(named(name="other", space="other")) == account_name(named())
    assert account_name(named("ws://127.0.0.1:8080/path")) == account_name(named())
    assert account_name(named("wss://127.0.0.1:8080")) != account_name(named())
    assert account_name(named("ws://127.0.0.1:8081")) != account_name(named())


@pytest.mark.parametrize(
    ("address", "gateway"),
    [
        ("Host:8080", "ws://host:8080"),
        (" http://host/x?token=a ", "ws://host"),
        ("https://amy:secret@host:1/", "wss://host:1"),
        ("ws://[broken", ""),
    ],
)
def test_the_gateway_of_an_address_holds_no_secret(address: str, gateway: str) -> None:
    assert gateway_of(address) == gateway


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (KeyringLocked("Failed to unlock the collection!"), credentials.LOCKED["keep"]),
        (NoKeyringError("No recommended backend was available."), credentials.NO_KEYRING),
        (OSError("The bus went away.\nmore"), "could not be kept in the system keyring: The bus went away."),
        (ValueError("cannot store 'hush-hush'"), "could not be kept in the system keyring: ValueError."),
        (OSError(), "could not be kept in the system keyring: OSError."),
    ],
    ids=["locked", "none", "bus", "it quotes the token", "it says nothing"],
)
async def test_what_goes_wrong_is_a_sentence_without_the_token(error: Exception, sentence: str) -> None:
    keyring = FakeKeyring()
    keyring.error = error
    token = Secret("-".join(["hush"] * 2))  # not in one piece in this source, which a traceback quotes
    with pytest.raises(KeyringError) as failure:
        await store(keyring).store_token("a", token)
    assert sentence in str(failure.value)
    assert token.get_secret_value() not in "".join(traceback.format_exception(failure.value))
    assert failure.value.__context__ is None
    assert keyring.entries == {}


async def test_a_keyring_that_does_not_answer_holds_nothing_up(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    keyring = FakeKeyring(a="one")
    keyring.gate.clear()
    tokens = store(keyring)
    reading = asyncio.ensure_future(tokens.read_token("a"))  # noqa: TID251  cancelled here
    beats = 0
    for _ in range(20):
        await asyncio.sleep(0.001)
        beats += 1
    assert beats == 20
    assert not reading.done()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    keyring.gate.set()
    assert (await tokens.read_token("a")).get_secret_value() == "one"


def test_an_answer_after_the_end_of_the_loop_is_dropped() -> None:
    keyring = FakeKeyring(a="one")
    keyring.gate.clear()

    async def ask() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(store(keyring).read_token("a"), 0.01)

    asyncio.run(ask())
    keyring.gate.set()


async def test_without_the_library_the_program_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    tokens = TokenStore()
    assert await tokens.unavailable_reason() == credentials.NO_LIBRARY
    with pytest.raises(KeyringError, match="not installed"):
        await tokens.read_token("a")


class TestTheLibrary:
    """What `keyring` itself gives; needs it."""

    @pytest.fixture(autouse=True)
    def _library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        core = pytest.importorskip("keyring.core", reason="the keyring library is not installed here")
        monkeypatch.setattr(core, "_keyring_backend", None)

    async def test_no_keyring_at_all(self) -> None:
        assert await TokenStore().unavailable_reason() == credentials.NO_KEYRING

    @pytest.mark.parametrize(
        "backend", ["keyring.backends.null.Keyring", "tests.unit.settings.test_credentials.PlainFile"]
    )
    async def test_what_is_no_system_keyring_is_refused(self, monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", backend)
        assert await TokenStore().unavailable_reason() == credentials.FOREIGN

    async def test_a_wrong_configuration_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "no.such.Backend")
        assert "cannot be used: No module named 'no'" in await TokenStore().unavailable_reason()

    def test_the_system_s_own_is_taken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import keyring
        from keyring.backends.SecretService import Keyring

        monkeypatch.setattr(keyring, "get_keyring", Keyring)
        assert isinstance(system_backend(), Keyring)


def PlainFile() -> object:
    """Makes a backend that is somebody else's, as a configuration may name one."""
    from keyring.backends.fail import Keyring

    return type("PlaintextKeyring", (Keyring,), {})()


PlainFile.priority = 1  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
