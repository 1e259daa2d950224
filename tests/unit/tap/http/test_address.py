"""Which servers can be tapped, where a tap listens, and that its port stays."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from inspector.tap.http import ports
from inspector.tap.http.address import AddressError, Listening, listening_of, upstream_of
from inspector.tap.http.proxy import proxy_for
from inspector.tap.http.run import door_to


@pytest.mark.parametrize(
    ("address", "origin", "path", "query"),
    [
        ("https://host.example/mcp", "https://host.example", "/mcp", ""),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", "/", ""),
        ("https://host.example:443/a%2Fb/?k=v%20w", "https://host.example", "/a%2Fb/", "k=v%20w"),
        ("http://[::1]:8000/mcp", "http://[::1]:8000", "/mcp", ""),
    ],
)
def test_an_address_is_taken_apart_and_put_together_as_it_was(address: str, origin: str, path: str, query: str) -> None:
    upstream = upstream_of(address)
    assert (upstream.origin, upstream.path, upstream.query) == (origin, path, query)
    assert str(upstream.own_url) == origin + path + (f"?{query}" if query else "")
    assert upstream.target_of(path) == path + (f"?{query}" if query else "")
    assert upstream.target_of(f"{path}?own=%2F") == f"{path}?own=%2F"
    assert upstream.target_of("/other") == "/other"
    assert str(upstream.url("/other")) == f"{origin}/other"


def test_a_query_with_a_secret_is_lent_to_whom_has_the_tap_s_own_address() -> None:
    upstream = upstream_of("https://host.example/mcp?api_key=s3cr3t")._replace(key="k3y")
    assert upstream.tapped_path == "/mcp?tap=k3y"
    assert upstream.target_of("/mcp?tap=k3y") == "/mcp?api_key=s3cr3t"
    assert upstream.target_of("/mcp?a=1&tap=k3y&b=2") == "/mcp?a=1&api_key=s3cr3t&b=2"
    for target in ("/mcp", "/mcp?tap=other", "/mcp?tap=", "/mcp?tap=k3", "/other?tap=k3y"):
        assert upstream.target_of(target) == target


@pytest.mark.parametrize("address", ["ws://host/", "host:80/mcp", "https://", "https://me:pw@host/", "http://h:x/", ""])
def test_other_addresses_are_refused_with_a_sentence(address: str) -> None:
    with pytest.raises(AddressError, match=r"[.]$"):
        upstream_of(address)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("127.0.0.1:81", Listening("127.0.0.1", 81)),
        ("localhost:81", Listening("127.0.0.1", 81)),
        ("[::1]:81", Listening("::1", 81)),
        ("81", Listening("127.0.0.1", 81)),
        ("127.3.2.1:81", Listening("127.3.2.1", 81)),
    ],
)
def test_a_tap_listens_on_this_computer(text: str, found: Listening) -> None:
    assert listening_of(text) == found


@pytest.mark.parametrize(
    "text", ["0.0.0.0:81", "[::]:81", "192.168.1.2:81", "host.example:81", "x", "127.0.0.1:x", "1:99999"]
)
def test_nothing_else_is_listened_at(text: str) -> None:
    with pytest.raises(AddressError):
        listening_of(text)


def test_the_key_of_a_server_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path))
    door = door_to(upstream_of("https://host.example/mcp?api_key=s3cr3tValue99"), Listening("127.0.0.1", 0))
    door.listener.close()
    again = door_to(upstream_of("https://host.example/mcp?api_key=s3cr3tValue99"), Listening("127.0.0.1", 0))
    again.listener.close()
    plain = door_to(upstream_of("https://host.example/mcp?set=read"), Listening("127.0.0.1", 0))
    plain.listener.close()
    assert door.address == again.address
    assert "?tap=" in door.address
    assert len(door.upstream.key) >= 20
    assert "s3cr3t" not in door.address
    assert plain.address.endswith("/mcp")
    assert b"s3cr3t" not in b"".join(one.read_bytes() for one in tmp_path.rglob("*.json"))


def test_the_port_of_a_server_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path))
    one, other = upstream_of("https://host.example/mcp?key=planted-secret"), upstream_of("https://host.example/other")
    first = ports.port_for(one)
    assert ports.port_for(one) == first != ports.port_for(other)
    ports.remember_port(one, 17_999)
    assert ports.port_for(one) == 17_999
    assert all(b"planted" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_a_port_that_is_taken_is_said_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(AddressError, match="is in use"):
            ports.listened(Listening("127.0.0.1", taken.getsockname()[1]))


def test_the_environments_proxies_are_used_but_for_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "inside.example")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    assert proxy_for(upstream_of("https://host.example:8443/")) == "http://proxy.example:3128"
    assert proxy_for(upstream_of("https://inside.example/")) is None
    assert proxy_for(upstream_of("https://127.0.0.1:8443/")) is None
    assert proxy_for(upstream_of("http://host.example/")) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_a_tap_of_its_own_address_is_refused(host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path))
    with pytest.raises(AddressError, match="own address"):
        door_to(upstream_of(f"http://{host}:17999/mcp"), Listening("127.0.0.1", 17_999))
