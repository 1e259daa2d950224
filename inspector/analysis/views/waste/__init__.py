"""Finds wasted tokens of a context window: results and tool definitions that were unnecessary.

`finder` goes through a capture in slices. `results` prepares tool results. `definitions`, `finder.unconsumed_waste`,
`repeats` and `mentions` each find one kind of waste; `distinctive_words` extracts distinctive words and passages.
Verdicts rest on the recorded traffic only, and tokens are estimates.
"""

from __future__ import annotations

from inspector.analysis.views.waste.finder import WasteFinder, WasteReport
from inspector.analysis.views.waste.waste_records import Waste, WasteKind, WasteTotals

__all__ = ["Waste", "WasteFinder", "WasteKind", "WasteReport", "WasteTotals"]
