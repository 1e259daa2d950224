"""Reads the user's declarations: `formats/*.toml` in the settings folder, and files named on the command line.

Every start of the program looks into the folder, so the readers are imported only if a declaration is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.base import paths

if TYPE_CHECKING:
    from inspector.formats.format import Format

FOLDER, SUFFIX = "formats", ".toml"


class DeclarationFileError(Exception):
    """A file of a declaration cannot be read, or has faults; the text is a sentence for the user.

    Attributes:
        summary: one line of it, with the first fault.
    """

    def __init__(self, text: str, summary: str = "") -> None:
        super().__init__(text)
        self.summary = summary or text


@dataclass(frozen=True, slots=True)
class DeclarationFile:
    """A file of the settings folder.

    Attributes:
        path: of the file.
        format: the format that it declares; None with faults.
        problem: a sentence about its first fault; empty without any.
    """

    path: Path
    format: Format | None
    problem: str = ""


def declarations_folder() -> Path:
    """Returns the folder of the user's declarations; it may not exist."""
    return paths.config_folder() / FOLDER


def read_declaration(path: Path) -> str:
    """Returns the text of a declaration. Raises DeclarationFileError."""
    from inspector.formats.declared.declaration import MAX_BYTES

    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DeclarationFileError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(data) > MAX_BYTES:
        raise DeclarationFileError(f"{path} is no declaration of a format: it has more than {MAX_BYTES:,} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DeclarationFileError(f"{path} is no declaration of a format: it is not UTF-8 text.") from None


def register_file(path: Path) -> Format:
    """Adds the format that a file declares to the registry. Raises DeclarationFileError."""
    from inspector.formats.declared.declaration import DeclarationError
    from inspector.formats.declared.format_maker import register_declaration

    text = read_declaration(path)
    try:
        return register_declaration(text)
    except DeclarationError as error:
        head, faults = f"{path} declares no format:", "".join(f"\n  {fault}" for fault in error.faults)
        raise DeclarationFileError(head + faults, f"{head} {error.faults[0]}.") from None


def register_folder() -> list[DeclarationFile]:
    """Adds the formats of the settings folder to the registry, by file name; returns its files with their problems."""
    found: list[DeclarationFile] = []
    names: dict[str, Path] = {}
    try:
        files = sorted(declarations_folder().glob(f"*{SUFFIX}"))
    except OSError:
        return []
    for path in files:
        try:
            made = register_file(path)
        except DeclarationFileError as error:
            found.append(DeclarationFile(path, None, error.summary))
            continue
        first = names.setdefault(made.name, path)
        problem = f"{path} replaces {first.name}: both declare {made.name}." if first != path else ""
        found.append(DeclarationFile(path, made, problem))
    return found
