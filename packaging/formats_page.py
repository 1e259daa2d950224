"""Makes the page "What it reads" of the pages in the folders of formats.

    python packaging/formats_page.py > docs/what-it-reads.md

A folder's `README.md` has the name of the files as its heading, one paragraph about them, and lists of versions and
sources. A further one, `- Compared:`, names the real files whose figures were counted independently.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # a script's own folder comes first

from inspector.formats import table  # noqa: E402 - the folder above is known from here on

_HEAD = """# What it reads

The program recognizes formats by content, line by line. It reads a mixed or damaged log as far as possible.

| format | for example |
|---|---|
"""
_FRAMES = """\
| A JSON array of any of these | An export, in any layout; also a gateway's `{"history":[...]}`, newest first |
| Objects indented, one after another | Output of `jq` |
| `.gz` and `.zst` of all of them; UTF-16 | Last night's rotated log; output of PowerShell's `>` |
| Standard input and pipes | `-` in place of a file name |
| Several logs, or a folder of them, as one | A gateway's log and its participants', a transcript and the taps of its \
servers, a live session and a log: each message once, with the sources that have it \
([Several sources](several-sources.md)) |
"""
_TAIL = """
Open logs with Ctrl+O, drop them on the window, or name them on the command line. Unreadable lines are shown,
counted and kept, never dropped.

- **A log in another format** is read by a [declaration](declared-formats.md): a TOML file that names the parts of
  a record. If that needs code, write a [plug-in](plug-ins.md).
- **A log of gigabytes** shows its first rows at once and its progress in the status bar. Esc stops reading. The rows
  read so far remain usable, and **Go on** reads the rest.
- **A log that grows** is followed: new lines appear as rows, also after the file is renamed, truncated or recreated.
  Each rotation is a separate row, a dashed line across the table.
- **A message of any size** is listed and shown at once. Above 1 MB the view shows its beginning and end. Filters and
  Find search all of it. *Save message as...* writes its exact bytes.
- The program never writes to a log. It copies archives, pipes and growing logs into the cache folder while they are
  open (`~/.cache/context-inspector` on Linux). Closing the window deletes the copies.

## Versions and sources

| format | versions | sources |
|---|---|---|
"""
_COMPARED = """
## Compared with real files

A separate script counted messages, calls, results, errors and tokens of these files, as far as a format has them. The
program's figures were compared with its counts. Files of others are not in the repository: its samples are invented.

| format | files |
|---|---|
"""
_END = """
Newer versions are read as well: a record of an unknown type is a row of its own. To add a format in code, see *Add a
format*, `inspector/formats/_skeleton/README.md` in the source.

This page is made of the pages in the folders of formats: `python packaging/formats_page.py > docs/what-it-reads.md`.
"""
_FROM_FOLDER = "../../../docs/"
"""Beginning of links in a folder's page to a page of the guide."""


class FolderPage(NamedTuple):
    """Parts of a folder's page, each on one line."""

    title: str
    about: str
    versions: str
    sources: str
    compared: str = ""


def read_page(path: Path) -> FolderPage:
    """Returns the parts of a folder's page. Raises ValueError if one is missing."""
    text = path.read_text(encoding="utf-8").replace(_FROM_FOLDER, "")
    found = re.fullmatch(
        r"# (?P<title>.+)\n\n(?P<about>(?:.+\n)+)\n"
        r"- Versions: (?P<versions>(?:.+\n)+?)- Sources: (?P<sources>(?:.+\n)+?)"
        r"(?:- Compared: (?P<compared>(?:.+\n)+))?(?:\n(?s:.*))?",
        text,
    )
    if found is None:
        raise ValueError(f"{path}: a heading, a paragraph, and lists `- Versions:` and `- Sources:` are needed")
    return FolderPage(*(" ".join((part or "").split()).removesuffix(".") for part in found.groups()))


def folder_pages() -> list[FolderPage]:
    """Returns the pages of the listed formats, in the order of the table."""
    modules = [one for one in vars(table).values() if getattr(one, "FORMAT", None) in table.FORMATS]
    folders = {module.FORMAT.name: Path(module.__file__).parent for module in modules}
    return [read_page(folders[one.name] / "README.md") for one in table.FORMATS]


def page() -> str:
    """The page in Markdown, with a line end at its end."""
    pages = folder_pages()
    rows = "".join(f"| {one.title} | {one.about} |\n" for one in pages)
    versions = "".join(f"| {one.title} | {one.versions} | {one.sources} |\n" for one in pages)
    compared = "".join(f"| {one.title} | {one.compared} |\n" for one in pages if one.compared)
    return "".join((_HEAD, rows, _FRAMES, _TAIL, versions, _COMPARED, compared, _END))


if __name__ == "__main__":
    sys.stdout.write(page())
