"""Addresses and states of gateways for a window: plain types, and functions that only read their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.sources.connection import AddressError as AddressError
from inspector.sources.connection import Connection as Connection
from inspector.sources.connection import Secret as Secret
from inspector.sources.connection import named_space as named_space
from inspector.sources.connection import new_participant as new_participant
from inspector.sources.connection import normal_url as normal_url
from inspector.sources.state import SourceState as SourceState

if TYPE_CHECKING:
    from inspector.document.live import Probe


async def probe_gateway(connection: Connection) -> Probe:
    """Joins a gateway and leaves at once. Raises OSError if there is no space for a temporary capture."""
    from inspector.document import live  # imports the network

    return await live.probe_gateway(connection)
