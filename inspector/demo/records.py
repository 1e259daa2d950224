"""The demo's data: 132 customer visits of one quarter, the same in every run."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass

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
    """Return all 132 visits by ascending id."""
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
    """Return the records of page ``number`` (from 1; empty outside) and the pagination block beside them."""
    everything = activities()
    start = (number - 1) * PAGE_SIZE
    records = [asdict(one) for one in everything[max(start, 0) : max(start + PAGE_SIZE, 0)]]
    pages = -(-len(everything) // PAGE_SIZE)
    return records, {"page": number, "per_page": PAGE_SIZE, "total": len(everything), "total_pages": pages}
