"""`context-inspector tap --model -- COMMAND`: starts a client with its model API calls routed through a tap.

It sets the variables that clients read the API's address from, for this start only, so that no cleanup is needed. The
client keeps its terminal; messages are printed after it has ended.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PureWindowsPath
from typing import NamedTuple

from inspector.base.async_tasks import start_task
from inspector.formats.clients import ModelApi
from inspector.formats.table import FORMATS, MODEL_APIS
from inspector.tap.capture_name import NotPossibleError
from inspector.tap.http.address import AddressError, Listening, upstream_of
from inspector.tap.http.ports import listened
from inspector.tap.http.run import Door, HttpTap, close_tap
from inspector.tap.relay import BAD_USAGE, NOT_FOUND, NOT_RUN, is_from_terminal, open_window, print_notice

_CLIENTS = tuple(one.model_client for one in FORMATS if one.model_client is not None)
"""Clients for which variables are not enough."""
_FORWARDED_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_SILENCE_S = 10.0
_CHECK = (
    "Check the client's settings for another address or a cloud API (Bedrock, Azure), and whether "
    "it is signed in to another API than that of its key. The tap has set: {variables}. "
    "For a client that takes its address elsewhere: context-inspector tap --http ADDRESS --model."
)


class ModelTapArguments(NamedTuple):
    """Arguments of `context-inspector tap --model`."""

    output: str
    """File to create, or a folder to create one in."""
    command: tuple[str, ...]
    """The client's command and its arguments."""
    show: bool = False
    """Open the window on the capture."""


def run_model_tap(arguments: ModelTapArguments) -> int:
    """Runs the client until it ends. Returns its exit code, negative for the signal that killed it."""
    # Checked before ports are taken and a capture is created.
    if shutil.which(arguments.command[0]) is None:
        print_notice(f"There is no program {arguments.command[0]}.")
        return NOT_FOUND
    reasons = (client.why_refused(arguments.command, os.environ) for client in _CLIENTS)
    refused = next(filter(None, reasons), "")
    if refused:
        print_notice(refused)
        return BAD_USAGE
    said: list[str] = []
    try:
        doors = _listeners(os.environ)
        name = PureWindowsPath(arguments.command[0]).stem
        tap = HttpTap([*doors.values()], arguments.output, name=name, model=True, say=said.append)
    except (AddressError, NotPossibleError) as error:
        print_notice(str(error))
        return BAD_USAGE
    code = asyncio.run(_run(tap, doors, arguments, said))
    # Collected until now: the client may draw on the whole terminal.
    for sentence in dict.fromkeys(said):
        print_notice(sentence)
    return code


def environment_for(doors: Mapping[ModelApi, Door], environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the client's environment with the addresses of model APIs set to the tap."""
    made = dict(environment)
    for api, door in doors.items():
        # Clients append their own path, so the address must not end with a slash.
        made |= dict.fromkeys(api.variables, door.address.rstrip("/"))
    # the client must ask the tap directly; the tap uses the proxy itself
    if any(name.lower().endswith("_proxy") for name in made):
        for name in ("NO_PROXY", "no_proxy"):
            made[name] = ",".join(filter(None, (made.get(name), "127.0.0.1")))
    return made


def _listeners(environment: Mapping[str, str]) -> dict[ModelApi, Door]:
    doors: dict[ModelApi, Door] = {}
    try:
        for api in MODEL_APIS:
            named = next((environment[name] for name in api.variables if environment.get(name)), "")
            address = named or _own_address(api, environment)
            if address:
                upstream = upstream_of(address)
                listener = listened(Listening("127.0.0.1", 0))
                doors[api] = Door(upstream, Listening("127.0.0.1", listener.getsockname()[1]), listener)
    except AddressError:
        for door in doors.values():
            door.listener.close()
        raise
    return doors


def _own_address(api: ModelApi, environment: Mapping[str, str]) -> str:
    region = environment.get("GOOGLE_CLOUD_LOCATION", "global")
    return api.regional.format(region) if api.regional and region != "global" else api.address


async def _report_silence(tap: HttpTap, doors: Mapping[ModelApi, Door]) -> None:
    """Prints a notice if no call came for a while, unless the client may be drawing on the terminal."""
    await asyncio.sleep(_SILENCE_S)
    if not tap.has_recorded and not os.isatty(2):
        print_notice(f"No model call yet, after {_SILENCE_S:.0f} seconds. {_advice(doors)}")


def _advice(doors: Mapping[ModelApi, Door]) -> str:
    return _CHECK.format(variables=", ".join(name for api in doors for name in api.variables))


async def _run(tap: HttpTap, doors: Mapping[ModelApi, Door], arguments: ModelTapArguments, said: list[str]) -> int:
    words = list(arguments.command)
    for client in _CLIENTS:
        words = client.with_addresses(words, {api: door.address.rstrip("/") for api, door in doors.items()})
    if sys.platform == "win32":
        words[0] = shutil.which(words[0]) or words[0]  # scripts of npm are .cmd files there
    await tap.start()
    try:
        # The client shares our terminal and process group, so that a terminal's keys reach it.
        process = await asyncio.create_subprocess_exec(*words, env=environment_for(doors, os.environ))
    except OSError as error:
        await tap.close("the client could not be started")
        said.append(f"{words[0]} cannot be started: {error.strerror or error}.")
        return NOT_RUN
    hurried = asyncio.Event()
    _pass_signals_on(process, hurried)
    if arguments.show:
        open_window(tap.path, said.append)
    silence = start_task(_report_silence(tap, doors), name="report that no request came")
    code = await process.wait()
    silence.cancel()
    how = f"the client ended with exit code {code}" if code >= 0 else f"the client was ended by signal {-code}"
    await close_tap(tap, how, hurried, say=said.append)
    said.append(
        f"The model calls are in {tap.path}." if tap.has_recorded else
        f"There was no model call, and {tap.path} is empty. {_advice(doors)}"
    )  # fmt: skip
    return code


def _pass_signals_on(process: asyncio.subprocess.Process, hurried: asyncio.Event) -> None:
    """Passes signals on to the client, except for keys of a terminal. After its end they hurry the tap."""

    def passed(number: int) -> None:
        if process.returncode is not None:
            hurried.set()
        elif not is_from_terminal(number):
            with suppress(ProcessLookupError):
                process.send_signal(number)

    loop = asyncio.get_running_loop()
    for number in _FORWARDED_SIGNALS:
        try:
            loop.add_signal_handler(number, passed, number)
        except NotImplementedError:  # Windows: a console's events reach all its processes
            signal.signal(number, signal.SIG_IGN)
