"""Receipts have the verdicts that `@behest/sdk/receipts` gives."""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from behest import verify_receipt
from behest._json import b64url
from behest.receipts import _leaf, _part, _part_digest

FILE = Path(__file__).parents[3] / "packages/protocol/vectors/receipt-vectors.json"
VECTORS: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
TRUST = {name: VECTORS.pop(name) for name in ("did", "jwks")}
GOOD: dict[str, Any] = VECTORS["passkey"]["receipt"]


def receipt_of(case: dict[str, Any]) -> dict[str, Any]:
    """A case has a receipt, or what differs from the first one: the index of an entry stands for the entry of that one."""
    same = {entry["index"]: entry for entry in GOOD["entries"]}
    changed = {**GOOD, **case.get("changes", {})}
    return changed | {"entries": [same[each] if isinstance(each, int) else each for each in changed["entries"]]}


@pytest.mark.parametrize("name", VECTORS)
def test_vector(name: str) -> None:
    case = VECTORS[name]
    verdict = verify_receipt(receipt_of(case), **TRUST)
    assert (verdict.failed, verdict.ok, verdict.anchored) == (case["failed"], not case["failed"], not case["failed"])
    if case["consent"] is not None:
        assert verdict.consent is not None and verdict.consent["proof"] == case["consent"]


def test_a_receipt_tells_what_was_done_and_ended() -> None:
    now = datetime.fromisoformat("2026-02-01T12:45:00Z")
    verdict = verify_receipt(json.dumps(GOOD), **TRUST, witnesses=GOOD["keys"]["witnesses"], quorum=1, now=now)
    assert [grant["status"] for grant in verdict.grants] == ["revoked", "revoked"]
    assert verdict.cosigned_by == ["witness.example.test/w1"] and not verdict.warnings
    assert [entry["action"] for entry in verdict.entries][-1] == "grant.revoked"


def test_without_keys_from_elsewhere_nothing_is_anchored() -> None:
    verdict = verify_receipt(GOOD)
    assert verdict.ok and not verdict.anchored
    assert not verify_receipt(GOOD, jwks=TRUST["jwks"]).anchored  # the note has no key from elsewhere
    assert verify_receipt(GOOD, **TRUST, origin="auth.example.test/log/0").failed == "note"
    assert verify_receipt(GOOD, **TRUST, quorum=1).failed == "witnesses"


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for name, member in items for leaf in _leaves(member, (*path, name))]
    return [path]


def test_a_change_of_any_member_is_found() -> None:
    for path in _leaves(GOOD):
        changed = deepcopy(GOOD)
        at = changed
        for name in path[:-1]:
            at = at[name]
        value = at[path[-1]]
        is_text = isinstance(value, str) and len(value) > 1
        at[path[-1]] = f"{value[:-2]}{'y' if value[-2] == 'x' else 'x'}{value[-1]}" if is_text else 1_234_567
        assert not verify_receipt(changed, **TRUST).ok, path


@pytest.mark.parametrize("file", ["", "{", "[]", "null", b"\xff", "<html>", '{"format":"behest.receipt/1"}'])
def test_what_is_no_receipt_is_malformed(file: Any) -> None:
    assert verify_receipt(file, **TRUST).failed == "malformed"


def test_a_hidden_part_and_a_dropped_entry_still_verify() -> None:
    changed = deepcopy(GOOD)
    parts = changed["entries"][3]["parts"]
    parts[2] = "#" + b64url(_part_digest(parts[2]))
    leaf, last = _leaf(changed["entries"][-1])
    assert last is not None
    changed["entries"][-1] = {"index": last["seq"] - 1, "leafHash": base64.b64encode(leaf).decode()}
    verdict = verify_receipt(changed, **TRUST)
    assert (verdict.ok, verdict.anchored, verdict.withheld) == (True, True, 1)
    assert "withheld" in verdict.warnings and verdict.grants[0]["status"] == "unknown"


def test_hidden_ends_are_unknown_and_hidden_methods_prove_nobody() -> None:
    """:see: the tests of `redacting` in packages/sdk/src/receipts.test.ts"""
    link = deepcopy(receipt_of(VECTORS["link"]))
    for entry in link["entries"]:
        entry["parts"] = hide(entry["parts"], "metadata.unverified", "metadata.method", "metadata.consentMethod")
    verdict = verify_receipt(link, **TRUST)
    assert verdict.ok and verdict.consent is not None and verdict.consent["unverified"] and "unverified" in verdict.warnings

    changed = deepcopy(GOOD)
    for entry in changed["entries"]:
        entry["parts"] = hide(entry["parts"], "metadata.expiresAt")
    for at in (-2, -1):
        leaf, _ = _leaf(changed["entries"][at])
        changed["entries"][at] = {"index": changed["entries"][at]["index"], "leafHash": base64.b64encode(leaf).decode()}
    verdict = verify_receipt(changed, **TRUST, now=datetime.fromisoformat("2026-03-01T12:00:00Z"))
    assert verdict.ok and [grant["status"] for grant in verdict.grants] == ["unknown", "unknown"]


def hide(parts: list[str], *names: str) -> list[str]:
    return ["#" + b64url(_part_digest(part)) if _part(part)[0] in names else part for part in parts]


@pytest.mark.parametrize("text", ["\\ud800", "\\udc00x", "\\u0000"])
def test_a_text_that_is_no_unicode_is_refused_and_never_raises(text: str) -> None:
    file = json.dumps(GOOD).replace("Travel helper", text)
    assert not verify_receipt(file, **TRUST).ok
    changed = deepcopy(GOOD)
    for at, name in enumerate(("consent/1", "principalId", "decision", "proof")):
        changed["consent"]["parts"][at] = b64url(f'["","{name}",{{"mode":"passkey","a":"{text}"}}]'.encode())
        assert not verify_receipt(changed, **TRUST).ok
