"""Who may speak to what listens on this machine."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from inspector.base.loopback_access import refusal_reason

NAMES = frozenset({"127.0.0.1:4318", "localhost:4318", "[::1]:4318"})
HOST = ("Host", "127.0.0.1:4318")


def refused(*headers: tuple[str, str], target: str = "/v1/traces") -> str:
    return refusal_reason("receiver", "http://127.0.0.1:4318", NAMES, target, CIMultiDict(headers))


@pytest.mark.parametrize("name", ["127.0.0.1:4318", "LOCALHOST:4318", "[::1]:4318"])
def test_programs_of_this_machine_are_heard(name: str) -> None:
    assert refused(("Host", name)) == ""
    assert refused(("Host", name), ("Origin", f"http://{name}"), ("Sec-Fetch-Site", "same-origin")) == ""
    assert refused(("Host", name), target=f"http://{name}/v1/traces") == ""
    assert refused(("Host", name), target="*") == ""


@pytest.mark.parametrize(
    ("headers", "target", "why"),
    [
        ([], "/", "for another host"),
        ([HOST, ("Host", "evil.example")], "/", "for another host"),
        ([HOST], "http://evil.example/v1/traces", "for another host"),
        ([HOST], "http://evil.example?127.0.0.1:4318", "for another host"),
        ([HOST], "evil.example:443", "for another host"),
        ([HOST, ("Origin", "http://127.0.0.1:4318"), ("Origin", "http://evil.example")], "/", "as its origin"),
        ([HOST, ("Origin", "https://127.0.0.1:4318")], "/", "as its origin"),
        ([HOST, ("Origin", "null")], "/", "as its origin"),
        ([HOST, ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")], "/", "a browser says"),
        ([HOST, ("Sec-Fetch-Site", "same-site")], "/", "a browser says"),
    ],
)
def test_pages_and_names_that_were_made_to_lead_here_are_not(
    headers: list[tuple[str, str]], target: str, why: str
) -> None:
    assert why in refused(*headers, target=target)
