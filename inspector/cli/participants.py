"""`participants`: prints the participants of a log, their capabilities, and refusals by the gateway."""

from __future__ import annotations

from itertools import islice
from typing import Any

from inspector.analysis.views.latency.latency import MIN_ANSWERS
from inspector.cli.arguments import AS_USUAL, Json, LogFiles, Reading, takes_reading
from inspector.cli.opening import opened
from inspector.cli.printing import MOST_LISTED, dump, plain, print_array, print_line, printable
from inspector.engine.requests.context_lists import ListParticipants
from inspector.present.formats import count_of


@takes_reading("memory", "read_as", "format_file")
def participants_command(
    files: LogFiles,
    as_json: Json = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Print the participants, their capabilities, and the requests that a gateway refused."""
    with opened(files, reading) as log:
        stories = log.rows(ListParticipants())
        if as_json:
            print_array(stories)
            return
        found = False
        for story in stories:
            found = True
            _print_participant(story)
        if not found:
            print_line("There are no participants.")


_MAX_NAMES = 8
_PRESENCE = {True: "present", False: "left", None: "never announced"}
_SINCE = {True: " since", False: " at", None: ", first seen"}


def _name(story: dict[str, Any]) -> str:
    """Returns the shown name, followed by the id that filters take."""
    name, shown = printable(story["name"], 120), printable(story["shown_name"], 150)
    return name if name == shown else f"{shown} ({name})"


def _print_participant(story: dict[str, Any]) -> None:
    space = f" in {printable(story['space'], 60)}" if story["space"] else ""
    since = f"{_SINCE[story['here']]} {story['since']}" if story["since"] else ""
    presence = "invited" if story["here"] is None and story["invited"] else _PRESENCE[story["here"]]
    print_line(f"{_name(story)}{space}: {presence}{since}, {count_of(story['messages'], 'message')}")
    if story["formerly"]:
        few = ", ".join(printable(name, 60) for name in story["formerly"][-_MAX_NAMES:])
        print_line(f"  formerly {few}{', and others before' if len(story['formerly']) > _MAX_NAMES else ''}")
    for one in islice(story["capabilities"] or (), MOST_LISTED):
        note = "" if one["confirmed"] else f"  granted by No. {one['no']}, not confirmed"
        print_line(f"  may      {printable(_words(one['capability']), 160)}{note}")
    for one in islice(story["revoked"], MOST_LISTED):
        what = ", ".join(map(_words, one["capabilities"])) or one["grant_id"] or "unspecified"
        print_line(f"  revoked  {printable(what, 160)}  by No. {one['no']}, not confirmed")
    for one in islice(story["refused"], MOST_LISTED):
        note = f", though the rules say {one['predicted']}" if one["differs"] else ""
        print_line(
            f"  refused  No. {one['no']}: {printable(plain(one['missing']) or 'a capability', 160)} is missing{note}"
        )
    for one in islice(story["differing"], MOST_LISTED):
        gateway = one["verdicts"][0]["result"]
        print_line(f"  differs  No. {one['no']}: {gateway} by the gateway, {one['predicted']} by the rules")
    _print_activity(story)


def _print_activity(story: dict[str, Any]) -> None:
    """Prints a participant's tools, its response times, and its open requests."""
    if story["tools"]:
        names = ", ".join(tool["name"] for tool in islice(story["tools"], MOST_LISTED))
        print_line(f"  offers   {printable(names, 300)}")
    if story["answered"]:
        took = story["answered"]
        parts = (f", {part} {took[part]:g} ms" for part, enough in MIN_ANSWERS.items() if took["count"] >= enough)
        print_line(f"  answers  {took['count']:,}{''.join(parts)}")
    for word, key in (("waits", "waits_for"), ("owes", "waited_for")):
        if story[key]:
            shown = ", ".join(f"No. {no}" for no in story[key][-_MAX_NAMES:])
            more = f", and {len(story[key]) - _MAX_NAMES:,} before" if len(story[key]) > _MAX_NAMES else ""
            print_line(f"  {word:<8} {'for an answer to' if word == 'waits' else 'an answer to'} {shown}{more}")


def _words(capability: object) -> str:
    return capability if isinstance(capability, str) else dump(capability)
