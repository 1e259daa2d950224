"""Topics of the demo's team: one a round, in turn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """One question and the team's work on it."""

    question: str
    """The human's question."""

    goal: str
    """Opens the lead's reasoning."""

    aloud: str
    """The lead's streamed text, token by token."""

    assignment: str
    """The lead's request to the analyst."""

    forecast: str
    """A side track that the human cancels."""

    closing: str
    """The human's last message."""


TOPICS = (
    Topic(
        "We made 132 customer visits this quarter. Which sectors take us longest, and what should we try?",
        "Find the sectors with the longest visits and one thing to try in each",
        "The brief wants two sectors and one page. Averages alone may mislead, so I need the notes as well.",
        "Please go through all visits of the quarter, page by page. I need minutes by sector and what the notes blame.",
        "Forecast next quarter's visits from this quarter alone",
        "Good work. I will take the report into the regional call.",
    ),
    Topic(
        "Kerstin says our visits have become longer. Do the records bear that out, or is it only a few of them?",
        "Check whether long visits are the rule or a few outliers",
        "Last quarter's mean was 52 minutes. A mean moves with a handful of long visits, so the spread matters here.",
        "Please read every page again and look at the spread: the longest visit of each page, and what kept us there.",
        "Guess which customers will complain next",
        "That settles it, thank you. I will tell Kerstin.",
    ),
    Topic(
        "Two visitors retire in May. Where could a call replace a visit without anybody minding?",
        "Find the visits that a call could replace",
        "Short visits with a narrow purpose are the candidates. Invoice questions first, then product walk-throughs.",
        "Please page through all visits. Short ones interest me most: which sector, and what was done in that time?",
        "Rank the visitors by minutes",
        "Convincing. Let us start with Retail and see.",
    ),
)
