"""Receipts of grants, checked offline: the same file and the same verdicts as `verifyReceipt` of the SDK."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ._json import Unreadable, b64url, canonical, from_b64url, parse_pairs, without_pairs
from ._receipt_parts import Entry, Part, is_shape, read_consent, read_entry
from ._receipt_tree import Grant, read_tree
from .errors import BehestTokenError
from .keys import find_key
from .tokens import read_signed

_INSIDE = '<script type="application/json" id="receipt">'
_LONGEST = 256 * 1024 * 1024
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LOG, _WITNESS = 1, 4


@dataclass(frozen=True)
class Check:
    id: str
    ok: bool
    detail: str


@dataclass
class ReceiptVerdict:
    """What a receipt proves. Unless `anchored`, anybody may have made it: never call that verified."""

    ok: bool = False
    anchored: bool = False
    failed: str | None = "malformed"
    checks: list[Check] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    withheld: int = 0
    consent: dict[str, Any] | None = None
    signed_by: list[str] = field(default_factory=list)
    cosigned_by: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def verify_receipt(
    receipt: str | bytes | dict[str, Any],
    *,
    did: dict[str, Any] | None = None,
    jwks: dict[str, Any] | None = None,
    vkeys: Sequence[str] = (),
    witnesses: Sequence[str] = (),
    quorum: int = 0,
    origin: str | None = None,
    now: datetime | None = None,
) -> ReceiptVerdict:
    """Checks a receipt with no network. It raises for no file.

    :param receipt: the text of the file, JSON or HTML, or the parsed JSON
    :param did: the DID document of the service, and `jwks` its JWK Set, from elsewhere than the receipt
    :param vkeys: keys of the log, and `witnesses` those of witnesses, of which `quorum` have to have signed
    :param origin: the log that the receipt has to be of
    """
    verdict = ReceiptVerdict()
    read = _read(receipt)
    if read is None:
        verdict.checks.append(Check("malformed", False, "malformed"))
        return verdict
    verdict.checks.append(Check("malformed", True, "ok"))

    def check(check_id: str, fault: str | None, good: str = "ok") -> None:
        verdict.checks.append(Check(check_id, fault is None, fault or good))

    fault, claims, is_anchored = _statement(read, did, jwks)
    check("statement", fault)
    noted = _note(read, verdict, _log_keys(did, vkeys, read["log"]["origin"]), witnesses, origin)
    check("note", noted[0], "absent" if read["checkpoint"]["note"] is None else "ok")
    is_anchored = is_anchored and noted[1]
    is_quorum = len(verdict.cosigned_by) >= quorum
    check("witnesses", None if is_quorum else f"quorum {quorum}", "ok" if verdict.cosigned_by else "absent")

    leaves: list[tuple[int, bytes]] = []
    for each in read["entries"]:
        entry = None if "leafHash" in each else read_entry(each)
        if "leafHash" in each:
            leaves.append((each["index"], base64.b64decode(each["leafHash"])))
            verdict.withheld += 1
        elif entry is None:
            check("inclusion", f"entry {each['index']}")
            break
        else:
            verdict.entries.append(entry)
            leaves.append((each["index"], entry.leaf))
    else:
        root = _root_above(leaves, read["checkpoint"]["size"], [base64.b64decode(each) for each in read["proof"]])
        is_root = root is not None and base64.b64encode(root).decode() == read["checkpoint"]["root"]
        check("inclusion", None if is_root else "other_root")
        said = b64url(hashlib.sha256(b"".join(leaf for _, leaf in leaves)).digest())
        is_complete = claims.get("count") == len(leaves) and claims.get("leaves") == said
        check("entries", None if is_complete else "not_as_stated")
        _contents(read, verdict, claims, now)
    verdict.failed = next((each.id for each in verdict.checks if not each.ok), None)
    verdict.ok = verdict.failed is None
    verdict.anchored = verdict.ok and is_anchored
    return verdict


def _contents(read: dict[str, Any], verdict: ReceiptVerdict, claims: dict[str, Any], now: datetime | None) -> None:
    tree = read_tree(verdict.entries, read["rootGrantId"], read["grantId"], verdict.withheld, now)
    verdict.grants = tree.grants
    root = next((grant for grant in tree.grants if grant.grant_id == read["rootGrantId"]), None)
    consent = read_consent(read, verdict.entries, root, any(grant.unverified for grant in tree.grants), verdict.withheld)
    verdict.consent = consent.consent
    for ids, part in (("tree", "no_grant_entry"), tree), (("consent", "proof"), consent):
        for check_id in ids:
            found = next((detail for each, detail in part.faults if each == check_id), None)
            good = "withheld" if part.is_partial else "ok"
            verdict.checks.append(Check(check_id, found is None, found or good))
        if part is tree:
            verdict.checks.append(_limits(read.get("limits"), claims.get("limits")))
    is_partial = any(each.detail == "withheld" for each in verdict.checks) or verdict.withheld > 0
    is_partial = is_partial or any(entry.hidden or entry.principal_id is Part.HIDDEN for entry in verdict.entries)
    told = {
        **{"unverified": verdict.consent["unverified"], "withheld": is_partial},
        "narrowed": "since" in claims or "until" in claims,
        "limits_exceeded": (read.get("limits") or {}).get("holds") is False,
    }
    verdict.warnings = list(dict.fromkeys([*read["warnings"], *(name for name, is_so in told.items() if is_so)]))


def _limits(limits: dict[str, Any] | None, stated: object) -> Check:
    """Whether they are those that the service signed. The clients in TypeScript also add up the entries again."""
    if limits is None:
        return Check("limits", True, "absent" if stated is None else "withheld")
    is_stated = b64url(hashlib.sha256(canonical(limits).encode()).digest()) == stated
    return Check("limits", is_stated, "not_counted" if is_stated else "not_as_stated")


def _read(receipt: object) -> dict[str, Any] | None:
    try:
        if isinstance(receipt, bytes):
            receipt = receipt.decode("utf-8")
        text = receipt if isinstance(receipt, str) else json.dumps(receipt)
        if text.lstrip().startswith("<") and _INSIDE in text:
            text = text.partition(_INSIDE)[2].partition("</script>")[0]
        value = without_pairs(parse_pairs(text)) if len(text) <= _LONGEST else None
        if value is None or not is_shape(value):
            return None
        return value if isinstance(value.get("limits", {}), dict) else None
    except (Unreadable, UnicodeDecodeError, TypeError, ValueError, RecursionError):
        return None


def _statement(read: dict[str, Any], did: Any, jwks: Any) -> tuple[str | None, dict[str, Any], bool]:
    """What is wrong, the claims, and whether the key is a trusted one."""
    trusted, own = _signing_keys(did, jwks), _signing_keys(read["keys"].get("did"), read["keys"].get("jwks"))
    try:
        header = json.loads(from_b64url(read["statement"].partition(".")[0]) or b"{}")
        try:
            find_key(header, trusted)
            is_anchored = True
        except BehestTokenError as error:
            is_anchored = error.reason != "key_not_found"
        claims = read_signed(read["statement"], "receipt", trusted if is_anchored else own)
    except BehestTokenError as error:
        return error.reason, {}, False
    except (ValueError, KeyError, TypeError, AttributeError):
        return "malformed", {}, False
    head = {name: read[name] for name in read if name not in ("consent", "entries", "limits", "proof", "statement")}
    said = {
        **{"iss": read["issuer"], "origin": read["log"]["origin"], "grantId": read["grantId"]},
        **{"rootGrantId": read["rootGrantId"], "size": read["checkpoint"]["size"], "root": read["checkpoint"]["root"]},
        "head": b64url(hashlib.sha256(canonical(head).encode()).digest()),
    }
    other = next((name for name, value in said.items() if claims.get(name) != value), None)
    return (f"other_{other}" if other else None), claims, is_anchored


def _methods(did: Any) -> list[dict[str, Any]]:
    methods = did.get("verificationMethod") if isinstance(did, dict) else None
    return [each for each in methods if isinstance(each, dict)] if isinstance(methods, list) else []


def _signing_keys(did: Any, jwks: Any) -> list[dict[str, Any]]:
    listed = jwks.get("keys") if isinstance(jwks, dict) else None
    keys = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []
    known = {key.get("kid") for key in keys if isinstance(key.get("kid"), str)}
    more = [key for key in (each.get("publicKeyJwk") for each in _methods(did)) if isinstance(key, dict)]
    keys += [key for key in more if key.get("kty") != "OKP" and key.get("kid") not in known]
    keys = [key for key in keys if isinstance(key.get("kid"), str)]
    return [key for key in keys if all(key == other for other in keys if other["kid"] == key["kid"])]


@dataclass(frozen=True)
class _NoteKey:
    name: str
    type: int
    public: bytes

    @property
    def id(self) -> bytes:
        return hashlib.sha256(f"{self.name}\n".encode() + bytes([self.type]) + self.public).digest()[:4]


def _vkey(text: str) -> _NoteKey | None:
    """:see: https://c2sp.org/signed-note"""
    name, _, rest = text.partition("+")
    key_id, _, encoded = rest.partition("+")
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        return None
    if not name or len(data) != 33 or data[0] not in (_LOG, _WITNESS):
        return None
    key = _NoteKey(name, data[0], data[1:])
    return key if key.id.hex() == key_id else None


def _log_keys(did: Any, vkeys: Sequence[str], origin: str) -> list[_NoteKey]:
    keys = [key for key in map(_vkey, vkeys) if key is not None and key.type == _LOG and key.name == origin]
    for method in _methods(did):
        jwk, multibase = method.get("publicKeyJwk"), method.get("publicKeyMultibase")
        public: bytes | None = None
        if isinstance(jwk, dict) and (jwk.get("kty"), jwk.get("crv")) == ("OKP", "Ed25519"):
            public = from_b64url(str(jwk.get("x")))
        elif isinstance(multibase, str) and re.fullmatch(f"z[{_BASE58}]{{1,64}}", multibase):
            number = 0
            for digit in multibase[1:]:
                number = number * 58 + _BASE58.index(digit)
            data = number.to_bytes(48, "big").lstrip(b"\0")
            public = data[2:] if data[:2] == b"\xed\x01" else None
        if public is not None and len(public) == 32:
            keys.append(_NoteKey(origin, _LOG, public))
    return keys


def _note(
    read: dict[str, Any], verdict: ReceiptVerdict, trusted: list[_NoteKey], witnesses: Sequence[str], origin: str | None
) -> tuple[str | None, bool]:
    """What is wrong with the note, and whether a trusted key signed it. Without a note nothing is."""
    checkpoint, log, keys = read["checkpoint"], read["log"], read["keys"]
    if origin is not None and origin != log["origin"]:
        return "other_origin", False
    if checkpoint["note"] is None:
        return None, True
    text, separator, below = checkpoint["note"].rpartition("\n\n")
    lines = text.split("\n")
    if not separator or len(lines) < 3 or not below.endswith("\n"):
        return "malformed", False
    stated = (log["origin"], str(checkpoint["size"]), checkpoint["root"])
    for name, here, there in zip(("other_origin", "other_size", "other_root"), lines, stated, strict=False):
        if here != there:
            return name, False
    watching = [key for key in map(_vkey, witnesses) if key is not None and key.type == _WITNESS]
    own = _log_keys(keys.get("did"), [log["vkey"]] if log["vkey"] else [], log["origin"])
    own_witnesses = [key for key in map(_vkey, keys["witnesses"]) if key is not None and key.type == _WITNESS]
    known = [*trusted, *watching, *own, *own_witnesses]
    holding: list[_NoteKey] = []
    for line in below[:-1].split("\n"):
        found = re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/]+=*)", line)
        if found is None:
            return "malformed", False
        try:
            data = base64.b64decode(found[2], validate=True)
        except ValueError:
            return "malformed", False
        key = next((each for each in known if each.name == found[1] and each.id == data[:4]), None)
        if key is None:
            continue
        if not _signed(key, f"{text}\n".encode(), data[4:]):
            return "bad_signature", False
        holding.append(key)
    logs = [key for key in holding if key.type == _LOG]
    verdict.signed_by = list(dict.fromkeys(key.name for key in logs))
    verdict.cosigned_by = list(dict.fromkeys(key.name for key in holding if key in watching))
    return (None if logs else "no_known_key"), any(key in trusted for key in logs)


def _signed(key: _NoteKey, text: bytes, data: bytes) -> bool:
    if key.type == _WITNESS:
        if len(data) != 72:
            return False
        text, data = f"cosignature/v1\ntime {struct.unpack('>Q', data[:8])[0]}\n".encode() + text, data[8:]
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(data, text)
        return True
    except (InvalidSignature, ValueError):
        return False


def _root_above(leaves: list[tuple[int, bytes]], size: int, proof: list[bytes]) -> bytes | None:
    """The root of the tree that has these leaves, by the roots of the ranges without one. :see: RFC 9162, section 2.1"""
    left = iter(proof)

    def root(start: int, end: int, first: int, last: int) -> bytes:
        if first == last:
            return next(left)
        if end - start == 1:
            return leaves[first][1]
        middle = start + (1 << ((end - start - 1).bit_length() - 1))
        split = first
        low, high = first, last
        while low < high:
            split = (low + high) // 2
            low, high = (split + 1, high) if leaves[split][0] < middle else (low, split)
        one, other = root(start, middle, first, low), root(middle, end, low, last)
        return hashlib.sha256(b"\x01" + one + other).digest()

    try:
        found = root(0, size, 0, len(leaves))
    except StopIteration:
        return None
    return found if next(left, None) is None else None
