"""Builds file names from labels of others: they may contain paths, bidi marks, or a Windows device name.

Source: learn.microsoft.com, Naming Files, Paths, and Namespaces; nearly every file system allows at most 255 bytes.
"""

from __future__ import annotations

import re

_MAX_CHARACTERS = 48  # up to 192 bytes, with room for a suffix
_READ_CHARACTERS = 1_000
_DEVICE = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)


def file_stem(label: str, otherwise: str) -> str:
    """Returns a label as a file name without suffix: its letters and digits, joined by hyphens.

    Args:
        label: any text, secrets masked.
        otherwise: replaces an empty result, and prefixes a reserved name.
    """
    words = re.findall(r"\w+", label[:_READ_CHARACTERS])
    stem = "-".join(words)[:_MAX_CHARACTERS].strip("-_") or otherwise
    return f"{otherwise}-{stem}" if _DEVICE.fullmatch(stem) else stem
