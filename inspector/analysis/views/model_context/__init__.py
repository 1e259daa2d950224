"""Reconstructs the context of one participant's model at a chosen message, from the traffic.

`reader` selects the participant. `admission` and `eviction` determine the messages that enter and leave its context.
`reconstruction` returns the content at a moment with its cost, and `growth` the course over time. `difference` compares
two moments, and `chat_messages` exports chat messages as JSON. If the model's API was recorded, `recorded_requests`
uses the content of each request, and `request_change` explains changes between requests and so missed prompt caches.
"""

from __future__ import annotations

from inspector.analysis.views.model_context.context_owners import Options, Reader, find_reader, reader_of, readers
from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.analysis.views.model_context.reconstruction import Entry, ModelContext, Moment

__all__ = ["Entry", "ModelContext", "Moment", "Options", "Reader", "Role", "Why", "find_reader", "reader_of", "readers"]
