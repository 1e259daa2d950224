"""Words of Qwen Code in the user's place."""

from __future__ import annotations

from inspector.formats.format import AgentTools

TOOLS = AgentTools(program_texts=("This is the Qwen Code. We are setting up the context",))
