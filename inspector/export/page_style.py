"""How the exported page looks: the theme's colours by name, both sets, chosen by `prefers-color-scheme`.

The window's tokens are out of reach here, below the window; a test holds the two together.
"""

from __future__ import annotations

COLORS: dict[str, tuple[str, str]] = {
    # token: (dark, light), as in ui/look/design_tokens.py
    "surface.base": ("#16181b", "#ffffff"),
    "surface.inset": ("#1b1e22", "#f6f7f9"),
    "surface.hover": ("#1f2226", "#f3f5f8"),
    "line.hair": ("#2a2d33", "#e1e4e9"),
    "ink.primary": ("#e4e6ea", "#1b1e23"),
    "ink.secondary": ("#aeb4be", "#4c525c"),
    "ink.tertiary": ("#949ba6", "#5f6671"),
    "accent.ring": ("#7d97ff", "#4a69e2"),
    "accent.text": ("#93abff", "#2f50c8"),
    "severity.error": ("#f47f7a", "#c22626"),
    "severity.warning": ("#e6b450", "#7d4f00"),
    "severity.note": ("#8fa8d8", "#3f5c9c"),
    "family.chat": ("#419fec", "#016aae"),
    "family.tools": ("#55cfa9", "#15674b"),
    "family.proposals": ("#e58a52", "#a2500b"),
    "family.reasoning": ("#e9b5e2", "#783e79"),
    "family.streams": ("#dad66a", "#433f06"),
    "family.control": ("#959ca7", "#5c636e"),
    "family.gateway": ("#959ca7", "#5c636e"),
    "family.unknown": ("#959ca7", "#5c636e"),
}

_RULES = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--surface-base); color: var(--ink-primary);
  font: 13px/1.45 Inter, "Segoe UI", system-ui, sans-serif; font-variant-numeric: tabular-nums; }
header { padding: 20px 24px 12px; border-bottom: 1px solid var(--line-hair); }
h1 { margin: 0 0 6px; font-size: 16px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 2px 0; overflow-wrap: anywhere; }
header p { color: var(--ink-secondary); }
.quiet { color: var(--ink-tertiary); }
header .loud { color: var(--severity-warning); font-weight: 600; }
summary, .heads { display: grid; align-items: baseline; gap: 10px; padding: 3px 24px 3px 10px; cursor: default;
  list-style: none;  grid-template-columns: 24px 60px 92px 184px 160px 130px minmax(0, 1fr); }
.heads { position: sticky; top: 0; background: var(--surface-base); border-bottom: 1px solid var(--line-hair);
  color: var(--ink-tertiary); font-size: 11px; }
.heads span { color: var(--ink-tertiary); } .heads .kind::before { content: none; }
summary::-webkit-details-marker { display: none; }
summary:hover { background: var(--surface-hover); }
summary:focus-visible { outline: 2px solid var(--accent-ring); outline-offset: -2px; }
summary span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.marks b { font-size: 11px; padding: 0 2px; }
.no { color: var(--ink-tertiary); text-align: right; }
.time, .context { color: var(--ink-secondary); }
.kind { padding-left: 13px; position: relative; }
.kind::before { content: ""; position: absolute; left: 1px; top: 6px; width: 7px; height: 7px; border-radius: 2px;
  background: var(--family); }
.said { color: var(--ink-secondary); }
details[open] > summary { background: var(--surface-inset); }
details[open] > :not(summary) { margin-left: 44px; margin-right: 24px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 8px 0; }
dt { color: var(--ink-tertiary); }
dd { margin: 0; overflow-wrap: anywhere; }
pre, code { font: 12px/1.5 "JetBrains Mono", "Cascadia Mono", Consolas, Menlo, monospace; }
pre { margin: 8px 0 16px; padding: 10px 12px; background: var(--surface-inset); border: 1px solid var(--line-hair);
  border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 480px; overflow-y: auto; }
.error { color: var(--severity-error); } .warning { color: var(--severity-warning); }
.note { color: var(--severity-note); } .mark { color: var(--accent-text); }
@media (max-width: 900px) { .time, .context { display: none; }
  summary, .heads { grid-template-columns: 20px 52px 130px 110px minmax(0, 1fr); } }
@media print { pre { max-height: none; } }
"""


def style_sheet() -> str:
    """The page's style sheet."""
    light, dark = (
        "".join(f"--{name.replace('.', '-')}: {pair[place]}; " for name, pair in COLORS.items()) for place in (1, 0)
    )
    families = "".join(
        f".{name.partition('.')[2]} {{ --family: var(--{name.replace('.', '-')}); }}\n"
        for name in COLORS
        if name.startswith("family.")
    )
    return f":root {{ {light}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n{families}{_RULES}"
