"""Budgets of a test: how long the window works at once in it, and how soon it does what it puts off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.ui import budgets


def set_budgets(patch: pytest.MonkeyPatch, **fields: float) -> None:
    """Put other values in force for fields of `budgets.Budgets`, until the patch ends."""
    patch.setattr(budgets, "current", replace(budgets.current, **fields))
