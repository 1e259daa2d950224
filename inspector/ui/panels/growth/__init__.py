"""Plots below the timeline's lanes: context growth and messages per second (docs/design.md 16, Timeline)."""

from __future__ import annotations

from inspector.ui.panels.growth.panel import GrowthPlot

__all__ = ["GrowthPlot"]
