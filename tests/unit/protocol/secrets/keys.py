"""Keys of every shape in the table, put together here so that no file of this repository holds one."""

from __future__ import annotations

_BODY = "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zBc7eFg0iHj3k"
_HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"

KEYS = tuple(
    start + body
    for start, body in (
        ("sk-", "proj-" + _BODY), ("sk-", "ant-api03-" + _BODY), ("sk_live_", _BODY[:24]), ("rk_test_", _BODY[:24]),
        ("whsec_", _BODY[:32]), ("ghp_", _BODY[:36]), ("gho_", _BODY[:36]), ("ghu_", _BODY[:36]),
        ("ghs_", _BODY[:36]), ("ghr_", _BODY[:36]), ("github_pat_", f"11{_BODY[:20]}_{_BODY}"),
        ("glpat-", _BODY[:20]), ("AKIA", "IOSFODNN7EXAMPLE"), ("ASIA", "Y34FZKBOKMUTVV7A"),
        *((f"xox{kind}-", f"123456789012-{_BODY[:24]}") for kind in "abeoprs"), ("xapp-", f"1-A0123-456-{_BODY}"),
        ("AIza", _BODY[:35]), ("ya29.", _BODY), ("AQ.", "Ab8RN6" + _BODY), ("npm_", _BODY[:36]),
        ("pypi-", "AgEIcHlwaS5vcmc" + _BODY),
        ("hf_", _BODY[:34]), ("gsk_", _BODY), ("r8_", _BODY[:37]), ("xai-", _BODY), ("pplx-", _BODY),
        ("dop_v1_", _HEX + _HEX[:24]), ("shpat_", _HEX[:32]), ("sbp_", _HEX), ("glsa_", _BODY[:32] + "_0a1b2c3d"),
        ("dckr_pat_", _BODY[:27]), ("lsv2_pt_", f"{_HEX[:32]}_{_HEX[:10]}"), ("pcsk_", f"{_BODY[:6]}_{_BODY}"),
        ("figd_", _BODY[:40]), ("jina_", _BODY), ("nvapi-", _BODY), ("tvly-", "dev-" + _BODY[:32]),
        ("AGE-SECRET-KEY-", "1" + _BODY.upper()), ("LS0tLS1CRUdJTiB", "SU0EgUFJJVkFURSBLRVkt" + _BODY),
        ("lin_api_", _BODY[:40]), ("ntn_", _BODY), ("SG.", f"{_BODY[:22]}.{_BODY[:43]}"), ("hvs.", _BODY),
        ("ATATT3", f"xFfGF0{_BODY}{_BODY}=1A2B3C4D"), ("ATCTT3", "xFfGF0" + _BODY), ("dapi", _HEX[:32]),
        ("NRAK-", _BODY.upper()[:27]), ("PMAK-", f"{_HEX[:24]}-{_HEX[:34]}"), ("sntrys_", f"eyJ{_BODY}_{_BODY}"),
        ("sntryu_", _HEX + _HEX[:24]), ("ops_", "eyJ" + _BODY + _BODY), ("fo1_", f"{_BODY[:12]}-{_BODY[:30]}"),
        ("pul-", _HEX), ("key-", _HEX[:32]), ("sl.", _BODY * 3), ("sl.", f"u.{_BODY * 3}"),
        ("M", f"TE{_BODY[:22]}.{_BODY[4:10]}.{_BODY[:38]}"),
    )
)  # fmt: skip
PEM = f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{_BODY}\n{_BODY}==\n-----END RSA PRIVATE KEY-----"
