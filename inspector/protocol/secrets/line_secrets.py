"""Masks secrets in lines of files and commands: `tokens:` with a list below, `--token ...`, `curl -u me:...`.

Line ends may be real, or escaped as in JSON. In possible prose, a value is masked only if it looks like a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from inspector.protocol.secrets.key_shapes import word_start_pattern
from inspector.protocol.secrets.secret_keys import is_plural_secret_key, is_secret_key, is_secret_name, looks_random
from inspector.protocol.secrets.spans import replace_spans

_END = r"(?:\r?\n|\\{1,64}r\\{1,64}n|\\{1,64}n)"
_QUOTE = r"\\{0,64}[\"'`]"
_BORDER = word_start_pattern(0, r"A-Za-z0-9_.\-")
# The first letter is tested before the case-insensitive rest, which is slow.
_WORDS = (
    r"(?=[tpskjcTPSKJC])(?i:token|pass|passwd|password|passphrase|passcode|pwd|secret|key|jwt|credential|cred|cookie)"
)

# - name: API_KEY            { name: 'API_KEY', value: '...' }      <add key="ApiKey" value="..."/>
#   value: ...
_PAIR = re.compile(
    rf"(?=[nkvhflipeNKVHFLIPE]){_BORDER}"
    rf"(?i:name|key|variable|header|field|label|id|parameter|property|env)\b{_QUOTE}?[ \t]{{0,8}}[:=][ \t]{{0,8}}"
    rf"(?P<quote>(?:{_QUOTE})?)(?P<name>[A-Za-z][A-Za-z0-9_.\-]{{1,100}})(?P=quote)"
    rf"(?:[ \t]{{0,8}},?{_END}[ \t]{{0,64}}|[ \t]{{0,8}},[ \t]{{0,8}}|[ \t]{{1,8}})"
    rf"(?:{_QUOTE})?(?i:value)(?:{_QUOTE})?[ \t]{{0,8}}[:=][ \t]{{0,8}}"
    rf"(?:(?P<open>{_QUOTE})(?P<quoted>[^\"'`\r\n\\]{{1,2048}})(?P=open)|(?P<value>[^\s\"'`\\,<>{{}}\[\]|]{{1,2048}}))"
)
_PLAIN = re.compile(r"-?[0-9.]+|true|false|null|none|True|False|None")
# tokens:                    tokens: ["...", "..."]                 password: |
#   - ...                                                             ...
_SEVERAL = re.compile(
    rf"{_WORDS}[sS]?(?P<close>(?:{_QUOTE})?)[ \t]{{0,8}}[:=][ \t]{{0,8}}"
    rf"(?:(?P<list>\[)|(?:![\w.\-]{{1,64}}[ \t]{{1,8}})?(?P<block>[|>][+\-]?)?[ \t]{{0,8}}(?={_END}))"
)
_BLANKS = r"(?:\s|\\{1,64}r\\{1,64}n|\\{1,64}n){0,64}"  # no overlapping alternatives, to avoid exponential backtracking
_ITEM = re.compile(rf"{_BLANKS}(?:{_QUOTE})?(?P<value>[^\s\"'`\\,\[\]{{}}]{{1,600}})(?:{_QUOTE})?{_BLANKS},?")
_LISTED = re.compile(
    rf"{_END}[ \t]{{0,64}}-[ \t]{{1,8}}(?:{_QUOTE})?(?P<value>[^\s\"'`\\,\[\]{{}}:]{{1,600}})(?:{_QUOTE})?[ \t]{{0,8}}"
)
_BELOW = re.compile(
    rf"{_END}(?P<indent>[ \t]{{1,64}})(?P<value>[^\s\"'`\\]{{3,2048}})(?=[ \t]{{0,8}}(?:{_END}|\Z|{_QUOTE}))"
)
_MOST_ITEMS = 100
_LONGEST_BEFORE = 160
"""Characters of a line before a password's name."""
_NAME = re.compile(
    r"(?P<escape>\\(?:[bfnrt]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|%[0-9a-fA-F]{2}|\[[0-9;]{0,24}[mK])?"
    r"(?P<name>(?:(?i:api|access|secret|private|signing|auth) )?[\w\-]*)\Z"
)
_LONGEST_NAME = 64

_OPTION = re.compile(
    rf"-{word_start_pattern(1, 'A-Za-z0-9_.-')}-?"
    rf"(?P<name>(?=[A-Za-z])[A-Za-z0-9_\-]{{0,60}}?{_WORDS}[sS]?)(?:[ \t]{{1,8}}|{_END}[ \t]{{0,8}}|\\{{1,64}}t)"
    rf"(?:(?P<quote>{_QUOTE})(?P<quoted>[^\"'`\r\n\\]{{1,2048}})(?P=quote)"
    r"|(?P<value>[^\s\"'`\\<>|;&(){}\[\],]{3,2048}))"
)
_PASSWORD = re.compile(r"(?i)pass|pwd")
_NO_VALUE = re.compile(
    r"(?i)-|[$%#@]|(?-i:[A-Z_]{2,}\Z)|(?:is|are|was|and|or|the|to|for|in|of|on|if|as|with|from|when|which|that"
    r"|option|options|flag|flags|argument|parameter|value|must|can|may|should|will|instead|not|only|via|by|you|your|then"
    r"|file|a|an|it|at|has|takes|sets|stdin|into|string|required|optional|true|false|none|null)\b"
)
_TELLING = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])\S{6,}")

_PROGRAM = r"[^\r\n|;]{0,400}?[\s\"']"
_COMMANDS = tuple(
    (known, re.compile(f"{_BORDER}({before}){secret}"))
    for known, before, secret in (
        ("-u", rf"(?:curl|http|https|wget|xh)\b{_PROGRAM}(?:-u|--user)[\s\"',=]{{0,8}}[^\s:\"'\\,]{{1,128}}:",
         r"[^\s\"'\\]{1,256}"),
        ("curl", rf"curl\b{_PROGRAM}(?:-b|--cookie)[ \t]{{1,8}}\\{{0,64}}[\"']",
         r"[^\s=\"'\\]{1,128}=[^\"'\r\n\\]{1,4096}"),
        ("-p", rf"(?:mysql|mysqldump|mysqladmin|mariadb)\b{_PROGRAM}-p['\"]?", r"[^\s\"'\\]{3,256}"),
        ("-p", rf"(?:sshpass|(?:docker|podman|registry|oc|az)[ \t]login|mongosh?|mongodump)\b{_PROGRAM}-p[ \t]{{0,8}}"
         r"\\{0,64}['\"]?", r"[^\s\"'\\]{3,256}"),
        ("-cli", rf"(?:redis|valkey)-cli\b{_PROGRAM}-a[ \t]{{1,8}}['\"]?", r"[^\s\"'\\]{3,256}"),
        ("login", r"login[ \t]\S{1,100}?(?:\s|\\{1,64}[nrt]){1,8}password[ \t]{1,8}",
         r"(?=[^\s0-9]{0,250}[0-9])[^\s\"'\\]{3,256}"),
        ("'", r"(?=[pPiI])(?i:password|identified[ \t](?:with[ \t]\w{1,40}[ \t])?by)[ \t]{1,8}",
         r"'(?=[^'\r\n0-9]{0,250}[0-9])[^'\r\n\\]{3,256}'"),
    )
)  # fmt: skip
"""Commands with a secret: a required substring, and the pattern; group 1 is the text before the secret."""
_NAMED = re.compile(
    rf"{_WORDS}(?P<gap>[ \t]{{1,8}}(?i:is|was|are)[: \t]{{1,8}}|(?:\\{{0,64}}[\"'])?[ \t]{{0,8}}=>[ \t]{{0,8}}"
    rf"|[ \t]{{0,8}}(?:->|[\u2192\u2014])[ \t]{{0,8}}|[*`]{{1,3}}[ \t]{{0,4}}:?[ \t]{{1,8}}"
    rf"|:[*`]{{1,3}}[ \t]{{1,8}}|:?[ \t]{{1,8}}(?=`))"
    rf"[*]{{0,3}}(?P<quote>(?:{_QUOTE})?)"
    r"(?P<value>[^\s\"'`\\<>()\[\]{},;*]{3,512})"
)
_SET = re.compile(
    rf"(?=[sEc]){_BORDER}((?:setenv|ENV|configure set|config set)[ \t]{{1,8}}(?P<name>[\w.\-:/]{{0,99}}[A-Za-z])"
    r"[ \t]{1,8})(?P<value>[^\s\"'\\=]{3,512})"
)
# setx NAME ..., set -gx NAME ..., set --export NAME ..., gh secret set NAME --body ..., setenv("NAME", "...")
_FLAGS = r"(?:[ \t]{1,8}(?:-[a-zA-Z]{1,4}|--[a-z]{2,12}))"
_GIVEN = (
    r"(?:[ \t]{1,8}(?:-[A-Zac-z]|--(?!body\b)[a-z][a-z\-]{1,30}+)"
    rf"(?:(?:=|[ \t]{{1,8}})(?:{_QUOTE})?[^\s\"'`\\\-][^\s\"'`\\]{{0,100}}+(?:{_QUOTE})?)?)"
)
_VARIABLE = re.compile(
    rf"(?=[sSe]){_BORDER}(?:(?i:setx)(?:[ \t]{{1,8}}/[mM])?"
    rf"|set{_FLAGS}{{0,3}}?[ \t]{{1,8}}(?:-[a-wyzA-Z]{{0,3}}x[a-zA-Z]{{0,3}}|--export){_FLAGS}{{0,3}}"
    rf"|secret[ \t]{{1,8}}set{_GIVEN}{{0,4}}|env[ \t]{{1,8}}add)"
    rf"[ \t]{{1,8}}(?:{_QUOTE})?(?P<name>[A-Za-z_][\w]{{0,99}}+)(?:{_QUOTE})?"
    rf"(?:{_GIVEN}{{0,4}}+[ \t]{{1,8}}(?:--body|-b)[ \t=]{{0,8}}|[ \t]{{1,8}})"
    rf"(?:(?P<quote>{_QUOTE})(?P<quoted>[^\"'`\r\n\\]{{3,2048}})(?P=quote)|(?P<value>[^\s\"'`\\<>|;&(){{}}]{{3,2048}}))"
)
_CALL = re.compile(
    rf"(?=[evphd_EVPHD])(?i:env|_var|variable|property|header|define)\([ \t]{{0,8}}"
    rf"(?P<quote>{_QUOTE})(?P<name>[A-Za-z][\w.\-]{{0,99}})(?P=quote)"
    rf"[ \t]{{0,8}},[ \t]{{0,8}}(?P<open>{_QUOTE})(?P<quoted>[^\"'`\r\n\\]{{3,2048}})(?P=open)"
)
_CELL = re.compile(
    rf"{_WORDS}(?P<gap>[*`]{{0,3}}[ \t]{{0,8}}\|[ \t]{{0,8}})[*`]{{0,3}}"
    r"(?P<value>[^\s\"'`\\<>()\[\]{},;*|]{16,512})"
)
_ELEMENT = re.compile(r"(<(?P<name>[A-Za-z][\w\-.:]{0,100})>)(?P<value>[^<>\s\"\\]{3,2048})(?=<\\?/)")

# password: correcthorse     A value of letters is masked only at the end of such a line, and if it is no usual word.
_LETTERS = re.compile(
    rf"(?=[pP])(?:[pP]ass(?:word|wd|phrase)|PASS(?:WORD|WD|PHRASE)):[ \t]{{1,8}}(?P<value>[a-z]{{8,64}})"
    rf"(?=[ \t]{{0,8}}(?:{_END}|\Z|{_QUOTE}))"
)
_LINE_START = re.compile(
    r"(?:[\r\n\"'`]|\\n)(?:[ \t]{0,8}[0-9]{1,7}(?:\u2192|\t|\\{1,64}(?:u2192|t))|[+>\-])?[ \t]{0,64}(?:-[ \t]{1,8})?"
    r"(?:[\w.\-]{0,60}[a-z0-9_.\-])?\Z"
)
_USUAL = re.compile(
    r"(?:null|un|in|non)?(?:correct|secure|plain|clear)\Z|.*(?:pass|pwd|word|secret|cred|token|auth|hash|crypt|key|text"
    r"|string|char|bool|integer|number|object|field|input|param|value|user|name|attribute|function|variable|argument"
    r"|property|default|example|placeholder|hidden|mask|requir|option|unknown|missing|invalid|wrapper|change|response"
    r"|(?:ed|ing|[ai]ble|[ts]ion|ment|ive|[ao]ry|[cinr]al|ous|ic|[ae]nt|ate|ness|less|ful|ity|where|ever|base|file|line"
    r"|prompt|manager|vault)\Z)"
)
"""Words and names that follow a colon in code, schemas and sentences: `password: plaintext`, `password: required`."""


def mask_lines(text: str, mask: Callable[[str], str]) -> str:
    """Masks secrets in lines of files and commands.

    Args:
        text: any text.
        mask: returns the replacement of a secret.
    """
    # Blocks and lists first: the rules for single lines would take only their first value.
    text = replace_spans(text, _several(text), mask)
    if "value" in text.lower():
        text = _PAIR.sub(lambda found: _masked(found, mask) if _is_paired(found) else found[0], text)
    for known, pattern, is_secret in (
        ("-", _OPTION, _is_given), ("", _NAMED, _is_assigned), ("", _SET, _is_assigned), ("", _VARIABLE, _is_set),
        ("(", _CALL, _is_set), ("|", _CELL, _is_cell), (">", _ELEMENT, _is_element),
        (":", _LETTERS, _is_plain_value),
    ):  # fmt: skip
        if known not in text:
            continue
        text = pattern.sub(
            lambda found, is_secret=is_secret: _masked(found, mask) if is_secret(found) else found[0], text
        )
    for known, pattern in _COMMANDS:
        # A literal search decides about each expression.
        if known in text:
            text = pattern.sub(lambda found: found[1] + mask(found[0][len(found[1]) :]), text)
    return text


def _masked(found: re.Match[str], mask: Callable[[str], str]) -> str:
    group = "quoted" if found.groupdict().get("quoted") is not None else "value"
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return found[0][:start] + mask(found[group]) + found[0][end:]


def _several(text: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of values in lists, and of blocks below their name."""
    for found in _SEVERAL.finditer(text):
        name, place = _name_before(text, found.start("close")), found.end()
        is_one = is_secret_key(name)
        if not is_one and not is_plural_secret_key(name):
            continue
        if found["block"]:
            first = below = _BELOW.match(text, place) if is_one else None
            while first and below and below["indent"] == first["indent"] and _TELLING.fullmatch(below["value"]):
                yield below.span("value")
                below = _BELOW.match(text, below.end())
            continue
        item = _ITEM if found["list"] else _LISTED
        for _ in range(_MOST_ITEMS):
            value = item.match(text, place)
            if value is None:
                break
            if looks_random(value["value"]) or (is_one and _TELLING.fullmatch(value["value"])):
                yield value.span("value")
            place = value.end()


def _name_before(text: str, end: int) -> str:
    """Returns the name that ends at a place: `db_password`, `API key`; without parts of an escape before it."""
    found = _NAME.search(text[max(0, end - _LONGEST_NAME) : end])
    if found is None:
        return ""
    name, with_letter = found["name"], (found["escape"] or "")[-1:] + found["name"]
    return with_letter if not is_secret_key(name) and is_secret_key(with_letter) else name


def _is_paired(found: re.Match[str]) -> bool:
    if found["value"] is not None and _PLAIN.fullmatch(found["value"]):
        return False
    value = found["quoted"] or found["value"]
    return is_secret_name(found["name"]) and not value.startswith(("$", "{", "<", "%"))


def _is_given(found: re.Match[str]) -> bool:
    """Returns True if the text after an option is its value; in prose, words follow."""
    if not is_secret_key(found["name"]):
        return False
    if found["quoted"] is not None:
        # A placeholder or a variable is no secret.
        return not found["quoted"].startswith(("$", "<", "{"))
    value = found["value"]
    return _NO_VALUE.match(value) is None and (
        _PASSWORD.search(found["name"]) is not None or _TELLING.fullmatch(value) is not None
    )


def _is_assigned(found: re.Match[str]) -> bool:
    """Returns True if a sentence states a secret: "the password is hunter2"."""
    name = found["name"] if "name" in found.re.groupindex else _name_before(found.string, found.start("gap"))
    value = found["value"].rstrip(".:!?")
    return is_secret_key(name) and _TELLING.fullmatch(value) is not None and _NO_VALUE.match(value) is None


def _is_set(found: re.Match[str]) -> bool:
    """Returns True if a command or a call sets a variable, header or property to a secret."""
    value = found["quoted"] if found["quoted"] is not None else found["value"]
    is_word = found["name"].lower().endswith(value.lower())
    return is_secret_key(found["name"]) and not is_word and _NO_VALUE.match(value) is None


def _is_cell(found: re.Match[str]) -> bool:
    """Returns True if a table has a secret beside its name; a column's type is none."""
    return is_secret_key(_name_before(found.string, found.start("gap"))) and looks_random(found["value"])


def _is_element(found: re.Match[str]) -> bool:
    return is_secret_key(found["name"]) and _TELLING.fullmatch(found["value"]) is not None


def _is_plain_value(found: re.Match[str]) -> bool:
    """Returns True if a line of a settings file has a password of letters only."""
    first = found.start() - _LONGEST_BEFORE
    before = found.string[first : found.start()] if first > 0 else f"\n{found.string[: found.start()]}"
    is_title = found[0].startswith("Pa") and not before[-1].isalnum()  # as dialogs have it
    return not is_title and _USUAL.match(found["value"]) is None and _LINE_START.search(before) is not None
