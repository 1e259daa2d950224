"""Choices in the protocol's open questions about merged contexts, and their words for the settings.

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
    def from_settings(cls, values: Mapping[str, Any]) -> Rules:
        """Creates rules from settings by name, with defaults for missing ones."""
        # Settings of a newer version may have rules unknown here.
        return cls(**{name: value for name, value in values.items() if name in RULE_WORDS})


class RuleWords(NamedTuple):
    """Texts for a rule on screen.

    Attributes:
        title: label of its switch.
        help: its effect and the alternative.
        option: option of the command `merged-context` for the non-default.
        option_help: its help there, in the words of the title.
    """

    title: str
    help: str
    option: str
    option_help: str


RULE_WORDS: dict[str, RuleWords] = {
    "explicit_false_wins": RuleWords(
        "The policy can exclude the sub-context",
        'The protocol calls the sub-context "always included" and has a switch for it. Off: it is always sent.',
        "--always-sub-context",
        "Send the sub-context even if the policy excludes it.",
    ),
    "snapshots_in_order": RuleWords(
        "Sort snapshots by the messages they cover",
        "By the first message they cover, then by time. Off: in the order of the file.",
        "--snapshots-as-written",
        "Send snapshots in the order of the file.",
    ),
    "missing_recent": RuleWords(
        "Recent parent messages without a number in the policy",
        "The protocol's example is 5. 0 sends none.",
        "--missing-recent",
        "Recent parent messages without a number in the policy.",
    ),
    "include_main_only": RuleWords(
        "Include main_only messages",
        "By the protocol they are visible only in the parent. If a chat marks most messages so, few are left to send.",
        "--include-main-only",
        "Include main_only messages.",
    ),
    "count_withheld": RuleWords(
        "Withheld messages count as recent",
        "On: withheld messages count towards the number in the policy. Off: earlier messages take their place.",
        "--count-withheld",
        "Count withheld messages as recent.",
    ),
    "older_globals": RuleWords(
        "Send older global messages",
        "Global messages are visible everywhere, so they are sent at any age and do not count as recent. "
        "Off: older ones are not sent.",
        "--no-older-globals",
        "Do not send older global messages.",
    ),
    "sibling_globals": RuleWords(
        "Global messages of other sub-sessions",
        "They appear in the parent, so they are sent like its messages. Off: only after a merge into the parent.",
        "--no-sibling-globals",
        "Send global messages of other sub-sessions only after a merge into the parent.",
    ),
    "ancestor_globals": RuleWords(
        "Global messages of all ancestors, when nested",
        "Global messages are visible everywhere: a nested sub-session also receives those above its parent. "
        "Off: it does not.",
        "--no-ancestor-globals",
        "When nested: do not send global messages of ancestors above the parent.",
    ),
    "include_misplaced": RuleWords(
        "Include messages with an invalid visibility",
        "Parent messages that are subsession_only outside any sub-session, or have an unknown visibility. "
        "Off: they are not sent.",
        "--include-misplaced",
        "Include messages with an invalid visibility.",
    ),
    "before_opening": RuleWords(
        "Only messages from before it was opened",
        "Off: the last parent messages are sent even if newer than the sub-session, as the protocol says.",
        "--before-opening",
        "Send only messages from before it was opened.",
    ),
    "recent_from_root": RuleWords(
        "Recent messages of the chat, when nested",
        "On: a nested sub-session receives recent messages of the chat itself. Off: of its direct parent.",
        "--recent-from-root",
        "When nested: send recent messages of the chat itself.",
    ),
    "covered_again": RuleWords(
        "Send recent messages that a snapshot covers",
        "By the protocol they are sent twice, in the snapshot and as messages. Off: only in the snapshot.",
        "--leave-out-covered",
        "Do not send recent messages that a snapshot covers.",
    ),
    "half_open": RuleWords(
        "Snapshots exclude the last index of their range",
        'On: covers_messages [0, 20] is messages 1 to 20. Off: it is messages 1 to 21.',
        "--inclusive",
        "Snapshots include the last index of their range.",
    ),
}  # fmt: skip
"""In the order of the affected layers."""
