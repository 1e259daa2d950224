"""MCP configuration of Gemini CLI, and the addresses of its models."""

from __future__ import annotations

from inspector.formats.clients import ManualClient, ModelApi

CLIENT = ManualClient(
    name="gemini",
    title="Gemini CLI",
    file="~/.gemini/settings.json",
    key="mcpServers",
    command="command",
    arguments="args",
    url="url or httpUrl",
)
MODEL_APIS = (
    ModelApi("https://generativelanguage.googleapis.com", ("GOOGLE_GEMINI_BASE_URL",)),
    ModelApi("https://aiplatform.googleapis.com", ("GOOGLE_VERTEX_BASE_URL",), "https://{}-aiplatform.googleapis.com"),
    ModelApi("https://cloudcode-pa.googleapis.com", ("CODE_ASSIST_ENDPOINT",)),  # for a sign-in with Google
)
