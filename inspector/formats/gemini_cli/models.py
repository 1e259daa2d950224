"""List prices of Google's models.

Source: https://ai.google.dev/gemini-api/docs/pricing
"""

from __future__ import annotations

from inspector.formats.format import PriceList

PRICES = PriceList(
    provider="Google",
    lines="""
gemini-3.1-pro-preview = 2 in, 12 out, 0.2 cache read
gemini-3.1-pro-preview above 200000 = 4 in, 18 out, 0.4 cache read
gemini-3-pro-preview = 2 in, 12 out, 0.2 cache read
gemini-3-pro-preview above 200000 = 4 in, 18 out, 0.4 cache read
gemini-3-flash-preview = 0.5 in, 3 out, 0.05 cache read
gemini-2.5-pro = 1.25 in, 10 out, 0.125 cache read
gemini-2.5-pro above 200000 = 2.5 in, 15 out, 0.25 cache read
gemini-2.5-flash = 0.3 in, 2.5 out, 0.03 cache read
gemini-2.5-flash-lite = 0.1 in, 0.4 out, 0.01 cache read
gemini-2.0-flash = 0.1 in, 0.4 out, 0.025 cache read
""",
)
