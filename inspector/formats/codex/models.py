"""List prices of OpenAI's models.

Source: https://developers.openai.com/api/docs/pricing
"""

from __future__ import annotations

from inspector.formats.format import PriceList

PRICES = PriceList(
    provider="OpenAI",
    lines="""
gpt-6.1-sol = 2 in, 10 out, 0.1 cache read, 2.5 cache write
gpt-6.1-sol above 272000 = 4 in, 15 out, 0.2 cache read, 5 cache write
gpt-6.1-terra = 1 in, 5 out, 0.05 cache read, 1.25 cache write
gpt-6.1-terra above 272000 = 2 in, 7.5 out, 0.1 cache read, 2.5 cache write
gpt-6-astra = 10 in, 50 out, 1 cache read, 12.5 cache write
gpt-6-astra above 272000 = 20 in, 75 out, 2 cache read, 25 cache write
gpt-6-sol = 2 in, 10 out, 0.2 cache read, 2.5 cache write
gpt-6-sol above 272000 = 4 in, 15 out, 0.4 cache read, 5 cache write
gpt-6-luna = 0.1 in, 0.5 out, 0.01 cache read, 0.125 cache write
gpt-6-luna above 272000 = 0.2 in, 0.75 out, 0.02 cache read, 0.25 cache write
gpt-5.6-sol = 4 in, 20 out, 0.4 cache read, 5 cache write
gpt-5.6-sol above 272000 = 8 in, 30 out, 0.8 cache read, 10 cache write
gpt-5.6-terra = 2 in, 12 out, 0.2 cache read, 2.5 cache write
gpt-5.6-terra above 272000 = 4 in, 18 out, 0.4 cache read, 5 cache write
gpt-5.6-luna = 0.2 in, 1.2 out, 0.02 cache read, 0.25 cache write
gpt-5.6-luna above 272000 = 0.4 in, 1.8 out, 0.04 cache read, 0.5 cache write
gpt-5.5 = 5 in, 30 out, 0.5 cache read
gpt-5.5 above 272000 = 10 in, 45 out, 1 cache read
gpt-5.4 = 2.5 in, 15 out, 0.25 cache read
gpt-5.4 above 272000 = 5 in, 22.5 out, 0.5 cache read
gpt-5.4-mini = 0.75 in, 4.5 out, 0.075 cache read
gpt-5.4-nano = 0.2 in, 1.25 out, 0.02 cache read
gpt-5.3-codex = 1.75 in, 14 out, 0.175 cache read
gpt-5.2 = 1.75 in, 14 out, 0.175 cache read
gpt-5.2-codex = 1.75 in, 14 out, 0.175 cache read
gpt-5.1 = 1.25 in, 10 out, 0.125 cache read
gpt-5.1-codex = 1.25 in, 10 out, 0.125 cache read
gpt-5.1-codex-max = 1.25 in, 10 out, 0.125 cache read
gpt-5.1-codex-mini = 0.25 in, 2 out, 0.025 cache read
gpt-5 = 1.25 in, 10 out, 0.125 cache read
gpt-5-codex = 1.25 in, 10 out, 0.125 cache read
gpt-5-mini = 0.25 in, 2 out, 0.025 cache read
gpt-5-nano = 0.05 in, 0.4 out, 0.005 cache read
gpt-4.1 = 2 in, 8 out, 0.5 cache read
gpt-4.1-mini = 0.4 in, 1.6 out, 0.1 cache read
gpt-4.1-nano = 0.1 in, 0.4 out, 0.025 cache read
gpt-4o-2024-05-13 = 5 in, 15 out
gpt-4o = 2.5 in, 10 out, 1.25 cache read
gpt-4o-mini = 0.15 in, 0.6 out, 0.075 cache read
o4-mini = 1.1 in, 4.4 out, 0.275 cache read
o3 = 2 in, 8 out, 0.5 cache read
o3-mini = 1.1 in, 4.4 out, 0.55 cache read
codex-mini = 1.5 in, 6 out, 0.375 cache read
""",
)
