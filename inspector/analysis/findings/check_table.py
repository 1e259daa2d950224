"""Lists all topics and checks, and imports those that formats declare.

No module that checks import may import this one: it would import their modules before they are complete.
"""

from __future__ import annotations

from functools import partial

from inspector.analysis.findings import (
    announced,
    before_capture,
    clocks,
    context_windows,
    contexts,
    correlations,
    deliveries,
    field_forms,
    kinds_and_lines,
    lifecycle_hints,
    loops,
    msp,
    object_contexts,
    proposals,
    reasoning,
    requests,
    secrets,
    senders,
    streams,
    transcripts,
    verdicts,
)
from inspector.analysis.findings.added_checks import AddedCheck, AddedTopic
from inspector.analysis.findings.check import Check
from inspector.analysis.findings.topic import DeclaredTopic
from inspector.formats.format import load
from inspector.formats.table import FORMATS

_OF_ALL_TRAFFIC = (
    DeclaredTopic("requests", requests.CHECKS, requests.Requests),
    DeclaredTopic("proposals", proposals.CHECKS, proposals.Proposals),
    DeclaredTopic("correlations", correlations.CHECKS, correlations.Correlations),
    DeclaredTopic("contexts", contexts.CHECKS, contexts.ContextChecks),
    DeclaredTopic("object contexts", object_contexts.CHECKS, object_contexts.ObjectContexts),
    DeclaredTopic("reasoning", reasoning.CHECKS, reasoning.ReasoningChecks),
    DeclaredTopic("kinds and lines", kinds_and_lines.CHECKS, kinds_and_lines.KindsAndLines),
    DeclaredTopic("senders", senders.CHECKS, senders.SenderChecks),
    DeclaredTopic("context windows", context_windows.CHECKS, context_windows.ContextWindows),
    DeclaredTopic("clocks", clocks.CHECKS, clocks.Clocks),
    DeclaredTopic("loops", loops.CHECKS, loops.ChatLoops),
    DeclaredTopic("field forms", field_forms.CHECKS, field_forms.FieldForms),
    DeclaredTopic("deliveries", deliveries.CHECKS, deliveries.Deliveries),
    DeclaredTopic("secrets", secrets.CHECKS, secrets.SecretSearch),
    DeclaredTopic("verdicts", verdicts.CHECKS, verdicts.Verdicts),
    DeclaredTopic("announced", announced.CHECKS, announced.AnnouncedCapabilities),
    DeclaredTopic("streams", streams.CHECKS, streams.StreamChecks),
    DeclaredTopic("lifecycle hints", lifecycle_hints.CHECKS, lifecycle_hints.LifecycleHints),
    DeclaredTopic("msp", msp.CHECKS, msp.SessionChecks),
    DeclaredTopic("transcripts", transcripts.CHECKS, transcripts.Transcripts),
)


def _in_order(general: tuple[DeclaredTopic, ...], of_formats: tuple[DeclaredTopic, ...]) -> tuple[DeclaredTopic, ...]:
    """Returns all topics, those of formats before the topics that they name."""
    names = {one.name for one in general}
    found = [other for one in general for other in (*(new for new in of_formats if new.before == one.name), one)]
    return (*found, *(new for new in of_formats if new.before not in names))


TOPICS = _in_order(_OF_ALL_TRAFFIC, tuple(load(one.checks) for one in FORMATS if one.checks))
"""Every topic, in the order in which they run."""

CHECKS: tuple[Check, ...] = (*(check for topic in TOPICS for check in topic.checks), *before_capture.CHECKS)
"""Every built-in check, topic by topic."""

CHECK_BY_CODE: dict[str, Check] = {check.code: check for check in CHECKS if not check.where}
"""First declaration of each code, those of plug-ins included; some codes have further severities."""

_added: dict[str, DeclaredTopic] = {}


def add_check(added: AddedCheck) -> bool:
    """Adds a check of a plug-in to documents opened from now on; returns False if its code is taken."""
    code = added.check.code
    if code in CHECK_BY_CODE:
        return False
    _added[code] = DeclaredTopic(f"plug-in check {code}", (added.check,), partial(AddedTopic, added))
    CHECK_BY_CODE[code] = added.check
    return True


def remove_check(code: str) -> None:
    """Removes an added check; open documents keep its findings."""
    if _added.pop(code, None) is not None:
        del CHECK_BY_CODE[code]


def all_topics() -> tuple[DeclaredTopic, ...]:
    """Returns the built-in topics, then the checks of plug-ins."""
    return (*TOPICS, *_added.values())


def all_checks() -> tuple[Check, ...]:
    """Returns the checks of all topics."""
    return (*CHECKS, *(check for topic in _added.values() for check in topic.checks))
