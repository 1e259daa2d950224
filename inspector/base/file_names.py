"""Names of files made of what others wrote: a label may hold paths, marks that turn it around, or a device of Windows.

Source: learn.microsoft.com, Naming Files, Paths, and Namespaces; 255 bytes are the most on nearly every file system.
"""

from __future__ import annotations

import re

_MOST_CHARACTERS = 48  # up to 192 bytes: what is put behind it fits, too
_READ_CHARACTERS = 1_000
_DEVICE = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)


def file_stem(label: str, otherwise: str) -> str:
    """A label as the name of a file without its ending: its letters and digits, with lines between them.

    Args:
        label: whatever somebody wrote, secrets masked.
        otherwise: where nothing is left of it; and before what is no name on some systems.
    """
    words = re.findall(r"\w+", label[:_READ_CHARACTERS])
    stem = "-".join(words)[:_MOST_CHARACTERS].strip("-_") or otherwise
    return f"{otherwise}-{stem}" if _DEVICE.fullmatch(stem) else stem
