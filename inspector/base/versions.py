"""Compares version numbers of releases."""

from __future__ import annotations

import re

_RELEASE = re.compile(r"v?(\d{1,6}(?:\.\d{1,6}){0,3})", re.ASCII)
_OWN = re.compile(r"(\d{1,6}(?:\.\d{1,6}){0,3})(\.?(?:a|b|rc|dev)\d*)?", re.ASCII)
_PARTS = 4


def release_number(text: str) -> str:
    """Returns the number of a tag, with or without a `v` before it; "" for other texts, pre-releases included."""
    found = _RELEASE.fullmatch(text)
    return found[1] if found else ""


def is_newer(release: str, own: str) -> bool:
    """Returns True if a release is newer than the running version, which may be a pre-release."""
    number, found = release_number(release), _OWN.match(own)
    if not number or found is None:
        return False
    return (_parts(number), 1) > (_parts(found[1]), 0 if found[2] else 1)


def _parts(number: str) -> tuple[int, ...]:
    parts = [int(part) for part in number.split(".")]
    return (*parts, *[0] * (_PARTS - len(parts)))
