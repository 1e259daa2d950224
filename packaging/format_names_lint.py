"""Checks that a format is named in its own folder alone; prints the other files, and exits with 1 above a bound.

Upper rooms ask `inspector.formats.table` for a property and name no format. Bounds only go down: a change that removes
the last mention in a file lowers the bound in the same commit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

WORDS = {
    "a2a": r"(?<![a-z0-9])a2a(?![a-z0-9])|agent2agent",
    "acp": r"(?<![a-z0-9])acp(?![a-z0-9])|agent client protocol",
    "claude_code": r"claude(?![._-]ai\b| managed)",
    "codex": r"codex",
    "copilot_cli": r"copilot",
    "gemini_cli": r"gemini",
    "har": r"(?<![a-z0-9])har(?![a-z0-9])|http archive",
    "opencode": r"open_?code",
    "otlp": r"otlp|openinference|opentelemetry|openllmetry|traceloop",
    "vscode_chat": r"vs ?code",
    **{name: name for name in ("langfuse", "langsmith", "mlflow", "phoenix")},
    # Everyday names, and protocols that rooms of their own are about: imports of the folder count.
    **{
        name: rf"inspector\.formats(?:\.| import (?:\w+, )*){name}\b"
        for name in (
            "capture", "gateway_log", "mcp", "mew", "model_api", "msp", "parquet", "prefixed", "wire_recording",
            "wrapped",
        )
    },
}  # fmt: skip
"""Names of a format and its program by folder, as regular expressions for lower-case text."""
BOUNDS = {
    "a2a": 4, "acp": 2, "claude_code": 4, "codex": 0, "copilot_cli": 2, "gemini_cli": 7, "har": 0, "opencode": 0,
    "otlp": 12, "vscode_chat": 2, "langfuse": 2, "langsmith": 2, "mlflow": 2,
    "phoenix": 0,
    "capture": 4, "gateway_log": 0, "mcp": 1, "mew": 0, "model_api": 4, "msp": 0, "parquet": 1, "prefixed": 2,
    "wire_recording": 5, "wrapped": 4,
}  # fmt: skip
"""Highest allowed number of files outside the folder that name the format."""
SIBLINGS = dict.fromkeys(("copilot_cli", "vscode_chat"), ("vscode_chat_replay", "vscode_debug_log"))
"""Other formats of the same program, whose folders name it as well."""
TABLES = ("inspector/formats/table.py", "inspector/formats/products.py")
"""The list of folders names each."""


def naming_files(sources: dict[str, str]) -> dict[str, list[str]]:
    """Returns by folder the files outside of it that name its format.

    Args:
        sources: text of each file by its path from the root, with slashes.
    """
    lower = {path: text.lower() for path, text in sources.items() if path not in TABLES}
    return {
        folder: sorted(
            path
            for path, text in lower.items()
            if not path.startswith(tuple(f"inspector/formats/{one}/" for one in (folder, *SIBLINGS.get(folder, ()))))
            and re.search(words, text)
        )
        for folder, words in WORDS.items()
    }


def read_sources(root: Path) -> dict[str, str]:
    """Returns the modules of a checkout."""
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in _modules(root)}


def _modules(root: Path) -> Iterator[Path]:
    yield from sorted((root / "inspector").rglob("*.py"))


def above_bounds(named: dict[str, list[str]]) -> list[str]:
    """Returns the folders whose formats are named in more files than allowed."""
    return [folder for folder, files in named.items() if len(files) > BOUNDS.get(folder, 0)]


def main() -> int:
    """Prints the figures of this checkout; with `-v` also each file. Returns the exit code."""
    named = naming_files(read_sources(Path(__file__).resolve().parent.parent))
    for folder, files in named.items():
        print(f"{folder:>12}: named in {len(files):3} files outside its folder (at most {BOUNDS.get(folder, 0)})")
        if "-v" in sys.argv[1:]:
            print(*(f"              {path}" for path in files), sep="\n")
    high = above_bounds(named)
    if high:
        print(f"formats: named in too many files: {', '.join(high)}; -v lists them, inspector/formats has the folders")
    return 1 if high else 0


if __name__ == "__main__":
    sys.exit(main())
