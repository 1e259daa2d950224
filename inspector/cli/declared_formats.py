"""`formats`: lists the readable formats, and tries and writes declarations of further ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inspector.cli.arguments import FormatFile, Json, fail
from inspector.cli.opening import format_of_file
from inspector.cli.printing import echo, escape_hostile, print_array, print_line, printable
from inspector.formats import registry
from inspector.formats.declared.folder import SUFFIX, declarations_folder, read_declaration
from inspector.formats.format import Format
from inspector.present.format_trials import declaration_file, share_sentence, trial_table, unmatched_lines
from inspector.reading.files.format_detection import forced_format
from inspector.reading.files.format_trial import TRIED_BYTES, Trial, try_format, wait_for_bytes
from inspector.sources.inputs import is_stream, open_source

app = typer.Typer(
    name="formats", add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="List the readable formats, and declare further ones.\n\n"
    "A declaration is a TOML file that names the parts of a record: time, sender, text, call, result, tokens. `new` "
    "writes a first one, `try` shows the rows that it gives, and `--format-file` of the other commands uses it. In "
    "the folder `formats` of the settings it is used for every log, also by the window.",
)  # fmt: skip

LogFile = Annotated[str, typer.Argument(metavar="FILE", help="A log.")]


@app.command("list")
def list_command(as_json: Json = False) -> None:
    """List the formats: built-in ones, declared ones and those of plug-ins."""
    rows = [
        {"name": one.name, "title": one.title, "origin": str(one.origin), "kind": str(one.traffic)}
        for one in registry.all_formats()
    ]
    if as_json:
        print_array(rows)
        return
    names, titles = (max(len(row[key]) for row in rows) for key in ("name", "title"))
    for row in rows:
        line = f"{row['name']:<{names}}  {row['title']:<{titles}}  {row['kind']:<10}  {row['origin']}"
        print_line(escape_hostile(line))


@app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The format, as `formats list` names it.")],
) -> None:
    """Show a format; of a declared one, its declaration."""
    found = registry.format_named(name)
    if found is None:
        fail(
            f"{escape_hostile(name)} is not a format. Formats: {', '.join(one.name for one in registry.all_formats())}."
        )
    facts = {"name": found.name, "title": found.title, "origin": str(found.origin), "kind": str(found.traffic)}
    path = declaration_file(found)
    if path is not None:
        facts["file"] = str(path)
    for key, value in facts.items():
        print_line(escape_hostile(f"{key:<7} {value}"))
    if path is not None:
        print_line("")
        for line in read_declaration(path).splitlines():
            print_line(escape_hostile(line))


@app.command("try")
def try_command(file: LogFile, format_file: FormatFile = None) -> None:
    """Show the first rows of a log, and the records that do not match.

    Without --format-file the format is detected, as in the window.
    """
    tried = format_of_file(format_file) if format_file is not None else None
    path = Path(file)
    if is_stream(path):
        fail(f"{escape_hostile(file)} is a stream. Save it as a file first.")
    try:
        source = open_source(path)
        try:
            wait_for_bytes(source, TRIED_BYTES)
            tried = tried or registry.format_named(forced_format(source) or "")
            trial = try_format(source, tried)
        finally:
            source.close()
    except OSError as error:
        fail(f"{escape_hostile(file)} cannot be read: {error.strerror or error}.")
    if trial.problem:
        fail(escape_hostile(f"{file}: {trial.problem}"))
    _print_trial(trial, tried)
    if not trial.matched:
        raise typer.Exit(2)


def _print_trial(trial: Trial, tried: Format | None) -> None:
    lines = trial_table(trial.rows)
    for line in (*lines, *([""] if lines else [])):
        print_line(line)
    print_line(printable(share_sentence(trial, tried.title if tried is not None else ""), 200))
    if tried is None and trial.formats:
        by_name = ", ".join(f"{name} {count:,}" for name, count in trial.formats.items())
        print_line(printable(f"Formats: {by_name}.", 400))
    others = unmatched_lines(trial)
    for line in ("Not matched:", *(f"  {one}" for one in others)) if others else ():
        print_line(line)


@app.command("new")
def new_command(
    file: LogFile,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="TOML", help="File to write. Default: standard output.")
    ] = None,
) -> None:
    """Write a first declaration for a log, with a comment about each guess."""
    from inspector.formats.declared.guessing import SAMPLE_BYTES, guess_declaration

    path = Path(file)
    try:
        source = open_source(path)
        try:
            wait_for_bytes(source, SAMPLE_BYTES)
            data = source.read(0, SAMPLE_BYTES)
            text = guess_declaration(data, path.name, is_whole=source.size <= SAMPLE_BYTES)
        finally:
            source.close()
    except OSError as error:
        fail(f"{escape_hostile(file)} cannot be read: {error.strerror or error}.")
    if output is None:
        echo(text)
        return
    try:
        with Path(output).open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        fail(f"{escape_hostile(output)} exists already.")
    except OSError as error:
        fail(f"{escape_hostile(output)} cannot be written: {error.strerror or error}.")
    folder = declarations_folder()
    print_line(printable(f"Wrote {output}. Check it: context-inspector formats try {file} --format-file {output}", 600))
    print_line(printable(f"In {folder} with the suffix {SUFFIX} it is used for every log.", 600))
