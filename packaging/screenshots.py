"""Retakes the pictures of the README and the guide: `make screenshots`, or some of them (`--only tokens`).

Each is a picture of `context-inspector screenshot`, cut to the topic of its page. It is saved with 256 colours, in a
third of the space and without a visible difference. To add one: a line in PICTURES, and its place in a page;
`tests/unit/test_docs.py` looks that both are there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, it stands in its own folder

from inspector.analysis.passes.user_marks import Note
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import MarksFile

ROOT = Path(__file__).parents[1]
DEMO = "tests/data/captures/demo-round.ctxcap"
LOOP = "tests/data/captures/loop-mcp.jsonl"
WIRE = "tests/data/captures/model-wire.jsonl"
CODER = "tests/data/recordings/mew/coding-agent/envelope-history.jsonl"
SESSIONS = "tests/data/msp/weekly-report.json"
TOGETHER = "tests/data/together/invoices.ctxsources"
ORDERS = "tests/data/transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10"
TRACE = "tests/data/otlp/openai-agents-openinference-2.6.0.jsonl"
TOUR = "tests/data/recordings/mcp/py2-http-legacy-2025-11-25.jsonl"
MCP_RUNS = "tests/data/recordings/mcp"
RUNE = "tests/data/recordings/mcp-rune/01-loop-current-names.jsonl"


class Picture(NamedTuple):
    """One picture.

    Attributes:
        file: where it goes, from the root of the repository.
        log: the log to open.
        options: of the command `screenshot`.
        cut: left, top, width and height of the part that is kept; None for the whole window.
        notes: messages that are marked, by number, with a comment or none.
        surveyed: a survey of it is opened, and not the log, or the folder of logs, itself.
        replaced: texts of the log, and others in their place, in a copy that is compared with it.
    """

    file: str
    log: str
    options: tuple[str, ...]
    cut: tuple[int, int, int, int] | None = None
    notes: tuple[tuple[int, str], ...] = ()
    surveyed: bool = False
    replaced: tuple[tuple[str, str], ...] = ()


_MAIN = ("--select", "106", "--expand", "--hints")
_READ = ("--view", "conversation", "--select", "31")
_TIMELINE = ("--select", "106", "--view", "timeline", "--size", "1440x900")
_LOW = ("--size", "1280x620")
_CENTER = (213, 100, 754, 676)
_CENTER_AND_DETAILS = (213, 100, 1067, 496)
_ALL_PANES = (0, 100, 1280, 496)
_BELOW = (213, 579, 1067, 197)
MISSED = (
    ("Three places round", "Two places round"), (r"- `src/invoices.py:8` rounds each **line**\n", ""),
    ("The invoice rounds each line, the order the sum: that is the cent. I'll round each line.",
     "Order and cart round the sum alike. I'll round with more digits."),
    (r"        # Each line is rounded, as the invoice shows it.\n        return sum(rounded(line.price * line.count)",
     r"        return round(sum(line.price * line.count"),
)  # fmt: skip
"""A run whose sub-agent missed the invoice, so that the agent rounds in the wrong place."""

PICTURES = (
    Picture("resources/screenshots/main-light.png", DEMO, (*_MAIN, "--theme", "light")),
    Picture("resources/screenshots/main-dark.png", DEMO, (*_MAIN, "--theme", "dark")),
    Picture("resources/screenshots/conversation-light.png", ORDERS, (*_READ, "--theme", "light")),
    Picture("resources/screenshots/conversation-dark.png", ORDERS, (*_READ, "--theme", "dark")),
    Picture("docs/pictures/overview.png", ORDERS, ("--view", "overview", "--size", "1280x900")),
    Picture("docs/pictures/steps.png", ORDERS, ("--view", "steps", "--select", "8", *_LOW)),
    Picture("docs/pictures/files.png", ORDERS, ("--view", "files", "--select", "31", *_LOW)),
    Picture("resources/screenshots/timeline-light.png", DEMO, (*_TIMELINE, "--theme", "light")),
    Picture("docs/pictures/welcome.png", DEMO, ("--select", "2", *_LOW), _ALL_PANES),
    Picture("docs/pictures/what-happened.png", CODER, (), (213, 100, 1067, 676)),
    Picture("docs/pictures/tapped.png", LOOP, ("--select", "11", "--hints", *_LOW), _CENTER_AND_DETAILS),
    Picture("docs/pictures/trace.png", TRACE, ("--select", "14", *_LOW), _ALL_PANES),
    Picture(
        "docs/pictures/tapped-server.png", TOUR, ("--select", "13", "--participant", "server"), _CENTER_AND_DETAILS
    ),
    Picture(
        "docs/pictures/tool-changed.png", TOUR, ("--select", "132", "--panel", "findings", "--theme", "dark"),
        (213, 100, 1067, 676),
    ),
    Picture("docs/pictures/tokens.png", DEMO, ("--panel", "tokens"), _BELOW),
    Picture("docs/pictures/model-sees.png", DEMO, ("--select", "106", "--view", "model sees"), _CENTER),
    Picture("docs/pictures/model-wire.png", WIRE, ("--select", "35", "--view", "model sees"), (213, 100, 754, 500)),
    Picture(
        "docs/pictures/model-wire-compared.png", WIRE,
        ("--select", "61", "--view", "model sees", "--compare", "47", "--theme", "dark"), (213, 100, 754, 570),
    ),
    Picture("docs/pictures/waste.png", RUNE, ("--panel", "waste"), (213, 579, 1067, 106)),
    Picture("docs/pictures/chain.png", CODER, ("--select", "25", *_LOW), _CENTER_AND_DETAILS),
    Picture("docs/pictures/findings.png", CODER, ("--select", "22", "--panel", "findings")),
    Picture(
        "docs/pictures/marks.png", DEMO, ("--select", "97", "--panel", "marks", *_LOW), _CENTER_AND_DETAILS,
        notes=((51, "the question"), (97, "96 % of its window: what is all that?"), (106, "")),
    ),
    Picture(
        "docs/pictures/filter.png", DEMO,
        ("--select", "105", "-Y", 'kind like "mcp/*:tools/call" && from == "analyst"'), (0, 30, 1280, 330),
    ),
    Picture("docs/pictures/several-sources.png", TOGETHER, ("--select", "14", "--panel", "sources", "--theme", "dark")),
    Picture(
        "docs/pictures/while-waiting.png", TOGETHER, ("--select", "14", "--size", "1280x720"), (213, 100, 1067, 590)
    ),
    Picture(
        "docs/pictures/while-waiting-lanes.png", TOGETHER, ("--select", "14", "--view", "timeline"),
        (213, 100, 754, 350),
    ),
    Picture("docs/pictures/agent-work.png", ORDERS, ("--select", "8", "--theme", "dark")),
    Picture("docs/pictures/compare.png", f"{ORDERS}.jsonl", ("--size", "1280x800"), replaced=MISSED),
    Picture("docs/pictures/agent-edit.png", ORDERS, ("--select", "31", *_LOW), _CENTER_AND_DETAILS),
    Picture(
        "docs/pictures/agent-compacted.png", ORDERS, ("--select", "146", "--view", "model sees"), (213, 100, 754, 480)
    ),
    Picture("docs/pictures/runs.png", MCP_RUNS, _LOW, surveyed=True),
    Picture("docs/pictures/sub-sessions.png", SESSIONS, ("--view", "sub-sessions"), (213, 100, 1067, 676)),
)  # fmt: skip


def take(picture: Picture, folder: Path) -> None:
    """Take a picture and put it where it belongs; `folder` is for what lies about meanwhile."""
    whole = folder / "whole.png"
    log = picture.log if not picture.notes else str(with_notes(ROOT / picture.log, picture.notes, folder))
    if picture.surveyed:
        log = str(folder / "survey")
        run("survey", picture.log, "-o", log, home=folder)
    options = picture.options
    if picture.replaced:
        options = *options, "--with", str(with_changes(ROOT / picture.log, picture.replaced, folder))
    run("screenshot", log, "-o", str(whole), *options, home=folder)
    image = QImage(str(whole))
    if picture.cut is not None:
        image = image.copy(*picture.cut)
    keep(image, picture.file)


_AT_ONCE = 3
"""Pictures at the same time: each is a process that waits for half of its time."""


def take_alone(picture: Picture) -> str:
    """Takes a picture in a folder of its own; returns its file and size in words."""
    with tempfile.TemporaryDirectory() as folder:
        take(picture, Path(folder))
    return f"{picture.file}  {(ROOT / picture.file).stat().st_size:,} bytes"


TAP_DIALOG = "docs/pictures/tap-install.png"
CONFIGURED = """{
  "mcpServers": {
    "records": {"command": "npx", "args": ["-y", "@example/records-server"]},
    "issues": {"url": "https://issues.example.com/mcp"}
  }
}
"""


def take_tap_dialog(folder: Path) -> None:
    """Take the picture of the dialog that puts a tap before a server, without the paths of this machine."""
    from inspector.formats.clients import ConfigFile
    from inspector.formats.table import CLIENTS
    from inspector.tap.install.changes import planned, servers_of
    from inspector.tap.install.entries import own_command
    from inspector.ui.app.application import make_qt
    from inspector.ui.dialogs.tap_server import TapServerDialog
    from inspector.ui.look.theme import ThemeController

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    file = folder / "mcp.json"
    file.write_text(CONFIGURED)
    found = servers_of(tuple(one for one in CLIENTS if one.name == "cursor"), file)
    change = planned(found.servers[0], folder / "taps", install=True)
    shown = [one._replace(file=ConfigFile(Path("~/.cursor/mcp.json"))) for one in found.servers]
    lines = [line.replace(" ".join(own_command()), "context-inspector") for line in change.lines]
    lines = [line.replace(f"{folder}{os.sep}", "~/") for line in lines]
    dialog = TapServerDialog(ThemeController(make_qt(), setting="light", bundled_fonts=True))
    dialog.show_found(found._replace(servers=shown))
    dialog.show_change(change._replace(server=shown[0], lines=tuple(lines)))
    dialog.resize(_TAP_DIALOG_SIZE)
    dialog.show()
    keep(dialog.grab().toImage(), TAP_DIALOG)


DECLARE_DIALOG = "docs/pictures/declare-format.png"
"""The dialog on the first example of the page about declared formats."""


def take_declare_dialog(folder: Path) -> None:
    """Take the picture of the dialog that declares a format, on the example of its page."""
    from inspector.present.format_trials import preview_declaration
    from inspector.ui.app.application import make_qt
    from inspector.ui.dialogs.declare_format import DeclareFormatDialog
    from inspector.ui.look.theme import ThemeController

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    page = (ROOT / "docs/declared-formats.md").read_text("utf-8")
    lines, declaration = (part.partition("\n")[2] for part in page.split("```")[3:6:2])
    log = folder / "robot.log"
    log.write_text(lines)
    dialog = DeclareFormatDialog(ThemeController(make_qt(), setting="light", bundled_fonts=True), log.name, None)
    dialog.resize(_DECLARE_DIALOG_SIZE)
    dialog.show()
    dialog.set_text(declaration)
    dialog.show_preview(declaration, preview_declaration(log, declaration))
    keep(dialog.grab().toImage(), DECLARE_DIALOG)


def keep(image: QImage, file: str) -> None:
    """Put a picture where it belongs, with few colours."""
    target = ROOT / file
    target.parent.mkdir(parents=True, exist_ok=True)
    if not with_few_colors(image).save(str(target), "PNG", 0):  # type: ignore[call-overload]
        sys.exit(f"{target} cannot be written.")


def run(*arguments: str, home: Path) -> None:
    """Run the program with nobody's own presets and settings."""
    own = {"CONTEXT_INSPECTOR_HOME": str(home / "home")}
    subprocess.run([sys.executable, "-m", "inspector", *arguments], cwd=ROOT, env=os.environ | own, check=True)


def with_changes(log: Path, replaced: tuple[tuple[str, str], ...], folder: Path) -> Path:
    """A copy of a log with other texts."""
    text = log.read_text("utf-8")
    for old, new in replaced:
        if old not in text:
            sys.exit(f"{log} has no {old!r}.")
        text = text.replace(old, new)
    copy = folder / "second-run.jsonl"
    copy.write_text(text, "utf-8")
    return copy


def with_notes(log: Path, notes: tuple[tuple[int, str], ...], folder: Path) -> Path:
    """A copy of a log, with marks and comments beside it."""
    copy = Path(shutil.copy(log, folder))
    document = CaptureDocument()
    document.load(copy)
    file = MarksFile(document, copy)
    file.restore(complete=True)
    for number, comment in notes:
        document.analysis.marks.set_note(number - 1, Note(not comment, comment))
    file.write(file.snapshot())
    document.close()
    return copy


_TAP_DIALOG_SIZE = QSize(760, 400)
_DECLARE_DIALOG_SIZE = QSize(1000, 560)
_COLORS = 256
_KEPT = 64
"""Of the commonest colours, those of fills and lines, so many stay exactly as they are."""


def with_few_colors(image: QImage) -> QImage:
    """The same picture with 256 colours at most."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(height, width) | 0xFF000000
    colors, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    palette = colors
    if len(colors) > _COLORS:
        order = np.argsort(-counts, kind="stable")
        rest = order[_KEPT:]
        palette = np.concatenate([colors[order[:_KEPT]], _means(colors[rest], counts[rest], _COLORS - _KEPT)])
    distances = ((_seen(colors)[:, None, :] - _seen(palette)[None, :, :]) ** 2).sum(axis=2)
    indices = distances.argmin(axis=1).astype(np.uint8)[places.reshape(height, width)]
    few = QImage(np.ascontiguousarray(indices).tobytes(), width, height, width, QImage.Format.Format_Indexed8)
    few.setColorTable([int(color) for color in palette])
    return few.copy()  # which does not point into the bytes above


def _parts(colors: NDArray[Any]) -> NDArray[np.float64]:
    """(n, 3): red, green and blue."""
    return np.stack([(colors >> shift) & 0xFF for shift in (16, 8, 0)], axis=1).astype(np.float64)


_TO_SEEN = np.array([[0.3, 0.6, 0.1], [-0.34, -0.66, 1.0], [1.0, -0.84, -0.16]]).T
"""Brightness, and twice how far it is from grey: a small violet icon must not end among the greys of text."""


def _seen(colors: NDArray[Any]) -> NDArray[np.float64]:
    return _parts(colors) @ _TO_SEEN


def _means(colors: NDArray[Any], counts: NDArray[Any], number: int) -> NDArray[np.uint32]:
    """So many colours that stand for these: the widest box of colours is halved again and again, then averaged."""
    seen, parts = _seen(colors), _parts(colors)
    boxes = [np.arange(len(colors))]
    widths = [np.ptp(seen, axis=0)]
    while len(boxes) < number:
        widest = max(range(len(boxes)), key=lambda place: widths[place].max())
        box, axis = boxes.pop(widest), widths.pop(widest).argmax()
        values = seen[box, axis]
        upper = values > (values.min() + values.max()) / 2
        boxes += [box[upper], box[~upper]]
        widths += [np.ptp(seen[half], axis=0) for half in boxes[-2:]]
    means = [np.average(parts[box], axis=0, weights=counts[box]).round().astype(np.uint32) for box in boxes]
    return np.array([0xFF000000 | r << 16 | g << 8 | b for r, g, b in means], np.uint32)


def main() -> None:
    """Take all pictures, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="only pictures whose file has this in its name")
    only = parser.parse_args().only
    chosen = [picture for picture in PICTURES if only in picture.file]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for line in pool.map(take_alone, chosen):
            print(line)
    if only in TAP_DIALOG:
        with tempfile.TemporaryDirectory() as folder:
            take_tap_dialog(Path(folder))
    if only in DECLARE_DIALOG:
        with tempfile.TemporaryDirectory() as folder:
            take_declare_dialog(Path(folder))


if __name__ == "__main__":
    main()
