"""Addresses of model APIs that are of no coding agent's own provider."""

from __future__ import annotations

from inspector.formats.clients import ModelApi

MODEL_APIS = (
    ModelApi("", ("AZURE_OPENAI_ENDPOINT",)),
    ModelApi("", ("OPENROUTER_BASE_URL",)),
    ModelApi("", ("DEEPSEEK_BASE_URL",)),
    ModelApi("", ("XAI_BASE_URL",)),
)
