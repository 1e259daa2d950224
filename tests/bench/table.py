"""Rows of the table: what was measured, beside its target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HEADINGS = ("what", "measured", "target", "ratio", "verdict")


@dataclass(frozen=True, slots=True)
class Row:
    """One line.

    Attributes:
        what: what was measured.
        measured: the figure with its unit; "" when there is none.
        target: what it is to be at most, or exactly; "" when nothing was set.
        ratio: measured by target; "" without one.
        verdict: reached, not reached, - (no target), or `not measured: why`.
        must: it is no matter of speed: a miss is a fault.
    """

    what: str
    measured: str = ""
    target: str = ""
    ratio: str = ""
    verdict: str = "-"
    must: bool = False


def figure(value: float, unit: str) -> str:
    """A value in seconds, or in the unit it has, as people read it."""
    if unit == "s":
        if value >= 1:
            return f"{value:,.2f} s"
        return f"{value * 1000:,.0f} ms" if value >= 0.1 else f"{value * 1000:,.1f} ms"
    number = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}"
    return f"{number} {unit}".strip()


def at_most(what: str, value: float, target: float, unit: str = "s", *, note: str = "") -> Row:
    """A figure that is to be a target at most.

    Args:
        what: what was measured.
        value: the figure; seconds unless `unit` says otherwise.
        target: in the same unit.
        unit: `s`, `MB`, `x`, ...
        note: said behind the target, such as that it was scaled.
    """
    shown = f"<= {figure(target, unit)}{f' {note}' if note else ''}"
    verdict = "reached" if value <= target else "not reached"
    return Row(what, figure(value, unit), shown, f"{value / target:.2f}" if target else "", verdict)


def at_least(what: str, value: float, target: float, unit: str = "") -> Row:
    """A figure that is to be a target at least."""
    verdict = "reached" if value >= target else "not reached"
    return Row(what, figure(value, unit), f">= {figure(target, unit)}", f"{value / target:.2f}", verdict)


def exactly(what: str, value: float | bool, target: float | bool) -> Row:
    """A count or a truth that is to be exactly so."""

    def shown(one: float | bool) -> str:
        return ("yes" if one else "no") if isinstance(one, bool) else f"{one:,.0f}"

    return Row(what, shown(value), shown(target), "", "reached" if value == target else "not reached", must=True)


def info(what: str, value: float, unit: str = "s") -> Row:
    """A figure without a target."""
    return Row(what, figure(value, unit))


def not_measured(what: str, why: str) -> Row:
    """A figure that could not be had."""
    return Row(what, verdict=f"not measured: {why}")


def lines(sections: Iterable[tuple[str, list[Row]]]) -> list[str]:
    """The table as lines of Markdown whose columns stand below each other in plain text too."""
    cells: list[tuple[str, ...]] = [HEADINGS]
    for title, rows in sections:
        cells.append((f"**{title}**", "", "", "", ""))
        cells += [(row.what, row.measured, row.target, row.ratio, row.verdict) for row in rows]
    widths = [max(len(line[place]) for line in cells) for place in range(len(HEADINGS))]
    widths[-1] = min(widths[-1], 40)  # the reasons in the last column may be longer
    padded = ([cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in cells)
    made = [f"| {' | '.join(line)} |" for line in padded]
    made.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return made
