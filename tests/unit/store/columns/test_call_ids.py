"""Ids of calls that a server draws at random, and ids that it counts."""

from __future__ import annotations

import pytest

from inspector.store.columns.call_ids import hash_call_id, is_generic

DRAWN = (
    "toolu_01Vd3fXk9AbCdEf", "call_Xy12aBcD34eF", "chatcmpl-tool-0893efcd9f679dab0893efcd9f679dab", "D681PevKs",
    "550e8400-e29b-41d4-a716-446655440000", "fc_0a1b2c3d4e5f",
)  # fmt: skip
COUNTED = (
    "call_1",
    "call_0_0",
    "toolu_0000_0",
    "functions.run_cmd:12",
    "1",
    "fcall_11_0",
    "call00000012",
    "é",
)


@pytest.mark.parametrize(("identifiers", "generic"), [(DRAWN, False), (COUNTED, True)])
def test_ids(identifiers: tuple[str, ...], *, generic: bool) -> None:
    hashes = [hash_call_id(identifier) for identifier in identifiers]
    assert [is_generic(one) for one in hashes] == [generic] * len(identifiers)
    assert len(set(hashes)) == len(hashes)
    assert all(0 < one < 1 << 64 for one in hashes)
