"""What each part of the packaged program weighs, and what was cut: the report at the end of a build."""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

_PARTS = (
    ("ICU, which Qt needs for languages", ("libicu",)),
    ("Qt's Python modules", ("PySide6/Qt", "shiboken6", "libpyside6", "libshiboken6")),
    ("Qt's libraries and plugins", ("PySide6/Qt/", "libQt6")),
    ("OpenBLAS, which numpy is linked to", ("numpy.libs",)),
    ("numpy", ("numpy",)),
    ("cryptography, for the keyring", ("cryptography", "_cffi_backend")),
    ("pydantic", ("pydantic",)),
    ("tiktoken and its table", ("tiktoken", "regex")),
    ("DuckDB", ("_duckdb", "duckdb")),
    ("protobuf, for OTLP", ("google", "opentelemetry")),
    ("Python", ("libpython", "python3", "base_library", "libssl", "libcrypto", "libffi", "liblzma", "libbz2")),
    ("fonts and icons", ("inspector/_resources",)),
    ("the program itself", ("inspector/",)),
    ("its other Python libraries", ("",)),
)
"""Name of a part, and how the places of its files begin; the longest such beginning counts."""
_MB = 1_000_000


def report(folder: Path, left_out: Path, made: Iterable[Path]) -> str:
    """Sizes of the results, of parts of the folder as they are and compressed, and of what stayed out."""
    plain, packed = Counter[str](), Counter[str]()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink():
            place = str(file.relative_to(folder)).removeprefix("_internal/")
            data = file.read_bytes()
            plain[part(place)] += len(data)
            packed[part(place)] += len(lzma.compress(data, preset=1))
    cut = [line.split(maxsplit=1) for line in left_out.read_text("utf-8").splitlines()]
    lines = [f"{file.name:60} {file.stat().st_size / _MB:6.1f} MB" for file in made]
    lines += ["", f"{'part of the folder':44} {'MB':>6} {'packed':>8}"]
    lines += [f"{name:44} {size / _MB:6.1f} {packed[name] / _MB:8.1f}" for name, size in plain.most_common()]
    lines += [f"{'in all':44} {sum(plain.values()) / _MB:6.1f} {sum(packed.values()) / _MB:8.1f}", ""]
    lines += [f"left out: {len(cut)} files, {sum(int(size) for size, _ in cut) / _MB:.1f} MB, the largest:"]
    lines += [f"  {int(size) / _MB:6.1f} {place}" for size, place in cut[:12]]
    return "\n".join(lines) + "\n"


def part(place: str) -> str:
    """The part that a file belongs to."""
    fitting = [(len(start), name) for name, starts in _PARTS for start in starts if place.startswith(start)]
    # Of Qt, libicu lies among its libraries, and its Python modules beside them.
    if "/libicu" in place or place.startswith("libicu"):
        return _PARTS[0][0]
    return max(fitting)[1]
