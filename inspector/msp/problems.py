"""What can be odd about an MSP document: the codes of its problems."""

from __future__ import annotations

UNREADABLE = "msp-unreadable"
"""A file, line or element is no JSON, or no object."""

SKIPPED = "msp-skipped"
"""A file or an element holds no MSP object."""

INVALID = "msp-invalid"
"""A member is not what the protocol says, or is missing."""

VISIBILITY = "msp-visibility"
"""A message stands where its visibility does not let it be seen, or the visibility is none we know."""

STATUS = "msp-status"
"""The status is none we know, or contradicts `closed_at`."""

TIMES = "msp-times"
"""It was closed before it was opened."""

DUPLICATE = "msp-duplicate-id"
"""Two objects, or two messages of one, have the same id."""

UNLISTED = "msp-unlisted"
"""A sub-session is not in its session's list."""

MISSING = "msp-missing"
"""A session lists a sub-session there is no object of."""

PARENT = "msp-parent"
"""The parent is not there, not said, or said twice."""

CYCLE = "msp-cycle"
"""Sub-sessions are each other's parents."""

CODES = (UNREADABLE, SKIPPED, INVALID, VISIBILITY, STATUS, TIMES, DUPLICATE, UNLISTED, MISSING, PARENT, CYCLE)
