"""What a model sees: the conversation as it stands in the context of one participant's model at a chosen message.

Nobody reports that, so it is put together from the traffic: `reader` says whose context, `admission` what of the
traffic came into it, `eviction` what left it again, `story` what stands there at a moment and what it costs, `growth`
how it grew, `difference` what changed between two moments, `messages` the same as chat messages in JSON. Where the
model's own API was recorded, `requests` makes it what each request sent, and `request_change` says what was changed
from one to the next, and so why a prompt cache was missed.
"""

from __future__ import annotations

from inspector.analysis.views.model_context.reader import Options, Reader, find_reader, reader_of, readers
from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.analysis.views.model_context.story import Entry, ModelContext, Moment

__all__ = ["Entry", "ModelContext", "Moment", "Options", "Reader", "Role", "Why", "find_reader", "reader_of", "readers"]
