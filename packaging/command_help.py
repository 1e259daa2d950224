"""Man page and shell completions of the command, made from its own help: they cannot differ from the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from command_tree import PROGRAM as COMMAND
from command_tree import Command, commands


def described() -> tuple[Command, list[Command]]:
    """The program without a command, which opens the window, and its commands."""
    own, window, others = commands()
    return own._replace(arguments=window.arguments, options=(*own.options, *window.options)), others


# ---- man page -------------------------------------------------------------------------------------------------------


def man_page(version: str, date: str) -> str:
    """The page for section 1."""
    alone, others = described()
    lines = [
        f'.TH CONTEXT\\-INSPECTOR 1 "{date}" "Context Inspector {version}" "User Commands"',
        ".SH NAME", "context\\-inspector \\- desktop inspector for multi\\-agent workspaces",
        ".SH SYNOPSIS", f".B {_roff(COMMAND)}", "[FILE | ws://...]...", ".br",
        f".B {_roff(COMMAND)}", ".I COMMAND", "[ARGUMENTS]...",
        ".SH DESCRIPTION", *_paragraphs(alone.help),
        ".SH OPTIONS", *_options(alone),
        ".SH COMMANDS",
    ]  # fmt: skip
    for command in others:
        lines += _section(command._replace(options=command.own_options) if command.inner else command)
        for inner in command.inner:
            lines += _section(inner)
    lines += [
        ".SH EXIT STATUS",
        ".TP", "0", "Fine, also when nothing matches.",
        ".TP", "1", "Findings at or above the level asked for.",
        ".TP", "2", "Bad usage, an unknown field, a bad filter or unreadable input.",
        ".SH ENVIRONMENT",
        ".TP", ".B CONTEXT_INSPECTOR_HOME",
        "A folder that holds all settings, captures, caches and logs in place of the usual ones.",
        ".SH FILES",
        ".TP", ".I ~/.config/context\\-inspector", "Settings and presets.",
        ".TP", ".I ~/.local/share/context\\-inspector", "Captures that were not saved under a name yet.",
        ".TP", ".I ~/.cache/context\\-inspector", "What can be made again.",
        ".TP", ".I ~/.local/state/context\\-inspector/log", "The program's own logs.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _section(command: Command) -> list[str]:
    synopsis = " ".join((command.name, "[OPTIONS]" * bool(command.options), *(one.word for one in command.arguments)))
    return [f".SS {_roff(synopsis)}", *_paragraphs(command.help), *_options(command)]


def _options(command: Command) -> Iterator[str]:
    for option in command.options:
        value = f" \\fI{_roff(option.value)}\\fR" if option.value else ""
        yield ".TP"
        yield ", ".join(f"\\fB{_roff(name)}\\fR" for name in option.names) + value
        yield _roff(option.help) or "\\&"


def _paragraphs(text: str) -> Iterator[str]:
    # Help says where a line must not be joined to the next with a form feed or \b on a line of its own.
    for paragraph in re.split(r"\n\s*\n", re.sub(r"[\b\f]", "", text)):
        yield ".PP"
        yield from (_roff(line.strip()) for line in paragraph.splitlines() if line.strip())


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


# ---- completions ----------------------------------------------------------------------------------------------------


def bash() -> str:
    """For /usr/share/bash-completion/completions."""
    alone, others = described()
    cases = "\n".join(
        f"        {command.name}) options='{' '.join(_names(command))}' ;;" for command in others
    )  # fmt: skip
    values = "\n".join(
        f"        {command.name}:{name}) mapfile -t COMPREPLY < "
        f"<(compgen -W '{' '.join(option.choices)}' -- \"$current\"); return ;;"
        for command in (alone, *others)
        for option in command.options
        if option.choices
        for name in option.names
    )
    known = "|".join(command.name for command in others)
    groups = "\n".join(
        f'        {command.name}:2) [[ "$current" == -* ]] || {{ mapfile -t COMPREPLY < '
        f"<(compgen -W '{' '.join(_inner(command))}' -- \"$current\"); return; }} ;;"
        for command in others
        if command.inner
    )
    return f"""# bash completion for {COMMAND}, made from its help
_context_inspector() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" command={COMMAND} options
    if ((COMP_CWORD > 1)); then
        case "${{COMP_WORDS[1]}}" in {known}) command="${{COMP_WORDS[1]}}" ;; esac
    fi
    case "$command:$previous" in
{values}
        *) ;;
    esac
    case "$command:$COMP_CWORD" in
{groups}
        *) ;;
    esac
    case "$command" in
{cases}
        *) options='{" ".join((*_names(alone), "--help"))}' ;;
    esac
    if [[ "$current" == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$current")
    elif ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W '{known.replace("|", " ")}' -- "$current"; compgen -f -- "$current")
    fi
}}
complete -o bashdefault -o default -o filenames -F _context_inspector {COMMAND}
"""


def zsh() -> str:
    """For /usr/share/zsh/vendor-completions."""
    alone, others = described()
    named = "\n".join(f"        '{command.name}:{_quoted(_first(command.help), ':')}'" for command in others)
    cases = "\n".join(
        f"        {command.name})\n            _arguments -s \\\n{_zsh_options(command)} ;;" for command in others
    )
    return f"""#compdef {COMMAND}
# made from the command's help
_context_inspector() {{
    local -a commands
    commands=(
{named}
    )
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        _describe -t commands command commands
        _files
        return
    fi
    case $words[2] in
{cases}
        *)
            _arguments -s \\
{_zsh_options(alone)} ;;
    esac
}}
_context_inspector "$@"
"""


def _zsh_options(command: Command) -> str:
    lines = [f"'1:command:({' '.join(_inner(command))})'"] if command.inner else []
    for option in command.options:
        value = f":{_quoted(option.value, ':')}:" if option.value else ""
        if option.choices:
            value += f"({' '.join(option.choices)})"
        elif value:
            value += "_files"
        lines += [f"'*{name}[{_quoted(option.help, ':[]')}]{value}'" for name in option.names]
    lines += ["'--help[Show this message and exit.]'", "'*:file:_files'"]
    return " \\\n".join(f"                {line}" for line in lines)


def fish() -> str:
    """For /usr/share/fish/vendor_completions.d."""
    alone, others = described()
    lines = [f"# fish completion for {COMMAND}, made from its help"]
    for command in others:
        lines.append(
            f"complete -c {COMMAND} -n __fish_use_subcommand -a {command.name} -d '{_fish(_first(command.help))}'"
        )
        when = f"__fish_seen_subcommand_from {command.name}"
        for inner in command.inner:
            word = inner.name.removeprefix(f"{command.name} ")
            lines.append(f"complete -c {COMMAND} -n '{when}' -a {word} -d '{_fish(_first(inner.help))}'")
        lines += _fish_options(command, when)
    return "\n".join([*lines, *_fish_options(alone, "__fish_use_subcommand")]) + "\n"


def _fish_options(command: Command, when: str) -> Iterator[str]:
    for option in command.options:
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
        value = f" -x -a '{' '.join(option.choices)}'" if option.choices else " -r" if option.value else ""
        yield f"complete -c {COMMAND} -n '{when}' {names}{value} -d '{_fish(option.help)}'"


def _names(command: Command) -> list[str]:
    return [name for option in command.options for name in option.names]


def _inner(command: Command) -> list[str]:
    return [one.name.removeprefix(f"{command.name} ") for one in command.inner]


def _first(text: str) -> str:
    return text.partition("\n")[0]


def _quoted(text: str, special: str) -> str:
    """For single quotes of zsh, with its special characters escaped."""
    text = " ".join(text.split())
    return "".join(f"\\{one}" if one in special else one for one in text).replace("'", "'\\''")


def _fish(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'")
