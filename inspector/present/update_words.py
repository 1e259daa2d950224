"""Sentences on newer versions of the program."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from inspector.base.versions import is_newer

if TYPE_CHECKING:
    from inspector.settings import Settings

NOT_CHECKED = "not checked, see Settings > General > Updates"
NO_FEED = "not checked, since no release feed is set"
DAY_S = 86_400
"""Least number of seconds between two requests to a feed."""


def is_check_due(settings: Settings, now_s: float) -> bool:
    """Returns True if the user allows a request to the feed, and the last one is a day old."""
    updates, known = settings.updates, settings.known_release
    if not updates.check or not updates.feed:
        return False
    # A request from the future means that the clock was wrong then.
    return known.feed != updates.feed or not 0 <= now_s - known.asked_s < DAY_S


def available_version(settings: Settings, own: str) -> str:
    """Returns the number of a newer version that the feed in the settings has named, or ""."""
    updates, known = settings.updates, settings.known_release
    counts = updates.check and known.feed == updates.feed and is_newer(known.version, own)
    return known.version if counts else ""


def available_words(version: str) -> str:
    """Returns the line of the start page."""
    return f"Version {version} is available"


def about_words(settings: Settings, own: str, problem: str) -> str:
    """Returns the fact for Help > About.

    Args:
        settings: the choice of the user, and the last answer.
        own: the running version.
        problem: sentence on the last request, or "".
    """
    updates, known = settings.updates, settings.known_release
    if not updates.check:
        return NOT_CHECKED
    if not updates.feed:
        return NO_FEED
    if version := available_version(settings, own):
        return f"version {version} is available"
    if problem:
        return problem
    if known.feed != updates.feed or not known.version:
        return "not known yet"
    return f"this is the newest version, as of {datetime.fromtimestamp(known.asked_s):%Y-%m-%d}"
