from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import command_help  # pyright: ignore[reportMissingImports]
import pytest

from inspector.cli.commands import COMMANDS
from inspector.startup.program import app

NAMES = [
    *(name for name in COMMANDS if " " not in name),
    *(str(one.name) for one in app.registered_commands if not one.hidden),
]
SHELLS = [("bash", command_help.bash), ("zsh", command_help.zsh), ("fish", command_help.fish)]


def complete(*words: str) -> list[str]:
    """What bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f"{command_help.bash()}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _context_inspector\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd="/")
    return done.stdout.split()


def test_the_man_page_has_every_command_and_option() -> None:
    page = command_help.man_page("1.2", "2026-11-22")
    alone, others = command_help.described()
    assert [one.name for one in others] == NAMES
    for command in (alone, *others):
        assert all(
            f"\\fB{name.replace('-', chr(92) + '-')}\\fR" in page for one in command.options for name in one.names
        )
    assert all(f".SS {name}".replace("-", "\\-") in page for name in NAMES)
    assert all(one.help for command in others for one in command.options)


def test_commands_of_a_command_are_described_one_by_one() -> None:
    page = command_help.man_page("1.2", "2026-11-22")
    _, others = command_help.described()
    inner = next(one for one in others if one.name == "msp").inner
    assert [one.name for one in inner][:3] == ["msp new", "msp open", "msp add"]
    assert all(f".SS {one.name} " in page and one.help for one in inner)
    tap = next(one for one in others if one.name == "tap")
    assert [one.name for one in tap.inner] == ["tap install", "tap uninstall", "tap list"]
    assert ("--http",) in [one.names for one in tap.own_options]
    assert ("--dry-run",) not in [one.names for one in tap.own_options]


def test_lines_of_help_cannot_become_commands_of_the_page() -> None:
    assert command_help._roff(".B \\x") == "\\&.B \\ex"


@pytest.mark.real
def test_bash_completes_commands_options_and_choices() -> None:
    assert complete("context-inspector", "summ") == ["summary"]
    assert "--fail-on" in complete("context-inspector", "check", "--f")
    assert complete("context-inspector", "check", "--fail-on", "") == ["warning", "error"]
    assert "--theme" in complete("context-inspector", "--th")
    assert complete("context-inspector", "msp", "me") == ["merge"]
    assert complete("context-inspector", "tap", "inst") == ["install"]
    assert "--http" in complete("context-inspector", "tap", "--h")
    assert "--summary" in complete("context-inspector", "msp", "close", "--su")


@pytest.mark.parametrize(("shell", "made"), SHELLS)
@pytest.mark.real
def test_every_shell_reads_its_completions(shell: str, made: object, tmp_path: Path) -> None:
    assert callable(made)
    text = str(made())
    assert all(name in text for name in NAMES)
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    file = tmp_path / "completions"
    file.write_text(text, "utf-8")
    done = subprocess.run([shell, "-n", str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
