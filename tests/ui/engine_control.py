"""Serves an engine that uses the home folder, the patches and the plug-ins of the test that runs."""

from __future__ import annotations

import importlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspector.base.paths import HOME_VARIABLE
from inspector.engine import serve, wire
from inspector.engine.server import EngineServer
from inspector.plugins import loading
from inspector.settings.model import SwitchedPlugin
from tests.ui import engine_calls as engine_calls


class Control:
    """The home folder, the patches and the plug-ins of the present test."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._applied = b""
        self._plugins: tuple[SwitchedPlugin, ...] = ()
        self._originals: list[tuple[Any, str, Any]] = []

    def apply(self) -> None:
        """Applies them if the test has changed them."""
        data = self._path.read_bytes()
        if data == self._applied:
            return
        self._applied = data
        while self._originals:
            setattr(*self._originals.pop())
        os.environ[HOME_VARIABLE], patches, plugins = pickle.loads(data)
        if plugins != self._plugins:
            self._plugins = plugins
            loading.load(plugins)
        for (where, name), value in patches.items():
            module, _, owner_name = where.partition(":")
            owner: Any = importlib.import_module(module)
            owner = getattr(owner, owner_name) if owner_name else owner
            self._originals.append((owner, name, getattr(owner, name)))
            setattr(owner, name, value)


def serve_tests(control_file: Path) -> None:
    """Serves over standard input and output. The file has the home folder, the patches and the plug-ins."""
    control = Control(control_file)

    def prepared_server(send: Callable[[bytes], object], unsent_bytes: Callable[[], int]) -> EngineServer:
        server = prepare(send, unsent_bytes)
        receive = server.receive

        def receive_under_control(message: wire.ToEngine) -> None:
            control.apply()
            receive(message)

        server.receive = receive_under_control
        return server

    prepare, serve.prepared_server = serve.prepared_server, prepared_server
    serve.serve_stdio()
