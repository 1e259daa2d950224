"""List prices of Anthropic's models.

Source: https://platform.claude.com/docs/en/about-claude/pricing
"""

from __future__ import annotations

from inspector.formats.format import PriceList

PRICES = PriceList(
    provider="Anthropic",
    lines="""
claude-fable-5-2 = 8 in, 40 out, 0.2 cache read, 10 cache write, 16 cache write 1h
claude-fable-5-1 = 10 in, 50 out, 0.25 cache read, 12.5 cache write, 20 cache write 1h
claude-fable-5 = 10 in, 50 out, 1 cache read, 12.5 cache write, 20 cache write 1h
claude-opus-5-5 = 4 in, 20 out, 0.2 cache read, 5 cache write, 8 cache write 1h
claude-opus-5 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-8 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-7 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-6 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-5 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-1 = 15 in, 75 out, 1.5 cache read, 18.75 cache write, 30 cache write 1h
claude-opus-4-0 = 15 in, 75 out, 1.5 cache read, 18.75 cache write, 30 cache write 1h
claude-opus-4 = 15 in, 75 out, 1.5 cache read, 18.75 cache write, 30 cache write 1h
claude-sonnet-5-5 = 2 in, 10 out, 0.1 cache read, 2.5 cache write, 4 cache write 1h
claude-sonnet-5 = 2 in, 10 out, 0.2 cache read, 2.5 cache write, 4 cache write 1h
claude-sonnet-4-6 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-sonnet-4-5 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-sonnet-4-5 above 200000 = 6 in, 22.5 out, 0.6 cache read, 7.5 cache write, 12 cache write 1h
claude-sonnet-4-0 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-sonnet-4 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-haiku-5-5 = 0.1 in, 0.5 out, 0.01 cache read, 0.125 cache write, 0.2 cache write 1h
claude-haiku-5-5 above 100000 = 0.5 in, 2.5 out, 0.05 cache read, 0.625 cache write, 1 cache write 1h
claude-haiku-4-5 = 1 in, 5 out, 0.1 cache read, 1.25 cache write, 2 cache write 1h
claude-3-7-sonnet = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-3-5-sonnet = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-3-5-haiku = 0.8 in, 4 out, 0.08 cache read, 1 cache write, 1.6 cache write 1h
claude-3-opus = 15 in, 75 out, 1.5 cache read, 18.75 cache write, 30 cache write 1h
claude-3-haiku = 0.25 in, 1.25 out, 0.03 cache read, 0.3 cache write, 0.5 cache write 1h
""",
)
