"""Secrets of every sort to plant in logs, and what of them nothing may show."""

from __future__ import annotations

from tests.unit.protocol.secrets.keys import KEYS

BODY = "Zq7SecretValue9x"
PLANTED = (
    *KEYS, f"Bearer {BODY}", f"token={BODY}", f'password="{BODY}"', f"API_KEY='{BODY}'", f"X-API-Key: {BODY}",
    f"https://me:{BODY}@host/", f"redis://:{BODY}@host", f"ws://h/?token={BODY}", f'{{"token": "{BODY}"}}',
    f"Authorization: Basic {BODY}", f"Authorization: Token {BODY}", f"{{'token': '{BODY}'}}",
    f"Cookie: theme=dark; session={BODY}", f"--token {BODY}", f"curl -u me:{BODY} https://h",
    f"('x-api-key', '{BODY}')",
    f"- name: API_KEY\n  value: {BODY}\n", f'{{"name": "API_KEY", "more": {{}}, "value": "{BODY}"}}',
    f'tokens: ["{BODY}"]', f"q=%7B%22token%22%3A%22{BODY}%22%7D", f"setx API_KEY {BODY}",
    f'<input type="password" value="{BODY}">', f'form-data; name="token"\r\n\r\n{BODY}\r\n--',
    f"Here is my API key: {BODY}.", f"access key: {BODY}", f'Secret key = "{BODY}"',
    f"the password is {BODY}", f"https://h/?a=https%3A%2F%2Fg%2F%3Ftoken%3D{BODY}", f'["--api-key", "{BODY}"]',
    f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.{BODY}", f'{{"secret": {{"type": "x", "value": "{BODY}"}}}}',
)  # fmt: skip


def told(secret: str) -> str:
    """The part of a planted secret that tells it."""
    return BODY if BODY in secret else secret[-8:]


def name_with(secret: str, before: str = "") -> str:
    """A name that holds a planted secret, as far as names can: kinds are parted at colons, paths at slashes."""
    return before + (secret if ":" not in secret else f"token={BODY}")
