"""Switches for open questions of the protocol about merged contexts.

Source: docs/protocols.md 14. Each switch covers a gap in the protocol; the defaults are our reading. Fixed are the four
layers and their order, that 0 or fewer recent messages mean none, and that own messages are always sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Rules:
    """One reading of the protocol; `RULE_WORDS` has the titles of the rules.

    Attributes:
        explicit_false_wins: `include_sub_context: false` excludes the sub-context, despite "always included".
        snapshots_in_order: sorts snapshots by range, then by time; else file order.
        missing_recent: default number of recent parent messages.
        include_main_only: sends `main_only` parent messages.
        count_withheld: withheld messages count as recent ones.
        older_globals: sends `global` parent messages older than the recent ones.
        sibling_globals: `global` messages of siblings count as the parent's, merged or not.
        ancestor_globals: a nested sub-session gets the `global` messages of its parent's ancestors.
        include_misplaced: sends parent messages with an unknown or misplaced visibility.
        before_opening: sends only messages from before the opening of the sub-session.
        recent_from_root: a nested sub-session gets recent messages of the session, not of its direct parent.
        covered_again: sends recent messages that a snapshot covers.
        half_open: `covers_messages` `[0, 20]` ends before index 20.
    """

    explicit_false_wins: bool = True
    snapshots_in_order: bool = True
    missing_recent: int = 5
    include_main_only: bool = False
    count_withheld: bool = False
    older_globals: bool = True
    sibling_globals: bool = True
    ancestor_globals: bool = True
    include_misplaced: bool = False
    before_opening: bool = False
    recent_from_root: bool = False
    covered_again: bool = True
    half_open: bool = True

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Rules:
        """Creates rules from settings by name, with defaults for missing ones."""
        # Settings of a newer version may have rules unknown here.
        return cls(**{name: value for name, value in values.items() if name in RULE_WORDS})


class RuleWords(NamedTuple):
    """Texts for a rule on screen.

    Attributes:
        title: label of its switch.
        help: its effect and the alternative.
        option: option of the command `merged-context` for the non-default.
    """

    title: str
    help: str
    option: str


RULE_WORDS: dict[str, RuleWords] = {
    "explicit_false_wins": RuleWords(
        "The policy can leave the sub-context out",
        'The protocol calls the sub-context "always included" and has a switch for it. Off: it is always sent.',
        "--always-sub-context",
    ),
    "snapshots_in_order": RuleWords(
        "Snapshots by what they cover",
        "By the first message they cover, then by when they were made. Off: in the order they are written in.",
        "--snapshots-as-written",
    ),
    "missing_recent": RuleWords(
        "Recent parent messages when the policy does not say",
        "5 is the only value the protocol shows. 0 sends none.",
        "--missing-recent",
    ),
    "include_main_only": RuleWords(
        "Let main_only messages in",
        "By the letter they are visible only in the parent and stay there. As that may be the usual visibility of a "
        "chat, nothing may be left to send.",
        "--include-main-only",
    ),
    "count_withheld": RuleWords(
        "Withheld messages count as recent",
        "On: the last messages are taken first, then those among them that stay in the parent are left out. "
        "Off: as many are sent as the policy asks for, if there are so many.",
        "--count-withheld",
    ),
    "older_globals": RuleWords(
        "Send older global messages",
        "Global messages are visible everywhere, so they are sent however old they are, and not counted among the "
        "recent ones. Off: older messages are not sent.",
        "--no-older-globals",
    ),
    "sibling_globals": RuleWords(
        "Global messages of other sub-sessions",
        "They appear in the parent, so they are sent as its messages are. Off: only once they are merged there.",
        "--no-sibling-globals",
    ),
    "ancestor_globals": RuleWords(
        "Global messages of everything above, when nested",
        "Global messages are visible everywhere: a sub-session in a sub-session is also sent those above its parent. "
        "Off: they stay there.",
        "--no-ancestor-globals",
    ),
    "include_misplaced": RuleWords(
        "Let messages of an odd visibility in",
        "Parent messages that are subsession_only outside any sub-session, or whose visibility the protocol does not "
        "know. Off: they stay where they are.",
        "--include-misplaced",
    ),
    "before_opening": RuleWords(
        "Only what was said before it was opened",
        "Off: the last parent messages are sent, also those that are newer than the sub-session, as the protocol says.",
        "--before-opening",
    ),
    "recent_from_root": RuleWords(
        "Recent messages of the chat, when nested",
        "On: a sub-session in a sub-session is sent recent messages of the chat itself. Off: of its direct parent.",
        "--recent-from-root",
    ),
    "covered_again": RuleWords(
        "Send recent messages that a snapshot covers",
        "By the letter they are sent twice, in the snapshot and as they are. Off: only in the snapshot.",
        "--leave-out-covered",
    ),
    "half_open": RuleWords(
        "Snapshots cover messages up to, not with, the last index",
        'On: covers_messages [0, 20] is messages 1 to 20. Off: it is messages 1 to 21. Nothing is left out by it '
        "but what the rule about covered messages leaves out.",
        "--inclusive",
    ),
}  # fmt: skip
"""In the order of the affected layers."""
