"""One round of the demo's story: five participants answer one question in a fixed sequence.

Every wait is in seconds of the story and scaled by the pace. Actors wait for the messages they react to. The analyst's
report is computed from the records it really received.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from inspector.demo.envelopes import Envelope, new_id, to_compact_json
from inspector.demo.special_agents import Human, ReasoningAgent, ToolServer
from inspector.demo.tools import WORKFLOW
from inspector.demo.topics import Topic

MAX_TOKENS = 32_000
"""Size of the model context that the lead and the analyst report."""

_FOLDER = "/srv/review"


@dataclass(frozen=True)
class StoryCast:
    """The participants."""

    activities: ToolServer
    files: ToolServer
    analyst: ReasoningAgent
    lead: ReasoningAgent
    human: Human

    def everyone(self) -> list[ToolServer | ReasoningAgent | Human]:
        """Returns all of them in the order they join."""
        return [self.activities, self.files, self.analyst, self.lead, self.human]


class StoryRound:
    """One question, from its asking to the final thanks."""

    def __init__(self, cast: StoryCast, topic: Topic, number: int) -> None:
        """Creates round ``number`` (from 1); ``tell`` plays it."""
        self._human, self._lead, self._analyst = cast.human, cast.lead, cast.analyst
        self._pace = cast.human.pace
        self._topic = topic
        self._number = number
        self._review_id = f"review-{number}"
        self._reasoning = new_id("reason")
        self._forecast = new_id("reason")
        self._tally = VisitTimes()

    async def play(self) -> None:
        """Plays the round.

        Raises:
            ExceptionGroup: Of OSError, TimeoutError or ConnectionClosed, if the gateway or a participant was lost.
        """
        # All actors run at once, and wait for each other's messages.
        async with asyncio.TaskGroup() as actors:
            actors.create_task(self._cancel_forecast())
            actors.create_task(self._make_room())
            actors.create_task(self._ask_how_far())
            actors.create_task(self._lead_works())
            actors.create_task(self._analyst_works())
            actors.create_task(self._ask())

    # the human

    async def _ask(self) -> None:
        await self._pace.wait_seconds(0.6)
        asked = await self._human.chat(self._topic.question, to="lead")
        answered = self._human.next_message("chat", sender="lead", about=asked)
        await self._pace.wait_seconds(6.0)
        await self._human.send("participant/request-status", {"fields": ["tokens", "max_tokens"]}, to="analyst")
        done = await answered
        await self._pace.wait_seconds(2.0)
        await self._human.send("chat/acknowledge", {"status": "read"}, to="lead", about=done["id"])
        await self._human.chat(self._topic.closing, to="lead", about=done["id"])

    async def _cancel_forecast(self) -> None:
        started = await self._human.next_message(
            "reasoning/start", sender="lead", having=lambda one: one["id"] == self._forecast
        )
        await self._pace.wait_seconds(3.0)
        await self._human.send("reasoning/cancel", {"reason": "no_longer_needed"}, to="lead", context=started["id"])
        await self._human.chat("Leave that one, nobody asked for it.", to="lead")

    async def _ask_how_far(self) -> None:
        await self._human.next_message(
            "participant/status", sender="analyst", having=lambda one: "correlation_id" not in one
        )
        await self._pace.wait_seconds(2.5)
        await self._human.chat("How far are you?", to="analyst")

    async def _make_room(self) -> None:
        """Asks the lead to compact its context when it reports that it is nearly full."""
        # The request follows the report, as in a real session.
        await self._human.next_message(
            "participant/status", sender="lead", having=lambda one: one["payload"]["tokens"] > 0.9 * MAX_TOKENS
        )
        await self._pace.wait_seconds(0.8)
        compact = {"reason": "resource_limit", "target_tokens": 12_000}
        await self._human.send("participant/compact", compact, to="lead")

    # the lead

    async def _lead_works(self) -> None:
        lead, here = self._lead, self._reasoning
        # Futures are created before the message that answers them can arrive.
        asked = await lead.next_message("chat", sender="human", to_us=True)
        await self._pace.wait_seconds(0.5)
        await lead.send("chat/acknowledge", {"status": "received"}, to="human", about=asked["id"])
        stream_id = await self._open_stream(asked["id"])
        await lead.send("reasoning/start", {"message": self._topic.goal}, about=asked["id"], message_id=here)
        # Thinking, forecast and usage go on while the proposals wait.
        async with asyncio.TaskGroup() as beside:
            beside.create_task(self._think_aloud(stream_id))
            await self._read_brief()
            delegated = await lead.chat(self._topic.assignment, to="analyst", context=here)
            reported = lead.next_message("chat", sender="analyst", about=delegated)
            beside.create_task(self._run_forecast())
            beside.create_task(self._report_usage())
            beside.create_task(self._compare())
            await self._make_proposals()
            report = await reported
        await self._finish(asked["id"], report)

    async def _open_stream(self, asked: str) -> str:
        request_id = new_id("stream-req")
        opened = self._lead.answer_to(request_id)
        payload = {"direction": "upload", "description": f"reasoning:{self._reasoning}", "content_type": "text/plain"}
        await self._lead.send("stream/request", payload, to="gateway", about=asked, message_id=request_id)
        return (await opened)["payload"]["stream_id"]

    async def _think_aloud(self, stream_id: str) -> None:
        chunks = [{"type": "status", "value": "thinking"}]
        chunks += [{"type": "token", "value": f"{word} "} for word in self._topic.aloud.split()]
        chunks += [{"type": "progress", "value": "done"}]
        for chunk in chunks:
            await self._lead.stream(stream_id, to_compact_json({"context": self._reasoning, **chunk}))
            await self._pace.wait_seconds(0.2)
        await self._lead.send("stream/close", {"stream_id": stream_id, "reason": "complete"})

    async def _read_brief(self) -> None:
        lead, here = self._lead, self._reasoning
        await self._pace.wait_seconds(0.6)
        await lead.send_thought("First the brief, so that the answer fits what was asked for.", context=here)
        await lead.call("files", "list_directory", {"path": _FOLDER}, context=f"{here}/files")
        await self._pace.wait_seconds(0.5)
        await lead.call("files", "read_file", {"path": f"{_FOLDER}/brief.md"}, context=f"{here}/files")
        await self._pace.wait_seconds(0.6)
        await lead.send_thought(
            "One page for the regional leads. The paging is the analyst's job, I write the plan meanwhile.",
            context=here,
        )

    async def _make_proposals(self) -> None:
        """Sends a refused call, then proposals: fulfilled, rejected, and withdrawn without an answer."""
        lead, here = self._lead, self._reasoning
        # The lead may not write files, so the gateway refuses this call.
        await self._pace.wait_seconds(1.5)
        plan = {"path": f"{_FOLDER}/plan.md", "content": f"# Plan\n\n1. {self._topic.goal}\n2. Report, one page\n"}
        refused = await lead.call("files", "write_file", plan, context=here)
        if refused["kind"] == "system/error":
            await lead.chat("I may not write files myself, so I propose it: please look at plan.md.", to="human")
        await lead.propose("files", "write_file", plan, context=here, patience_s=10)
        await lead.send_thought(
            "plan.md is written. Last quarter's file looks superseded, I suggest removing it.", context=here
        )
        old = {"path": f"{_FOLDER}/last-quarter.md"}
        verdict = await lead.propose("files", "delete_file", old, context=here, patience_s=10)
        if verdict is not None and verdict["kind"] == "mcp/reject":
            reason = verdict["payload"]["reason"]
            await lead.send_thought(
                f"Deleting was rejected ({reason}). The old figures stay, as a baseline.", context=here
            )
        share = {"path": f"{_FOLDER}/plan.md", "with": ["regional-leads"]}
        # No one decides about sharing, so that a withdrawal is part of the story.
        if await lead.propose("files", "share_file", share, context=here, patience_s=3.6) is None:
            await lead.send_thought("No answer on sharing the plan, so I took the proposal back.", context=here)

    async def _run_forecast(self) -> None:
        """Runs a second reasoning beside the first, until the human cancels it."""
        lead, here = self._lead, self._forecast
        await self._pace.wait_seconds(3.5)
        cancelled = lead.next_message("reasoning/cancel", sender="human", to_us=True)
        await lead.send("reasoning/start", {"message": self._topic.forecast}, message_id=here)
        await self._pace.wait_seconds(1.0)
        await lead.send_thought(
            "One quarter is thin. Holidays alone could explain half of the differences.", context=here
        )
        reason = (await cancelled)["payload"]["reason"]
        conclusion = {"cancelled": True, "reason": reason, "message": f"Reasoning cancelled: {reason}"}
        await lead.send("reasoning/conclusion", conclusion, context=here)

    async def _report_usage(self) -> None:
        """Reports the use of the context; near the limit the human asks for compaction."""
        lead = self._lead
        asked = lead.next_message("participant/compact", sender="human", to_us=True)
        # The numbers grow towards the limit, at which the human asks for compaction.
        for tokens, messages in ((21_400, 46), (24_900, 55), (27_300, 63), (30_650, 71)):
            await self._pace.wait_seconds(3.2)
            await lead.send("participant/status", _usage(tokens, messages, "active"))
        request = (await asked)["id"]
        await lead.send("participant/status", _usage(30_650, 71, "compacting"), to="human", about=request)
        await self._pace.wait_seconds(1.2)
        done = {"freed_tokens": 19_240, "freed_messages": 52, "status": "compacted"}
        await lead.send("participant/compact-done", done, to="human", about=request)
        await lead.send("participant/status", _usage(11_410, 19, "active"), about=request)

    async def _compare(self) -> None:
        """Reads last quarter's file while the analyst is paging."""
        lead, here = self._lead, self._reasoning
        await self._pace.wait_seconds(45.0)
        await lead.send_thought("While the pages come in: what did we say last quarter?", context=here)
        await lead.call("files", "read_file", {"path": f"{_FOLDER}/last-quarter.md"}, context=f"{here}/files")
        await self._pace.wait_seconds(1.5)
        await lead.send_thought(
            "Health was hidden in the average then. Good that nobody deleted this file.", context=here
        )

    async def _finish(self, asked: str, report: Envelope) -> None:
        lead, here = self._lead, self._reasoning
        await self._pace.wait_seconds(1.5)
        first, second = self._tally.slowest_sectors()
        await lead.send_thought(f"{first} and {second} stand out. Writing the page now.", context=here)
        page = (
            f"# Visit review {self._number}\n\n{report['payload']['text']}\n\nTry: one short call before each visit.\n"
        )
        path = f"{_FOLDER}/report-{self._number}.md"
        await lead.propose("files", "write_file", {"path": path, "content": page}, context=here, patience_s=10)
        answer = f"{first} and {second} take the most time per visit. Averages: {self._tally.averages()}."
        await lead.send("reasoning/conclusion", {"message": answer}, context=here)
        await lead.chat(f"{answer} The page for the regional leads is {path}.", to="human", about=asked)

    # the analyst

    async def _analyst_works(self) -> None:
        analyst = self._analyst
        status_asked = analyst.next_message("participant/request-status", sender="human", to_us=True)
        task = await analyst.next_message("chat", sender="lead", to_us=True)
        outer, here = task["context"], new_id("reason")
        await analyst.send("chat/acknowledge", {"status": "received"}, to="lead", about=task["id"], context=outer)
        start = {"message": "Read all visits page by page, keep only findings"}
        await analyst.send("reasoning/start", start, context=outer, about=task["id"], message_id=here)
        async with asyncio.TaskGroup() as beside:
            beside.create_task(self._tell_status(status_asked))
            beside.create_task(self._tell_how_far())
            await self._review(here)
        conclusion = f"All pages read, nothing of them kept but findings. {self._tally.averages()}."
        await analyst.send("reasoning/conclusion", {"message": conclusion}, context=here)
        text = f"132 visits on 9 pages. {self._tally.averages()}. Findings are stored as {self._review_id}."
        await analyst.chat(text, to="lead", context=outer, about=task["id"])

    async def _tell_status(self, asked: asyncio.Future[Envelope]) -> None:
        await self._analyst.send(
            "participant/status", _usage(9_850, 18, "active"), to="human", about=(await asked)["id"]
        )

    async def _tell_how_far(self) -> None:
        asked = await self._analyst.next_message("chat", sender="human", to_us=True)
        await self._pace.wait_seconds(1.5)
        text = f"{self._tally.visit_count()} of 132 visits read. So far: {self._tally.averages()}."
        await self._analyst.chat(text, to="human", about=asked["id"])

    async def _review(self, here: str) -> None:
        """Follows the server's workflow: fetches a page and stores its findings, so that the page collapses."""
        analyst = self._analyst
        await self._pace.wait_seconds(0.4)
        await analyst.send_thought("The server has a workflow for this. I follow its steps.", context=here)
        for step in (1, 2):
            await analyst.call("activities", "get_workflow_step", {"workflow": WORKFLOW, "step": step}, context=here)
            await self._pace.wait_seconds(0.4)
        page, pages = 1, 1
        while page <= pages:
            query = {"model": "activity", "filters": {}, "page": page, "per_page": 15}
            fetched = await analyst.call("activities", "search_records", query, context=f"{here}/fetch")
            body = json.loads(fetched["payload"]["result"]["content"][0]["text"])
            pages = body["pagination"]["total_pages"]
            await self._pace.wait_seconds(2.0)
            await self._store(here, page, self._tally.add(body["records"]))
            await self._pace.wait_seconds(3.0)
            # Every third page, so that the usage does not hide the work.
            if page % 3 == 0:
                tokens = 9_850 + 410 * page
                await analyst.send("participant/status", _usage(tokens, 18 + 4 * page, "active"))
            await self._pace.wait_seconds(2.0)
            page += 1
        await analyst.call("activities", "get_workflow_step", {"workflow": WORKFLOW, "step": 4}, context=here)

    async def _store(self, here: str, page: int, finding: str) -> None:
        await self._analyst.send_thought(f"Page {page}: {finding}", context=here)
        await self._pace.wait_seconds(1.2)
        findings = [{"finding": f"Page {page}: {finding}", "category": "pattern"}]
        arguments = {"analysis_id": self._review_id, "findings": findings}
        await self._analyst.call("activities", "analysis_store", arguments, context=f"{here}/store")


def _usage(tokens: int, messages: int, status: str) -> dict[str, object]:
    return {"tokens": tokens, "max_tokens": MAX_TOKENS, "messages_in_context": messages, "status": status}


# The analyst's computation over the received records: minutes a visit, by sector.


@dataclass
class VisitTimes:
    """The analyst's data so far."""

    minutes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, records: list[dict[str, Any]]) -> str:
        """Adds one page and returns its finding."""
        here: dict[str, list[int]] = defaultdict(list)
        for record in records:
            here[record["sector"]].append(record["minutes"])
            self.minutes[record["sector"]].append(record["minutes"])
        slowest = max(here, key=lambda sector: _mean(here[sector]))
        longest = max(records, key=lambda record: record["minutes"])
        return (
            f"{slowest} takes longest on this page, {_mean(here[slowest])} minutes a visit. "
            f'The longest was "{longest["title"]}" ({longest["minutes"]} minutes): {longest["notes"]}'
        )

    def averages(self) -> str:
        """Returns the averages by sector, longest first."""
        order = sorted(self.minutes, key=lambda sector: -_mean(self.minutes[sector]))
        parts = [f"{sector} {_mean(self.minutes[sector])} min ({len(self.minutes[sector])} visits)" for sector in order]
        return ", ".join(parts)

    def slowest_sectors(self) -> list[str]:
        """Returns the two sectors with the longest visits."""
        return sorted(self.minutes, key=lambda sector: -_mean(self.minutes[sector]))[:2]

    def visit_count(self) -> int:
        """Returns the number of visits counted so far."""
        return sum(len(minutes) for minutes in self.minutes.values())


def _mean(minutes: list[int]) -> int:
    return round(sum(minutes) / len(minutes))
