"""The plots below the timeline's lanes: how a context grows, and how many messages come (docs/design.md 16, Timeline).

pyqtgraph takes long to import, so that only `canvas`, `growth_figure` and `rates_figure` do it, and they are imported
when a plot is first shown.
"""

from __future__ import annotations

from inspector.ui.panels.growth.panel import GrowthPlot

__all__ = ["GrowthPlot"]
