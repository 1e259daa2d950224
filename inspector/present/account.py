"""The account "What happened": sentences about a capture that lead to messages or filters; also its waits.

The window shows them without a selection, and `summary` prints the same words. `analysis.views.account.account` has the
figures; only the few quoted texts are read from records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inspector.analysis.views.account.account import AccountTally, Deed
from inspector.analysis.views.steps.expired_caches import ExpiredCache
from inspector.analysis.views.summaries.token_shares import Sums
from inspector.document.document import CaptureDocument
from inspector.present.account_sentences import (
    WAITED_FROM_NS,
    WAITING_NOW,
    WAITING_STATES,
    AccountLine,
    AccountSentences,
)
from inspector.present.cache_words import expiry_sentence
from inspector.present.longest_waits import longest_waiting
from inspector.present.usage_sentences import UsageSentences
from inspector.present.wait_words import Wait, describe_waits
from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    from inspector.analysis.views.waste import WasteTotals

_MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Account:
    """The account of a capture.

    Attributes:
        head: number of messages, their participants and duration.
        lines: sentences in reading order.
    """

    head: str
    lines: tuple[AccountLine, ...]


def account_json(account: Account) -> list[dict[str, Any]]:
    """Returns the sentences as plain objects, each with its topic, numbers from 1. Secrets are masked."""
    found: list[dict[str, Any]] = []
    about = ""
    for line in account.lines:
        about = line.about or about
        no = None if line.message is None else line.message + 1
        # Only filters are masked here; sentences are masked where they are built.
        found.append({"about": about, "text": line.text, "no": no, "filter": line.filter and mask_text(line.filter)})
    return found


def waiting_json(document: CaptureDocument, tally: AccountTally) -> list[dict[str, Any]]:
    """Returns waiting requests, longest waits first, discovery requests last; numbers from 1."""
    analysis = document.analysis
    return [
        {
            "no": one.message + 1, "who": one.who, "whom": one.whom, "for": one.what, "discovery": one.discovery,
            "waited_ms": None if one.waited_ns is None else round(one.waited_ns / 1e6, 3),
        }
        for discovery in (False, True)
        for one in describe_waits(analysis, longest_waiting(analysis, tally, _MOST_LISTED, discovery=discovery),
                         discovery=discovery)
    ]  # fmt: skip


def account_of(
    document: CaptureDocument, tally: AccountTally, waste: WasteTotals | None = None, tool_tokens: Sums | None = None,
    expired: Sequence[ExpiredCache] = (),
) -> Account:  # fmt: skip
    """Returns the account, as far as the tally has counted.

    Args:
        document: the document.
        tally: its figures.
        waste: sums of avoidable tokens, if known.
        tool_tokens: tokens by tool, if known.
        expired: caches that were written again after a pause.
    """
    words, usage = AccountSentences(document, tally), UsageSentences(document, waste, tool_tokens)
    deeds = [*words.prompt_lines(), *words.call_lines(), *words.reasoning_lines(), *words.proposal_lines()]
    failed, waiting = words.failure_lines(), words.wait_lines()
    if tally.has_repeats:
        deeds, failed, waiting = map(_without_repeats, (deeds, failed, waiting))
    first, last = ([], waiting)
    if document.is_arriving and any(tally.count(deed) for deed in (Deed.CALL, Deed.REQUEST, Deed.PROPOSAL)):
        # It keeps its place while messages arrive, so that no line below moves as waits come and go.
        first, last = waiting or [AccountLine(WAITING_NOW, "None", filter="waiting", tone="quiet")], []
    lines = [
        *first, *(deeds or words.kind_lines()), *words.compaction_lines(), *failed, *words.crash_lines(),
        *words.tool_change_lines(), *last, *words.problem_lines(), *words.pause_lines(), *words.collapse_lines(),
        *usage.usage_lines(), *_expired_lines(expired), *usage.token_lines(), *usage.cost_lines(),
    ]  # fmt: skip
    return Account(words.head(), tuple(_one_heading(lines)))


def _expired_lines(expired: Sequence[ExpiredCache]) -> list[AccountLine]:
    if not expired:
        return []
    most = max(expired, key=lambda one: one.written)
    return [AccountLine("Cache", expiry_sentence(expired), message=most.message, tone="warn")]


def waiting_now(document: CaptureDocument, tally: AccountTally) -> tuple[int, Wait] | None:
    """Returns the number of live waits, and the longest one; None if all are under a second.

    Discovery requests do not count.
    """
    longest = longest_waiting(document.analysis, tally, 1) if document.is_arriving else []
    if not longest:
        return None
    wait = describe_waits(document.analysis, longest)[0]
    count = sum(tally.count(deed, *WAITING_STATES) for deed in (Deed.CALL, Deed.REQUEST, Deed.PROPOSAL))
    return (count, wait) if (wait.waited_ns or 0) >= WAITED_FROM_NS else None


def _without_repeats(lines: list[AccountLine]) -> list[AccountLine]:
    """Excludes repeats in the filters of lines."""
    return [line if line.filter is None else replace(line, filter=f"{line.filter} && !repeats") for line in lines]


def _one_heading(lines: list[AccountLine]) -> list[AccountLine]:
    """Removes repeated headings."""
    found: list[AccountLine] = []
    before = ""
    for line in lines:
        again = line.about == before
        before = line.about or before
        found.append(replace(line, about="") if again else line)
    return found
