"""One run of the benchmarks: its sizes, its generated logs and what was measured so far."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.bench import generate, mixes, process
from tests.bench.process import NotMeasuredError
from tests.bench.sizes import Sizes

_ROOM_LEFT = 2_000_000_000
"""Bytes that stay free on the disk whatever is generated."""


class Bench:
    """Generates each log once, measures each thing once, and removes everything at the end.

    Attributes:
        sizes: how much is measured.
        folder: temporary; all generated files lie in it.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self._temporary = tempfile.TemporaryDirectory(prefix="inspector-bench-")
        self.folder = Path(self._temporary.name)
        self._found: dict[tuple[object, ...], dict[str, Any]] = {}

    def log(self, kind: str, messages: int) -> Path:
        """A generated log.

        Args:
            kind: `envelopes`, `gateway-log`, or `mix:` and the name of one.
            messages: how many.

        Raises:
            NotMeasuredError: there is no room for it.
        """
        folder = self.folder / f"{kind}-{messages}"
        path = folder / ("envelope-history.jsonl" if kind == "gateway-log" else "envelopes.jsonl")
        if not path.exists():
            self.need_room(generate.size_of(kind, messages))
            folder.mkdir()
            if kind.startswith("mix:"):
                return mixes.write(kind.removeprefix("mix:"), messages, path)
            write = generate.write_gateway_log if kind == "gateway-log" else generate.write_envelopes
            write(path, messages)
        return path

    def drop(self, kind: str, messages: int) -> None:
        """Remove a generated log that nothing needs any more."""
        shutil.rmtree(self.folder / f"{kind}-{messages}", ignore_errors=True)

    def need_room(self, size: float) -> None:
        """Raise NotMeasuredError when so many bytes do not fit on the disk of the temporary folder."""
        free = shutil.disk_usage(self.folder).free
        if free < size + _ROOM_LEFT:
            raise NotMeasuredError(
                f"{size / 1e9:.1f} GB are needed, {free / 1e9:.1f} GB are free in {self.folder.parent}"
            )

    def measure(self, module: str, *arguments: object, timeout_s: float = 900) -> dict[str, Any]:
        """What a measurement finds; measured once for the same arguments. Raises NotMeasuredError."""
        key = (module, *map(str, arguments))
        if key not in self._found:
            print(f"  {module} {' '.join(Path(str(a)).name for a in arguments)}", file=sys.stderr, flush=True)
            self._found[key] = process.measure(module, *arguments, timeout_s=timeout_s)
        return self._found[key]

    def found(self) -> dict[str, dict[str, Any]]:
        """Everything measured, by module and arguments."""
        return {" ".join((str(key[0]), *(Path(str(a)).name for a in key[1:]))): one for key, one in self._found.items()}

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._temporary.cleanup()
