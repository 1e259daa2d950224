"""The tools of the demo's two servers: ``activities``, shaped as mcp-rune's, and ``files``, a small file bridge.

Results follow recordings of mcp-rune 0.105.1 (shapes, ``_meta``, wording of summaries); see docs/protocols.md 13. The
file bridge keeps its files in memory and never uses a disk.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from inspector.demo.special_agents import ToolFunction

# The demo's data: 132 customer visits of one quarter, the same in every run.

PAGE_SIZE = 15
"""Records a page: 132 of them make 9 pages, the last of 12."""

FIRST_ID = 1001

_CUSTOMERS = {
    "Legal": ["Hartmann & Voss", "Okafor Partners", "Lindqvist Notaries", "Beaumont Chambers", "Silva Arbitration"],
    "Media": ["Northlight Radio", "The Harbour Post", "Kestrel Films", "Studio Amaranth", "Quay Street Press"],
    "Retail": ["Fenwick Grocers", "Solano Bikes", "Birch & Daughters", "Paper Lantern Books", "Tideway Hardware"],
    "Health": ["St. Brigid Clinic", "Alder Physiotherapy", "Marlow Dental", "Riverside Hospice", "Nakamura Optics"],
}
_MINUTES = {"Legal": (40, 95), "Media": (20, 60), "Retail": (15, 50), "Health": (45, 120)}
_VISITS = ["Quarterly review", "Contract renewal", "Onboarding visit", "Complaint follow-up", "Training session",
           "Site survey", "Invoice clarification", "Product walk-through"]  # fmt: skip
_NOTES = {
    "Legal": [
        "Asked for the retention rules in writing before anyone signs.",
        "Two partners joined late, so the clause on liability was read twice.",
        "Wants one contact instead of three; promised an answer by Friday.",
        "Archive room is full, scanning would free it by summer.",
        "Pleased with the search, unhappy with the export to PDF.",
    ],
    "Media": [
        "Deadline day: ten minutes at the news desk, the rest by mail.",
        "Showed the caption tool, the picture editor started using it at once.",
        "Their freelance budget is cut, they may drop two seats.",
        "Wants the archive reachable from the van.",
        "Recorded the walk-through for the night shift.",
    ],
    "Retail": [
        "Stock count still on paper; the scanner trial starts in the back store.",
        "Busy counter, spoke between two deliveries.",
        "Till number two loses its link when the oven is on.",
        "Asked for a price list without the wholesale column.",
        "Second branch opens in May and wants the same set-up.",
    ],
    "Health": [
        "Consent forms had to be explained to each nurse in turn.",
        "Waited for the ward round to end before the training could begin.",
        "Privacy officer asked where backups lie; sent the data sheet.",
        "Appointment reminders cut no-shows by a third, they want more languages.",
        "Half of the time went into resetting forgotten passwords.",
    ],
}


@dataclass(frozen=True)
class Activity:
    """One visit."""

    id: int
    title: str
    sector: str
    minutes: int
    notes: str


def activities() -> list[Activity]:
    """Returns all 132 visits by ascending id."""
    chance = random.Random(1847)  # seeded: the same story every time
    found: list[Activity] = []
    for number in range(132):
        sector = chance.choice(list(_CUSTOMERS))
        low, high = _MINUTES[sector]
        visit, customer = chance.choice(_VISITS), chance.choice(_CUSTOMERS[sector])
        minutes = chance.randrange(low, high + 1, 5)
        found.append(
            Activity(FIRST_ID + number, f"{visit}: {customer}", sector, minutes, chance.choice(_NOTES[sector]))
        )
    return found


def page_of(number: int) -> tuple[list[dict[str, object]], dict[str, int]]:
    """Returns the records of page ``number`` (from 1; empty outside) and its pagination block."""
    everything = activities()
    start = (number - 1) * PAGE_SIZE
    records = [asdict(one) for one in everything[max(start, 0) : max(start + PAGE_SIZE, 0)]]
    pages = -(-len(everything) // PAGE_SIZE)
    return records, {"page": number, "per_page": PAGE_SIZE, "total": len(everything), "total_pages": pages}


WORKFLOW = "review_activities"

_STEPS = {
    1: "### Step 1: Learn the filters\nRead the filter guide.\n\n**Tool:** `get_filters_guide`\n\n---\n"
    f'**REQUIRED next action:** Call `get_workflow_step({{ workflow: "{WORKFLOW}", step: 2 }})`.',
    2: "## Steps 2-3 - loop (repeat for each page of results)\n\n### Step 2: Fetch activities\nFetch one page.\n\n"
    "**Tool:** `search_records`\n```json\n"
    f'{{\n  "model": "activity",\n  "filters": {{}},\n  "per_page": {PAGE_SIZE}\n}}\n```\n\n'
    "### Step 3: Store findings\nStore what the page shows.\n\n**Tool:** `analysis_store`",
    4: "### Step 4: Sum up\nTell the user.\n\n---\n**Workflow complete.** All steps have been executed.",
}
_COLUMNS = [("title", "string"), ("sector", "string"), ("minutes", "integer"), ("notes", "text")]


class ActivityTools:
    """Tools over the 132 visits; findings are kept per analysis while the demo runs."""

    described: Mapping[str, str] = {
        "get_workflow_step": "Returns one step of a workflow; call it again for the next one.",
        "search_records": "Searches records page by page. Large pages are transient: store what matters, then move on.",
        "analysis_store": "Stores findings of an analysis outside of the conversation; the page is not needed after.",
    }

    def __init__(self) -> None:
        """Starts without findings."""
        self._findings: dict[str, list[Mapping[str, Any]]] = {}

    def functions(self) -> dict[str, ToolFunction]:
        """Returns functions by tool name."""
        return {
            "get_workflow_step": self.get_workflow_step,
            "search_records": self.search_records,
            "analysis_store": self.analysis_store,
        }

    def get_workflow_step(self, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """Returns a step's text; the loop's steps announce the transient results."""
        step = arguments.get("step")
        text = _STEPS.get(step if isinstance(step, int) else 0)
        if text is None:
            return _failed(f"Workflow {WORKFLOW} has no step {step}.")
        if step != 2:
            return _content(text)
        hint = {"step": 2, "tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}
        return {"_meta": {"contextHints": [hint]}, **_content(text)}

    def search_records(self, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """Returns one page as indented JSON, transient from 5 records on."""
        page = arguments.get("page", 1)
        records, pagination = page_of(page if isinstance(page, int) else 1)
        columns = [{"key": key, "label": key, "type": kind} for key, kind in _COLUMNS]
        body = {"schema": {"model": "activity", "columns": columns}, "records": records, "pagination": pagination}
        result = _content(json.dumps(body, indent=2, ensure_ascii=False))
        # A small page is not worth collapsing.
        # mcp-rune marks results from five records on.
        if len(records) < 5:
            return result
        ids = ", ".join(str(record["id"]) for record in records[:3])
        place = f"page {pagination['page']}/{pagination['total_pages']}"
        summary = f"{len(records)} activity records ({place}, IDs: {ids}...)"
        return {"_meta": {"context": {"lifecycle": "transient", "summary": summary}}, **result}

    def analysis_store(self, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """Stores findings and signals the consumption of a page."""
        findings, name = arguments.get("findings"), str(arguments.get("analysis_id", ""))
        if not isinstance(findings, list) or not findings:
            return _failed("findings must be a list with at least one finding.")
        stored = self._findings.setdefault(name, [])
        stored.extend(findings)
        categories = ", ".join(sorted({str(finding.get("category", "note")) for finding in findings}))
        text = (
            f"Stored {len(findings)} analysis finding(s) (ephemeral (expires in 1 hour)).\n"
            f"Analysis: {name}\nCategories: {categories}\nIDs: mem-{len(stored)}"
        )
        return {"_meta": {"context": {"consumed": True}}, **_content(text)}


class FileTools:
    """A file bridge over a few files in memory."""

    described: Mapping[str, str] = {
        "list_directory": "Lists the files of a folder.",
        "read_file": "Reads a text file.",
        "write_file": "Writes a text file, replacing what was there.",
        "delete_file": "Deletes a file for good.",
        "share_file": "Sends a file to people outside of the team.",
    }

    def __init__(self) -> None:
        """Starts with the files of the story."""
        self._files = {
            "/srv/review/brief.md": "# Visit review\n\nGoal: name the two sectors that cost us most time per visit, "
            "with one proposal each.\nAudience: the regional leads. One page.\n",
            "/srv/review/last-quarter.md": "# Last quarter\n\n118 visits, 52 minutes on average. "
            "Health was not split out.\n",
        }

    def functions(self) -> dict[str, ToolFunction]:
        """Returns functions by tool name."""
        return {
            "list_directory": self.list_directory,
            "read_file": self.read_file,
            "write_file": self.write_file,
            "delete_file": self.delete_file,
            "share_file": lambda arguments: _content(f"Shared {arguments.get('path')}"),
        }

    def list_directory(self, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """Returns one line a file."""
        folder = f"{str(arguments.get('path', '')).rstrip('/')}/"
        names = [path.removeprefix(folder) for path in sorted(self._files) if path.startswith(folder)]
        return _content("\n".join(f"[FILE] {name}" for name in names) or "(empty)")

    def read_file(self, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """Returns the text, or an error result."""
        text = self._files.get(str(arguments.get("path")))
        return _failed(f"No such file: {arguments.get('path')}") if text is None else _content(text)

    def write_file(self, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """Stores the text."""
        path, text = str(arguments.get("path")), str(arguments.get("content", ""))
        self._files[path] = text
        return _content(f"Successfully wrote {len(text)} characters to {path}")

    def delete_file(self, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """Deletes the text, or returns an error result."""
        path = str(arguments.get("path"))
        if self._files.pop(path, None) is None:
            return _failed(f"No such file: {path}")
        return _content(f"Deleted {path}")


def _content(text: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": text}]}


def _failed(text: str) -> dict[str, object]:
    return {**_content(text), "isError": True}
