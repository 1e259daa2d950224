"""Key shapes of known services: one table for masks, findings and checks of names.

A shape is a rare beginning, and a body with a number of characters of some kind. Lengths are the shortest of the
service, so that names such as `npm_install` do not match. A new shape needs a clue in `rule_prefilter`; a property test
verifies both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_FEWEST_DIFFERENT = 6
"""Distinct characters in a body; fewer are a placeholder, such as `ghp_xxxxxxxx`."""
# Allowed text before a key that ends like a word: escapes of JSON and addresses, terminal colours.
_ENDS_LIKE_WORDS = (
    r"\\[bfnrt]", r"\\u[0-9a-fA-F]{4}", r"\\x[0-9a-fA-F]{2}",
    *(f"%{'25' * times}[0-9a-fA-F]{{2}}" for times in range(4)),
    r"\[[mK]", r"[\[;][0-9][mK]", r"[\[;][0-9]{2}[mK]", r"[\[;][0-9]{3}[mK]",
)  # fmt: skip
_END = r"(?![A-Za-z0-9_\-])"
_DIGIT = r"(?=[A-Za-z_\-]{0,64}\d)"
# Mixed case, or longer: learn-model-20240101abcdef is a name.
_MIXED = r"(?=[A-Z0-9]{0,40}[a-z])(?=[a-z0-9]{0,40}[A-Z])[A-Za-z0-9]{12}"
_LONG = rf"(?=[A-Za-z0-9_\-]{{0,40}}?(?:[A-Za-z0-9]{{20}}|{_MIXED}))"


@dataclass(frozen=True, slots=True)
class KeyShape:
    """A type of key.

    Attributes:
        service: its issuer.
        start: regular expression of its beginning, `width` characters.
        body: the secret after it.
        telling: a few characters after the beginning identify it in a name.
    """

    service: str
    start: str
    width: int
    body: str
    telling: bool = False


SHAPES: Final = (
    # With a digit and a long part: sk-team-planning-2024 is a name.
    KeyShape("OpenAI, Anthropic", "sk-", 3, _DIGIT + _LONG + r"[A-Za-z0-9_\-]{16,512}", telling=True),
    KeyShape("Stripe", "[rs]k_(?:live|test)_", 8, r"[A-Za-z0-9]{16,256}", telling=True),
    KeyShape("Stripe", "whsec_", 6, r"[A-Za-z0-9+/=]{24,256}"),
    KeyShape("GitHub", "gh[oprsu]_", 4, r"[A-Za-z0-9]{16}[A-Za-z0-9_]{4,512}", telling=True),
    KeyShape("GitHub", "github_pat_", 11, r"[A-Za-z0-9]{16}[A-Za-z0-9_]{4,512}", telling=True),
    KeyShape("GitLab", "glpat-", 6, r"[A-Za-z0-9_\-]{20,512}(?:\.[A-Za-z0-9_\-]{2,64}){0,3}", telling=True),
    KeyShape("AWS", "A[KS]IA", 4, r"[A-Z0-9]{16}" + _END, telling=True),
    KeyShape("Slack", "xox[abeoprs]-", 5, _DIGIT + r"[A-Za-z0-9\-]{10,512}", telling=True),
    KeyShape("Slack", "xapp-", 5, r"\d-[A-Za-z0-9\-]{16,512}"),
    KeyShape("Google", "AIza", 4, r"[A-Za-z0-9_\-]{35}" + _END),
    KeyShape("Google", r"AQ\.", 3, _DIGIT + r"[A-Za-z0-9_\-]{40,512}"),
    KeyShape("Google", r"ya29\.", 5, r"[A-Za-z0-9_\-]{20,2048}"),
    KeyShape("npm", "npm_", 4, r"[A-Za-z0-9]{30,256}"),
    KeyShape("PyPI", "pypi-", 5, r"AgE[A-Za-z0-9_\-]{16,1024}"),
    KeyShape("Hugging Face", "hf_", 3, r"[A-Za-z0-9]{30,256}"),
    KeyShape("Groq", "gsk_", 4, r"[A-Za-z0-9]{30,256}"),
    KeyShape("Replicate", "r8_", 3, r"[A-Za-z0-9]{30,256}"),
    KeyShape("xAI", "xai-", 4, _DIGIT + r"[A-Za-z0-9]{40,256}"),
    KeyShape("Perplexity", "pplx-", 5, _DIGIT + r"[A-Za-z0-9]{32,256}"),
    KeyShape("DigitalOcean", "do[opr]_v1_", 7, r"[a-f0-9]{40,128}"),
    KeyShape("Shopify", "shp(?:at|ca|pa|ss)_", 6, r"[A-Fa-f0-9]{32}" + _END),
    KeyShape("Supabase", "sbp_", 4, r"[a-f0-9]{40}" + _END),
    KeyShape("Grafana", "glsa_", 5, r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    KeyShape("Linear", "lin_api_", 8, r"[A-Za-z0-9]{30,256}"),
    KeyShape("Notion", "ntn_", 4, r"[A-Za-z0-9]{30,256}"),
    KeyShape("SendGrid", r"SG\.", 3, r"[A-Za-z0-9_\-]{16,64}\.[A-Za-z0-9_\-]{16,128}"),
    KeyShape("Docker", "dckr_pat_", 9, r"[A-Za-z0-9_\-]{20,256}"),
    KeyShape("LangSmith", "lsv2_(?:pt|sk)_", 8, r"[a-f0-9]{32}_[a-f0-9]{6,16}"),
    KeyShape("Pinecone", "pcsk_", 5, r"[A-Za-z0-9]{4,16}_[A-Za-z0-9]{30,256}"),
    KeyShape("Figma", "figd_", 5, r"[A-Za-z0-9_\-]{30,256}"),
    KeyShape("Jina", "jina_", 5, r"[A-Za-z0-9_\-]{40,256}"),
    KeyShape("NVIDIA", "nvapi-", 6, _DIGIT + r"[A-Za-z0-9_\-]{40,256}"),
    KeyShape("Tavily", "tvly-", 5, _DIGIT + r"[A-Za-z0-9\-]{20,256}"),
    KeyShape("age", "AGE-SECRET-KEY-", 15, r"1[A-Z0-9]{40,64}" + _END),
    # -----BEGIN ... in base64, as in Kubernetes; excludes certificates and public keys with the same beginning.
    KeyShape("Private key in base64", "LS0tLS1CRUdJTiB", 15, r"(?!DRVJ|QVUJ)[A-Za-z0-9+/=]{32,65536}"),
    KeyShape("Vault", r"hvs\.", 4, r"[A-Za-z0-9_\-]{24,512}"),
    KeyShape("Atlassian", "AT[AC]TT3", 6, _DIGIT + r"[A-Za-z0-9_\-]{24,512}(?:=[A-F0-9]{8})?"),
    KeyShape("Databricks", "dapi", 4, r"[a-f0-9]{32}(?:-\d)?" + _END),
    KeyShape("New Relic", "NRAK-", 5, r"[A-Z0-9]{27}" + _END),
    KeyShape("Postman", "PMAK-", 5, r"[a-f0-9]{24}-[a-f0-9]{34}" + _END),
    KeyShape("Sentry", "sntry[su]_", 7, _DIGIT + r"[A-Za-z0-9+/=_\-]{40,1024}"),
    KeyShape("1Password", "ops_", 4, r"eyJ[A-Za-z0-9_\-+/=]{40,2048}"),
    KeyShape("Fly", "fo1_", 4, _DIGIT + r"[A-Za-z0-9_\-]{40,64}" + _END),
    KeyShape("Pulumi", "pul-", 4, r"[a-f0-9]{40}" + _END),
    KeyShape("Mailgun", "key-", 4, r"[a-f0-9]{32}" + _END),
    KeyShape("Dropbox", r"sl\.", 3, r"(?:[a-z]{1,2}\.)?" + _DIGIT + r"[A-Za-z0-9_\-]{60,2048}" + _END),
)


def word_start_pattern(width: int, letters: str = "A-Za-z0-9") -> str:
    """Returns a pattern of a word's start, tested after the beginning, since a literal is found faster.

    Args:
        width: characters of the beginning.
        letters: characters not allowed before it, as in a character class.
    """
    before = "|".join(f"(?<={one}.{{{width}}})" for one in _ENDS_LIKE_WORDS)
    return f"(?:(?<![{letters}].{{{width}}})|{before})"


def _pattern(shape: KeyShape) -> re.Pattern[str]:
    return re.compile(f"({shape.start}){word_start_pattern(shape.width)}{shape.body}")


# The parts of a Discord bot token, the first a number in base64; Mailchimp's key has only a distinctive end.
_IN_PARTS = re.compile(
    rf"()[MNO]{word_start_pattern(1)}(?=[A-Za-z_\-]{{0,24}}\d)(?=[A-Z0-9_\-]{{0,24}}[a-z])[A-Za-z0-9_\-]{{22,25}}\.[A-Za-z0-9_\-]{{6}}\."
    rf"(?=[A-Za-z_\-]{{0,40}}\d)(?=[a-z0-9_\-]{{0,40}}[A-Z])[A-Za-z0-9_\-]{{27,40}}(?![A-Za-z0-9_\-.])"
)
_BEFORE_END = re.compile(rf"()[a-f0-9]{word_start_pattern(1)}[a-f0-9]{{31}}(?=-us\d{{1,2}}(?![A-Za-z0-9_\-]))")
PATTERNS: Final = (*(_pattern(shape) for shape in SHAPES), _IN_PARTS, _BEFORE_END)
"""Patterns of all shapes, and of keys without a beginning; group 1 stays visible."""
# The header stays visible to show the type. The match ends at the footer, or as far as the text looks like a key:
# truncated, with line numbers, or with each line quoted. A header extends to the end of its line: other ends would
# cause backtracking. Before 3.11.5 a possessive group keeps characters of a failed attempt.
PRIVATE_KEY: Final = re.compile(
    r"(-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----)"
    r"(?:(?!-----)[^\-\"]*+(?:-(?!----)[^\-\"]*+)*(?=-----END)"
    r"|(?:(?:[\s|:,+'\"\u2192]|\\{1,64}[nrt\"']|[0-9]{1,6}(?=[\s|:\u2192\\])|(?:Proc-Type|DEK-Info|Version|Comment): "
    r"[^\r\n\\\"]{0,200}(?=[\r\n\\\"]))*[A-Za-z0-9+/=]{16,}+)+)"
)
"""A private key as text (PEM, OpenSSH, PGP)."""
PRIVATE_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{16,}")
"""A line of a private key."""

_STARTS = "|".join(shape.start for shape in SHAPES if shape.telling)
# After a hyphen only long text with a digit: risk-assessment and ask-sk-team are names.
_IN_NAME = re.compile(
    rf"(?m:^|[/:=])(?:{_STARTS})[A-Za-z0-9_\-]{{8,}}"
    rf"|[\-_.](?:{_STARTS})(?:[a-z]{{1,12}}\d{{0,4}}-){{0,2}}{_DIGIT}[A-Za-z0-9]{{14,}}"
)


_MADE = re.compile(rf"(?:[A-Za-z]{{2}}\.)?{_DIGIT}{_LONG}[A-Za-z0-9_\-]{{20,512}}")


def is_made_key(value: str) -> bool:
    """Returns True if a text without a known beginning looks like a key: one long piece with a digit."""
    return _MADE.fullmatch(value) is not None and is_no_placeholder(value)


def is_no_placeholder(body: str) -> bool:
    """Returns True unless the body of a possible key is a placeholder."""
    return len(set(body[:64])) >= _FEWEST_DIFFERENT


def contains_key(name: str) -> bool:
    """Returns True if a name, as of a context, contains a key or its beginning; names should have neither.

    Of several names on separate lines, any counts.
    """
    return _IN_NAME.search(name) is not None
