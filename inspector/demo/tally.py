"""What the demo's analyst works out from the records it receives: minutes a visit, by sector."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """What the analyst knows so far."""

    minutes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, records: list[dict[str, Any]]) -> str:
        """Count one page and return what stands out on it."""
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

    def result(self) -> str:
        """Return the averages by sector, longest first."""
        order = sorted(self.minutes, key=lambda sector: -_mean(self.minutes[sector]))
        parts = [f"{sector} {_mean(self.minutes[sector])} min ({len(self.minutes[sector])} visits)" for sector in order]
        return ", ".join(parts)

    def slowest(self) -> list[str]:
        """Return the two sectors with the longest visits."""
        return sorted(self.minutes, key=lambda sector: -_mean(self.minutes[sector]))[:2]

    def count(self) -> int:
        """Return the number of visits counted so far."""
        return sum(len(minutes) for minutes in self.minutes.values())


def _mean(minutes: list[int]) -> int:
    return round(sum(minutes) / len(minutes))
