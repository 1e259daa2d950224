"""`merged-context`: prints the context that an MSP sub-session or chat would send to a model, layer by layer."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.models import OptionInfo

from inspector.cli.arguments import Json, fail
from inspector.cli.msp_documents import known_words, name_of, owner_of, read_document, say_problems
from inspector.cli.printing import MOST_LISTED, dump, echo, escape_hostile, print_line, printable
from inspector.msp import (
    RULE_WORDS,
    ChatContext,
    Entry,
    Layer,
    MergedContext,
    Rules,
    SessionDocument,
    Subsession,
    chat_context,
    merged_context,
)
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_secrets, mask_text


def _rule_option(rule: str, **more: Any) -> OptionInfo:
    """Returns the option that sets one of the protocol rules."""
    words = RULE_WORDS[rule]
    option: OptionInfo = typer.Option(words.option, help=words.option_help, **more)
    return option


def merged_context_command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="MSP documents, or a folder of them; - for standard input."),
    ],
    subsession: Annotated[
        str | None,
        typer.Option("--subsession", "-s", metavar="ID", help="A sub-session or a session, by its id or label."),
    ] = None,
    include_main_only: Annotated[bool, _rule_option("include_main_only")] = False,
    as_json: Json = False,
    as_messages: Annotated[
        bool, typer.Option("--messages", help="Print a JSON array of messages, ready to send.")
    ] = False,
    always_sub_context: Annotated[bool, _rule_option("explicit_false_wins")] = False,
    snapshots_as_written: Annotated[bool, _rule_option("snapshots_in_order")] = False,
    missing_recent: Annotated[int, _rule_option("missing_recent", metavar="N", min=0)] = Rules().missing_recent,
    count_withheld: Annotated[bool, _rule_option("count_withheld")] = False,
    no_older_globals: Annotated[bool, _rule_option("older_globals")] = False,
    no_sibling_globals: Annotated[bool, _rule_option("sibling_globals")] = False,
    no_ancestor_globals: Annotated[bool, _rule_option("ancestor_globals")] = False,
    include_misplaced: Annotated[bool, _rule_option("include_misplaced")] = False,
    before_opening: Annotated[bool, _rule_option("before_opening")] = False,
    recent_from_root: Annotated[bool, _rule_option("recent_from_root")] = False,
    leave_out_covered: Annotated[bool, _rule_option("covered_again")] = False,
    inclusive: Annotated[bool, _rule_option("half_open")] = False,
) -> None:
    """Print the context that a sub-session would send to a model: four layers, their messages, and withheld messages.

    For a session it prints the context of its own chat, which has no parent.

    The options choose between readings where the protocol is ambiguous. Tokens are an estimate.
    """
    rules = Rules(
        explicit_false_wins=not always_sub_context,
        snapshots_in_order=not snapshots_as_written,
        missing_recent=missing_recent,
        include_main_only=include_main_only,
        count_withheld=count_withheld,
        older_globals=not no_older_globals,
        sibling_globals=not no_sibling_globals,
        ancestor_globals=not no_ancestor_globals,
        include_misplaced=include_misplaced,
        before_opening=before_opening,
        recent_from_root=recent_from_root,
        covered_again=not leave_out_covered,
        half_open=not inclusive,
    )
    document = read_document(files)
    context = _context(document, subsession, rules)
    say_problems(document)
    if as_messages or as_json:
        # On standard error: standard output is data for another program.
        for remark in context.remarks:
            if remark.warns:
                typer.echo(escape_hostile(mask_text(remark.text)), err=True)
    if as_messages:
        echo(dump(mask_secrets(context.as_messages())))
    elif as_json:
        echo(dump(mask_secrets(context.as_json())))
    else:
        _print_context(context)


def _context(document: SessionDocument, asked: str | None, rules: Rules) -> MergedContext | ChatContext:
    """Returns the context of a sub-session or of a session's chat; exits with the list of known ids if not found."""
    if asked is None:
        fail(f"Name a context with --subsession ID. {known_words([*document.subsessions, *document.sessions])}")
    owner = owner_of(document, asked)
    return merged_context(owner, rules) if isinstance(owner, Subsession) else chat_context(owner, rules)


def _print_context(context: MergedContext | ChatContext) -> None:
    whose, entries = context.subsession if isinstance(context, MergedContext) else context.session, len(context.entries)
    messages = count_of(entries, "message")
    print_line(f"{name_of(whose)}: {count_of(context.tokens, 'token')} in {messages}. Estimate ({context.tokenizer}).")
    place = 0
    for number, layer in enumerate(context.layers, 1):
        print_line("")
        _print_layer(number, layer)
        for entry in layer.entries[:MOST_LISTED]:
            place += 1
            _print_entry(place, entry)
        if len(layer.entries) > MOST_LISTED:
            place += len(layer.entries) - MOST_LISTED
            print_line(f"{'':8}and {len(layer.entries) - MOST_LISTED:,} more; --json prints all.")
    _print_withheld(context)
    if context.remarks:
        print_line("\nNotes")
    for note in context.notes:
        print_line(f"   {printable(mask_text(note), 400)}")


def _print_layer(number: int, layer: Layer) -> None:
    tokens = count_of(layer.tokens, "token") if layer.included else f"left out, {count_of(layer.left_out, 'token')}"
    print_line(f"{number}  {layer.title}: {tokens}; {layer.what}. {layer.why}")


def _print_entry(place: int, entry: Entry) -> None:
    name = printable(mask_text(entry.id or ""), 12)
    role = printable(mask_text(entry.role), 10)
    text = printable(mask_text(entry.content), 60)
    print_line(f"{place:>5,} {name:<12} {role:<10} {entry.tokens:>7,}  {text:<60}  {_reason(entry.reason)}")


def _print_withheld(context: MergedContext | ChatContext) -> None:
    if not context.withheld and not context.older_messages:
        return
    print_line(f"\nNot sent: {len(context.withheld):,} withheld, {len(context.older_messages):,} merely older")
    for held in context.withheld[:MOST_LISTED]:
        name = printable(mask_text(held.id or "without an id"), 20)
        text = printable(mask_text(held.source.content), 60)
        print_line(f"{'':6}{name:<20} {text:<60}  {_reason(held.reason)}")
    if len(context.withheld) > MOST_LISTED:
        print_line(f"{'':6}and {len(context.withheld) - MOST_LISTED:,} more; --json prints all.")


def _reason(text: str) -> str:
    return printable(mask_text(text), 200)
