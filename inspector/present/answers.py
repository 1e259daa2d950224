"""Answers about a document as JSON with masked secrets, for commands with --json and for agents.

`document.summary` has the facts in the shapes of docs/design.md 5; this module combines and masks them. Dates, names
and texts are as written; the caller escapes them for display.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from inspector.analysis import Analysis
from inspector.analysis.views.account.account import AccountTally
from inspector.analysis.views.model_context import Entry, Moment, Role
from inspector.analysis.views.model_context.chat_messages import content_of_entry
from inspector.analysis.views.model_context.origins import origin_of
from inspector.analysis.views.model_context.request_change import request_at
from inspector.analysis.views.steps.expired_caches import ExpiredCache, expired_caches
from inspector.analysis.views.steps.step_columns import StepTable
from inspector.analysis.views.summaries.token_shares import sum_in_steps
from inspector.analysis.views.waste import Waste, WasteFinder, WasteReport
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.summary import message_story, summary
from inspector.export.redaction import shown_value
from inspector.filters.field import Field
from inspector.filters.fields import FIELD_BY_NAME
from inspector.present.account import Account, account_json, account_of, waiting_json
from inspector.present.context_figures import headline_words
from inspector.present.request_words import request_json
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.tokens.counter import TOKENIZER

T = TypeVar("T")


def masked_table(table: Mapping[str, T]) -> dict[str, T]:
    """Masks the keys of a table of counts or figures as text; the values are no secrets.

    A kind named `auth/token` has a normal count. Keys that become equal are numbered.
    """
    shown: dict[str, T] = {}
    for name, value in table.items():
        masked = mask_text(name)
        key, times = masked, 1
        # Masking can make two names equal, and neither count may be lost.
        while key in shown:
            times += 1
            key = f"{masked} ({times})"
        shown[key] = value
    return shown


def summary_answer(
    document: CaptureDocument, file: str, steps: StepTable, *, tokens: bool = True
) -> tuple[dict[str, Any], Account]:
    """Returns the summary of a log and its account.

    Args:
        document: the log, read to its end.
        file: its display name.
        steps: its steps.
        tokens: includes tokens if counted.
    """
    counted = summary(document, file, steps)
    account, waiting = _account_and_waits(document, steps, spared=tokens)
    if not tokens:
        counted["tokens"] = counted["context"] = None
    tables = {name: masked_table(counted[name]) for name in ("kinds", "badges", "findings", "tool_counts", "models")}
    if counted["tokens"] is not None:
        tables["tokens"] = masked_tokens(counted["tokens"])
    if counted["cost"] is not None:
        # Names are masked as text: as keys, some would make their figures secrets.
        by_name = {name: masked_table(counted["cost"][name]) for name in ("models", "participants")}
        unpriced = {"without_price": mask_secrets(counted["cost"]["without_price"])}
        tables["cost"] = counted["cost"] | unpriced | by_name
    latency = {title: masked_table(rows) for title, rows in counted["latency"].items()}
    return {
        **mask_secrets(counted), **tables, "latency": latency, "account": account_json(account), "waiting": waiting,
    }, account  # fmt: skip


def masked_tokens(counted: dict[str, Any]) -> dict[str, Any]:
    """Masks the names in counted tokens."""
    tables = {name: masked_table(counted[name]) for name in ("participants", "tools", "kinds")}
    return {**counted, "contexts": mask_secrets(counted["contexts"]), **tables}


def _account_and_waits(
    document: CaptureDocument, steps: StepTable, *, spared: bool
) -> tuple[Account, list[dict[str, Any]]]:
    """Returns the account and the waiting requests."""
    tally = AccountTally(document.analysis)
    while not tally.step():
        pass
    waste = tool_tokens = None
    if document.analysis.tokens.done:
        tool_tokens = run_to_end(sum_in_steps(document.analysis, "tool"))
        waste = waste_of(document).totals if spared else None
    usage, expired = document.analysis.usage.total(), list[ExpiredCache]()
    if usage is not None and usage.cache_write:
        expired = expired_caches(document.analysis, steps)
    return account_of(document, tally, waste, tool_tokens, expired), waiting_json(document, tally)


def waste_of(document: CaptureDocument) -> WasteReport:
    """Returns the waste report; tokens must be counted."""
    return run_to_end(WasteFinder(document.analysis).search())


def waste_answer(found: WasteReport, shown: Iterable[Waste]) -> dict[str, Any]:
    """Returns a waste report: the sums over all, and the entries in `shown`."""
    return mask_secrets(
        {
            "tokens": found.tokens,
            "sure": found.sure_tokens,
            "estimate": TOKENIZER,
            "reported": None if found.reported is None else found.reported._asdict(),
            "count": len(found.wastes),
            "notes": list(found.notes),
            "wastes": [
                {
                    "kind": one.kind.value, "no": one.message + 1, "messages": [row + 1 for row in one.messages],
                    "tokens": one.tokens, "sure": one.sure, "participant": one.participant, "tool": one.tool,
                    "text": mask_text(one.sentence), "advice": mask_text(one.advice),
                }
                for one in shown
            ],
        }
    )  # fmt: skip


def message_answers(
    document: CaptureDocument, fields: Sequence[tuple[str, Field]], rows: Iterable[int]
) -> Iterator[dict[str, object]]:
    """Yields the requested fields of messages by name; times in RFC 3339, UTC."""
    columns = [field.column(document.analysis) for _, field in fields]
    for row in rows:
        yield {
            name: shown_value(field, column.value(row), field.secret_at(document.analysis, row))
            for (name, field), column in zip(fields, columns, strict=True)
        }


def message_answer(document: CaptureDocument, message: int) -> dict[str, Any]:
    """Returns one message with its fields, envelope, causes, effects, lifecycle and findings."""
    # The answer includes tokens, which are otherwise counted on request.
    document.analysis.tokens.count_now([message])
    story = message_story(document, message)
    fields = ((FIELD_BY_NAME[name], value) for name, value in story["fields"].items())
    story["fields"] = {
        field.name: shown_value(field, value, field.secret_at(document.analysis, message)) for field, value in fields
    }
    story["raw"] = mask_text(story["raw"])
    for one in story["sightings"]:
        one["differs"] = None if one["differs"] is None else mask_text(one["differs"])
    masked = ("envelope", "lifecycle", "likely", "links", "capability", "findings", "deliveries")
    return story | {name: mask_secrets(story[name]) for name in masked}


def model_context_answer(moment: Moment) -> dict[str, Any]:
    """Returns facts about a model's context at a moment, without the entries."""
    return mask_secrets(
        {
            "participant": moment.context.reader.name,
            "conversation": moment.context.reader.conversation or None,
            "no": moment.message + 1,
            "size": headline_words(moment),
            "reported": _last_report(moment),
            "not_in_traffic": moment.outside(),
            "tokens": moment.total,
            "tokens_without_collapsing": moment.uncollapsed_total,
            "estimate": TOKENIZER,
            "request": request_json(request_at(moment)),
        }
    )


def entry_answer(moment: Moment, entry: Entry) -> dict[str, Any]:
    """Returns one entry of a model's context, not masked."""
    return {
        "no": entry.message + 1,
        "role": entry.role.word or None,
        "included": entry.included,
        "collapsed": entry.collapsed,
        "tokens": entry.tokens,
        "reason": entry.reason,
        "assumed": entry.assumed,
        "cache_mark": entry.cache,
        "because": None if entry.because is None else entry.because + 1,
        "origin": _origin_answer(moment.context.analysis, entry),
        "content": content_of_entry(moment, entry),
    }


def _origin_answer(analysis: Analysis, entry: Entry) -> dict[str, Any] | None:
    """Returns the server's answer behind a result and its changes, if known."""
    found = origin_of(analysis, entry.message) if entry.role is Role.TOOL else None
    return None if found is None else {
        "no": found.message + 1, "change": found.change.value, "certain": found.is_certain,
    }  # fmt: skip


def _last_report(moment: Moment) -> dict[str, Any] | None:
    """Returns the participant's own last report; never mixed with our estimate."""
    status = moment.reported()
    if status is None:
        return None
    return {
        "no": status.message + 1, "tokens": status.tokens, "max_tokens": status.max_tokens,
        "messages_in_context": status.messages,
    }  # fmt: skip
