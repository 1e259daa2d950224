"""What of a context window was spent for nothing: results and tool definitions that could have been spared.

`finder` goes through a capture in slices. `results` is what it looks at, and each of `definitions`, `unconsumed`,
`repeats` and `traces` one way to waste; `words` and `passages` say what of a text tells it from others. All of it is
as far as the traffic tells; tokens are an estimate.
"""

from __future__ import annotations

from inspector.analysis.views.waste.finder import WasteFinder, WasteReport
from inspector.analysis.views.waste.wasted import Waste, WasteKind

__all__ = ["Waste", "WasteFinder", "WasteKind", "WasteReport"]
