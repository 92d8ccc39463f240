"""Receipts of grants, checked offline, with the verdicts of `verifyReceipt` of the SDK.

One thing is not checked: what the entries add up to under caps and budgets. The check `limits` says only whether the service
signed these sums (`not_counted`). The SDK, the CLI and the page at /verify count again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from ._checks import SCOPE
from ._json import Unreadable, b64url, canonical, from_b64url, parse_pairs, without_pairs
from .errors import BehestTokenError
from .keys import find_key
from .manifest import LEVELS
from .tokens import names_resource, read_signed

_INSIDE = '<script type="application/json" id="receipt">'
_LONGEST = 256 * 1024 * 1024
_BESIDE_HEAD = ("consent", "entries", "limits", "proof", "statement")
_FACTS = ("action", "agentDid", "agentId", "developerId", "grantId", "id", "purpose", "seq", "status", "timestamp")
_NULLABLE = ("agentDid", "agentId", "grantId", "purpose")
_CONSENT = (("consent/1", dict), ("principalId", str), ("decision", dict), ("proof", dict))
_WITHOUT_RECORD = {"link": "nobody_verified", "policy": "nobody_asked", "sandbox": "nobody_asked"}
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_DEEPEST, _MOST_SCOPES, _MOMENT = 100, 100, 60
_LOG, _WITNESS = 1, 4
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_MALFORMED = (Unreadable, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError)

Fault = tuple[str, str]  # the check, and what is wrong


@dataclass(frozen=True)
class Check:
    id: str
    ok: bool
    detail: str


@dataclass
class ReceiptVerdict:
    """What a receipt proves. Unless `anchored`, anybody may have made it: never call that verified.

    A grant has `grantId`, `parentGrantId`, `agentId`, `createdAt`, `scopes`, `expiresAt`, `depth`, `consentMethod`,
    `unverified` and `status`: `active`, `expired`, `revoked`, or `unknown` where its end may be hidden. An entry has its facts,
    `principalId` and `metadata` as far as they are shown, and `hidden`, the number of members that are not.
    """

    ok: bool = False
    anchored: bool = False
    failed: str | None = "malformed"
    checks: list[Check] = field(default_factory=list)
    grants: list[dict[str, Any]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
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
    try:
        read = _read(receipt)
    except _MALFORMED:
        verdict.checks.append(Check("malformed", False, "malformed"))
        return verdict

    def check(check_id: str, fault: str | None, good: str = "ok") -> None:
        verdict.checks.append(Check(check_id, fault is None, fault or good))

    check("malformed", None)
    fault, claims, is_anchored = _statement(read, did, jwks)
    check("statement", fault)
    fault, is_known = _note(read, verdict, _log_keys(did, vkeys, read["log"]["origin"]), witnesses, origin)
    check("note", fault, "absent" if read["checkpoint"]["note"] is None else "ok")
    is_quorum = len(verdict.cosigned_by) >= quorum
    check("witnesses", None if is_quorum else f"quorum {quorum}", "ok" if verdict.cosigned_by else "absent")
    leaves: list[tuple[int, bytes]] = []
    for each in read["entries"]:
        try:
            leaf, entry = _leaf(each)
        except _MALFORMED:
            check("inclusion", f"entry {each['index']}")
            break
        leaves.append((each["index"], leaf))
        verdict.withheld += entry is None
        verdict.entries += [entry] if entry else []
    else:
        root = _root_above(leaves, read["checkpoint"]["size"], iter([base64.b64decode(each) for each in read["proof"]]))
        check("inclusion", None if root == base64.b64decode(read["checkpoint"]["root"]) else "other_root")
        is_complete = claims.get("count") == len(leaves) and claims.get("leaves") == _digest(*(leaf for _, leaf in leaves))
        check("entries", None if is_complete else "not_as_stated")
        _contents(read, verdict, claims, now)
    verdict.failed = next((each.id for each in verdict.checks if not each.ok), None)
    verdict.ok = verdict.failed is None
    verdict.anchored = verdict.ok and is_anchored and is_known
    return verdict


def _digest(*data: bytes) -> str:
    return b64url(hashlib.sha256(b"".join(data)).digest())


def _hash_of(value: Any) -> str:
    return _digest(canonical(value).encode())


def _must(is_good: object) -> None:
    if not is_good:
        raise Unreadable("malformed")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _hash(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=", value) is not None


def _parts(parts: Any) -> bool:
    return _texts(parts) and all(
        len(from_b64url(part[1:]) or b"") == 32 if part.startswith("#") else from_b64url(part) for part in parts
    )


def _read(receipt: object) -> dict[str, Any]:
    """The receipt, of which every member that the checks use has its type."""
    if isinstance(receipt, bytes):
        receipt = receipt.decode("utf-8")
    text = receipt if isinstance(receipt, str) else json.dumps(receipt)
    if text.lstrip().startswith("<") and _INSIDE in text:
        text = text.partition(_INSIDE)[2].partition("</script>")[0]
    _must(len(text) <= _LONGEST)
    read: dict[str, Any] = without_pairs(parse_pairs(text))
    log, checkpoint, keys, labels, entries = (read[name] for name in ("log", "checkpoint", "keys", "labels", "entries"))
    texts = [read[name] for name in ("issuer", "issuerDid", "generatedAt", "grantId", "rootGrantId", "statement")]
    texts += [log["origin"], log["url"], *(each for each in (log["vkey"], checkpoint["note"]) if each is not None)]
    texts += [*labels["agents"].values(), *labels["scopes"].values()]
    _must(_texts(texts) and _texts(read["warnings"]) and _texts(keys["witnesses"]))
    _must(read["format"] == "behest.receipt/1" and read["audience"] in ("principal", "developer"))
    _must(read.get("sandbox", True) is True and isinstance(read.get("limits", {}), dict))
    _must(_whole(checkpoint["size"]) and _hash(checkpoint["root"]) and all(map(_hash, read["proof"])))
    consent = read["consent"]
    _must(consent is None or (set(consent) == {"parts"} and consent["parts"] and _parts(consent["parts"])))
    _must(isinstance(entries, list) and entries)
    before = -1
    for entry in entries:
        _must(_whole(entry["index"]) and before < entry["index"] < checkpoint["size"])
        before = entry["index"]
        if "leafHash" in entry:
            _must(set(entry) == {"index", "leafHash"} and _hash(entry["leafHash"]))
        else:
            _must(set(entry) == {"index", "hash", "parts"} and re.fullmatch("[0-9a-f]{64}", entry["hash"]))
            _must(entry["parts"] and _parts(entry["parts"]))
    return read


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
        head = _hash_of({name: value for name, value in read.items() if name not in _BESIDE_HEAD})
    except BehestTokenError as error:
        return error.reason, {}, False
    except _MALFORMED:
        return "malformed", {}, False
    said = {
        **{"iss": read["issuer"], "origin": read["log"]["origin"], "grantId": read["grantId"]},
        **{"rootGrantId": read["rootGrantId"], "size": read["checkpoint"]["size"], "root": read["checkpoint"]["root"]},
        "head": head,
    }
    other = next((name for name, value in said.items() if claims.get(name) != value), None)
    return (f"other_{other}" if other else None), claims, is_anchored


def _methods(did: Any) -> list[dict[str, Any]]:
    methods = did.get("verificationMethod") if isinstance(did, dict) else None
    return [each for each in methods if isinstance(each, dict)] if isinstance(methods, list) else []


def _signing_keys(did: Any, jwks: Any) -> list[dict[str, Any]]:
    listed = jwks.get("keys") if isinstance(jwks, dict) else None
    keys = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []
    known = {key["kid"] for key in keys if isinstance(key.get("kid"), str)}
    more = [key for key in (each.get("publicKeyJwk") for each in _methods(did)) if isinstance(key, dict)]
    keys += [key for key in more if key.get("kty") != "OKP" and key.get("kid") not in known]
    by_id: dict[str, list[dict[str, Any]]] = {}
    for key in keys:
        if isinstance(key.get("kid"), str):
            by_id.setdefault(key["kid"], []).append(key)
    return [same[0] for same in by_id.values() if all(key == same[0] for key in same)]


@dataclass(frozen=True)
class _NoteKey:
    name: str
    type: int
    public: bytes

    @property
    def id(self) -> bytes:
        return hashlib.sha256(f"{self.name}\n".encode() + bytes([self.type]) + self.public).digest()[:4]

    def signed(self, text: bytes, data: bytes) -> bool:
        if self.type == _WITNESS:
            text = f"cosignature/v1\ntime {int.from_bytes(data[:8], 'big')}\n".encode() + text
            data = data[8:]
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(data, text)
            return True
        except (InvalidSignature, ValueError):
            return False


def _vkeys(texts: Sequence[str], kind: int) -> Iterator[_NoteKey]:
    """:see: https://c2sp.org/signed-note"""
    for text in texts:
        name, _, rest = text.partition("+")
        key_id, _, encoded = rest.partition("+")
        try:
            data = base64.b64decode(encoded, validate=True)
        except ValueError:
            continue
        key = _NoteKey(name, kind, data[1:])
        if name and len(data) == 33 and data[0] == kind and key.id.hex() == key_id:
            yield key


def _log_keys(did: Any, vkeys: Sequence[str], origin: str) -> list[_NoteKey]:
    keys = [key for key in _vkeys(vkeys, _LOG) if key.name == origin]
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
    lines, signatures = text.split("\n"), below.split("\n")
    if not separator or len(lines) < 3 or signatures.pop() != "" or not 0 < len(signatures) <= 100:
        return "malformed", False
    stated = (log["origin"], str(checkpoint["size"]), checkpoint["root"])
    for name, here, there in zip(("other_origin", "other_size", "other_root"), lines, stated, strict=False):
        if here != there:
            return name, False
    watching = list(_vkeys(witnesses, _WITNESS))
    own = [*_log_keys(keys.get("did"), [log["vkey"]] if log["vkey"] else [], log["origin"])]
    known = [*trusted, *watching, *own, *_vkeys(keys["witnesses"], _WITNESS)]
    holding: list[_NoteKey] = []
    for line in signatures:
        found = re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/]+=*)", line)
        try:
            data = base64.b64decode(found[2], validate=True) if found else b""
        except ValueError:
            data = b""
        if not found or not data:
            return "malformed", False
        key = next((each for each in known if each.name == found[1] and each.id == data[:4]), None)
        if key is not None and not key.signed(f"{text}\n".encode(), data[4:]):
            return "bad_signature", False
        holding += [key] if key else []
    logs = [key for key in holding if key.type == _LOG]
    verdict.signed_by = list(dict.fromkeys(key.name for key in logs))
    verdict.cosigned_by = list(dict.fromkeys(key.name for key in holding if key in watching))
    return (None if logs else "no_known_key"), any(key in trusted for key in logs)


def _part_digest(part: str) -> bytes:
    return (from_b64url(part[1:]) or b"") if part.startswith("#") else hashlib.sha256(part.encode()).digest()


def _part(part: str) -> tuple[str, Any]:
    value = without_pairs(parse_pairs((from_b64url(part) or b"").decode("utf-8")))
    salt, name, content = value
    _must(isinstance(value, list) and isinstance(name, str) and re.fullmatch("([A-Za-z0-9_-]{22})?", salt))
    return name, content


def _leaf(each: dict[str, Any]) -> tuple[bytes, dict[str, Any] | None]:
    """The leaf of an entry, and the entry unless it is withheld: its own facts, its principal, and members of the metadata."""
    if "leafHash" in each:
        return base64.b64decode(each["leafHash"]), None
    own, principal, *others = each["parts"]
    digests = [_part_digest(part) for part in each["parts"]]
    _must(all(one < other for one, other in zip(digests[2:], digests[3:], strict=False)))
    name, facts = _part(own)
    _must(name == "entry/1" and set(facts) == set(_FACTS) and _whole(facts["seq"]) and facts["seq"] == each["index"] + 1)
    named = [facts[name] for name in _FACTS if name != "seq" and not (name in _NULLABLE and facts[name] is None)]
    _must(_texts(named))
    entry = {**facts, "metadata": {}, "hidden": sum(part.startswith("#") for part in others)}
    if not principal.startswith("#"):
        name, entry["principalId"] = _part(principal)
        _must(name == "principalId" and isinstance(entry["principalId"], str | None))
    for part in others:
        if not part.startswith("#"):
            name, value = _part(part)
            member = name.removeprefix("metadata.")
            _must(member != name and member not in entry["metadata"])
            entry["metadata"][member] = value
    return hashlib.sha256(b"\0" + bytes.fromhex(each["hash"]) + b"".join(digests)).digest(), entry


def _root_above(leaves: list[tuple[int, bytes]], size: int, proof: Iterator[bytes]) -> bytes | None:
    """The root of the tree that has these leaves, by the roots of the ranges without one. :see: RFC 9162, section 2.1"""

    def root(start: int, end: int, first: int, last: int) -> bytes:
        if first == last:
            return next(proof)
        if end - start == 1:
            return leaves[first][1]
        middle = start + (1 << ((end - start - 1).bit_length() - 1))
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
    return found if next(proof, None) is None else None


def _contents(read: dict[str, Any], verdict: ReceiptVerdict, claims: dict[str, Any], now: datetime | None) -> None:
    faults, is_partial = _tree(read, verdict, now)
    _add(verdict, ("tree", "no_grant_entry"), faults, is_partial)
    limits, stated = read.get("limits"), claims.get("limits")
    is_stated = limits is None or _hash_of(limits) == stated
    good = "not_counted" if limits is not None else "absent" if stated is None else "withheld"
    verdict.checks.append(Check("limits", is_stated, good if is_stated else "not_as_stated"))
    faults, is_partial = _consent(read, verdict)
    _add(verdict, ("consent", "proof"), faults, is_partial)
    is_partial = any(each.detail == "withheld" for each in verdict.checks) or verdict.withheld > 0
    is_partial = is_partial or any(entry["hidden"] or "principalId" not in entry for entry in verdict.entries)
    told = {
        **{"unverified": (verdict.consent or {})["unverified"], "withheld": is_partial},
        "narrowed": "since" in claims or "until" in claims,
        "limits_exceeded": (limits or {}).get("holds") is False,
    }
    verdict.warnings = list(dict.fromkeys([*read["warnings"], *(name for name, is_so in told.items() if is_so)]))


def _add(verdict: ReceiptVerdict, ids: tuple[str, ...], faults: list[Fault], is_partial: bool) -> None:
    for check_id in ids:
        found = next((detail for each, detail in faults if each == check_id), None)
        verdict.checks.append(Check(check_id, found is None, found or ("withheld" if is_partial else "ok")))


def _time(text: Any) -> datetime | None:
    """A time in the one spelling of the service."""
    try:
        time = datetime.fromisoformat(text)
        is_own = time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") == text
        return time if is_own else None
    except (ValueError, TypeError, OverflowError):
        return None


def _grant(entry: dict[str, Any], root_id: str) -> tuple[dict[str, Any], bool]:
    """A grant as its entry shows it, without what is hidden, and whether it can be read."""
    known, name = entry["metadata"], entry["grantId"]
    scopes, ends, depth = (known.get(member) for member in ("scopes", "expiresAt", "delegationDepth"))
    is_good = {
        "scopes": _texts(scopes) and len(scopes) <= _MOST_SCOPES,
        "expiresAt": _time(ends) is not None,
        "delegationDepth": _whole(depth),
    }
    is_readable = all(good if member in known else entry["hidden"] > 0 for member, good in is_good.items())
    is_readable = is_readable and _time(entry["timestamp"]) is not None
    parent, method = known.get("parentGrantId"), known.get("consentMethod")
    grant = {
        **{"grantId": name, "agentId": entry["agentId"], "createdAt": entry["timestamp"]},
        **{"scopes": scopes if is_good["scopes"] else None, "expiresAt": ends if is_good["expiresAt"] else None},
        **{"depth": depth if is_good["delegationDepth"] else None, "unverified": known.get("unverified") is True},
        "consentMethod": method if isinstance(method, str) else None,
        "parentGrantId": parent if isinstance(parent, str) else None,
        # The parent may be among what is hidden.
        "mayHaveParent": parent is None and entry["hidden"] > 0 and name != root_id,
    }
    return grant, is_readable and ("parentGrantId" not in known or isinstance(parent, str))


def _tree(read: dict[str, Any], verdict: ReceiptVerdict, now: datetime | None) -> tuple[list[Fault], bool]:
    """Reads the grants, and checks that each is within the one that it came from."""
    entries, root_id = verdict.entries, read["rootGrantId"]
    faults: list[Fault] = []
    grants: dict[str, dict[str, Any]] = {}
    ends: dict[str, dict[str, Any]] = {}
    for entry in entries:
        name = entry["grantId"]
        if name is None or entry["status"] != "success":
            continue
        if entry["action"] == "grant.revoked":
            ends.setdefault(name, entry)
        elif entry["action"] == "grant.created" and name in grants:
            faults.append(("tree", f"created_twice {name}"))
        elif entry["action"] == "grant.created":
            grants[name], is_readable = _grant(entry, root_id)
            faults += [] if is_readable else [("tree", f"malformed_grant {name}")]
    verdict.grants = list(grants.values())
    named = [root_id, read["grantId"], *(entry["grantId"] for entry in entries)]
    named += [grant["parentGrantId"] for grant in verdict.grants]
    missing = [name for name in dict.fromkeys(named) if name is not None and name not in grants]
    is_partial = bool(missing) and verdict.withheld > 0
    faults += [] if is_partial else [("no_grant_entry", name) for name in missing]

    depths = {root_id: 0}
    for name, grant in grants.items():
        parent = grants.get(grant["parentGrantId"])
        may_have_parent = grant.pop("mayHaveParent")
        is_partial = is_partial or may_have_parent
        if name == root_id and grant["parentGrantId"] is not None:
            faults.append(("tree", f"root_has_parent {root_id}"))
        elif name != root_id and grant["parentGrantId"] is None and not may_have_parent:
            faults.append(("tree", f"second_root {name}"))
        if parent is None:
            continue
        path = [name]
        while len(path) <= _DEEPEST and path[-1] not in depths and grants[path[-1]]["parentGrantId"] in grants:
            path.append(grants[path[-1]]["parentGrantId"])
        above = depths.get(path[-1], 0 if len(path) <= _DEEPEST else _DEEPEST)
        depths |= {each: above + len(path) - 1 - at for at, each in enumerate(path)}
        if depths[name] > _DEEPEST:
            faults.append(("tree", f"circle {name}"))
        wider = _beyond(parent, grant)
        is_partial = is_partial or wider is None
        faults += [("tree", f"{wider} {name}")] if wider else []
    if len({entry["principalId"] for entry in entries if entry.get("principalId") is not None}) > 1:
        faults.append(("tree", "second_principal"))
    if len({entry["developerId"] for entry in entries}) > 1:
        faults.append(("tree", "second_developer"))
    for name, grant in grants.items():
        if name in ends:
            by = ends[name]["metadata"].get("revokedBy")
            grant |= {"status": "revoked", "revokedAt": ends[name]["timestamp"]}
            grant |= {"revokedBy": by} if isinstance(by, str) else {}
            continue
        expires = _time(grant["expiresAt"])
        is_known = verdict.withheld == 0 and (now is None or expires is not None)
        is_over = now is not None and expires is not None and expires <= now
        grant["status"] = "expired" if is_over else "active" if is_known else "unknown"
    return faults, is_partial


def _beyond(parent: dict[str, Any], child: dict[str, Any]) -> str | None:
    """What of a grant goes beyond its parent; an empty text for nothing, None where a member is hidden."""
    scopes, ends, depths = ((parent[name], child[name]) for name in ("scopes", "expiresAt", "depth"))
    if None not in scopes and _uncovered(*scopes):
        return "wider_scopes"
    if None not in ends and ends[1] > ends[0]:  # of one spelling, texts are in the order of the times
        return "later_end"
    if None not in depths and depths[1] != depths[0] + 1:
        return "wrong_depth"
    return None if None in (*scopes, *ends, *depths) else ""


def _uncovered(parents: list[str], children: list[str]) -> list[str]:
    """The scopes that none of the parents covers."""
    return [child for child in children if not any(_covers(parent, child) for parent in parents)]


def _covers(wide: str, narrow: str) -> bool:
    if wide == narrow:
        return True
    if not wide.startswith("tool:") and not narrow.startswith("tool:"):
        return wide == "*" or (wide.endswith(":*") and narrow.startswith(wide[:-1]))
    one, other = (SCOPE.fullmatch(text) if len(text) <= 256 else None for text in (wide, narrow))
    if one is None or other is None:
        return False
    levels = [3 if each["level"] == "*" else LEVELS.index(each["level"]) for each in (one, other)]
    if one["connector"] not in ("*", other["connector"]) or levels[1] > levels[0]:
        return False
    held, asked = (None if each["resource"] == "*" else each["resource"] for each in (one, other))
    is_within = held is None or held == (asked or "") or (held.endswith("*") and (asked or "").startswith(held[:-1]))
    if not is_within or one["cap"] is None:
        return is_within
    return other["cap"] is not None and Decimal(other["cap"]) <= Decimal(one["cap"])


def _consent(read: dict[str, Any], verdict: ReceiptVerdict) -> tuple[list[Fault], bool]:
    """Checks the record of the consent against the entry of the approval, the root grant and its own proof."""
    entries = verdict.entries
    root: dict[str, Any] = next((each for each in verdict.grants if each["grantId"] == read["rootGrantId"]), {})
    approvals = [each for each in entries if (each["action"], each["status"]) == ("authorization.approved", "success")]
    approval: dict[str, Any] = approvals[0] if approvals else {"metadata": {}}
    known = approval["metadata"]
    method = known.get("method")
    mode = method if isinstance(method, str) else root.get("consentMethod")
    is_unverified = any(grant["unverified"] for grant in verdict.grants) or mode == "link"
    faults = [("consent", "second_approval")] if len(approvals) > 1 else []
    if read["consent"] is None:
        is_whole = "consentHash" not in known and approval["hidden"] == 0 if approvals else verdict.withheld == 0
        # Nobody was asked, or the approval is older than the records.
        outcome = _WITHOUT_RECORD.get(str(mode), "asserted") if is_whole else "withheld"
        verdict.consent = {"mode": mode, "unverified": is_unverified, "proof": outcome}
        verdict.consent |= {"principalId": None, "shown": None, "decision": None}
        return faults, not is_whole

    parts = read["consent"]["parts"]
    commitment = hashlib.sha256(b"\2" + b"".join(map(_part_digest, parts))).hexdigest()
    if known.get("consentHash") != commitment:
        faults.append(("consent", "consent_hash" if "consentHash" in known else "no_consent_hash"))
    values: list[Any] = [None] * len(_CONSENT)
    try:
        for at, ((name, kind), part) in enumerate(zip(_CONSENT, parts, strict=True)):
            if not part.startswith("#"):
                found, values[at] = _part(part)
                _must(found == name and isinstance(values[at], kind))
    except _MALFORMED:
        faults.append(("consent", "malformed_consent"))
        values = [None] * len(_CONSENT)
    shown, principal_id, decision, proof = values
    if shown is not None:
        if "authRequestId" in known and shown.get("authRequestId") != known["authRequestId"]:
            faults.append(("consent", "other_request"))
        if shown.get("agentId") != approval.get("agentId", ""):
            faults.append(("consent", "other_agent"))
    if None not in (principal_id, approval.get("principalId")) and principal_id != approval["principalId"]:
        faults.append(("consent", "other_principal"))
    asked, approved = (None if each is None else each.get("scopes") for each in (shown, decision))
    if not all(each is None or _texts(scopes) for each, scopes in ((shown, asked), (decision, approved))):
        faults.append(("consent", "malformed_consent"))
        asked = approved = None
    if asked is not None and approved is not None and _uncovered(asked, approved):
        faults.append(("consent", "approved_more_than_shown"))
    if approved is not None and root.get("scopes") is not None and _uncovered(approved, root["scopes"]):
        faults.append(("consent", "granted_more_than_approved"))
    if decision is not None and _lasts_beyond(root, decision.get("expiresIn")):
        faults.append(("consent", "granted_longer_than_approved"))
    if proof is not None and mode is not None and proof.get("mode") != mode:
        faults.append(("proof", "other_mode"))
    developer_id = entries[0]["developerId"] if entries else None
    outcome = "withheld" if proof is None else _prove(proof, shown, principal_id, decision, read["issuer"], developer_id)
    if outcome.startswith("bad_"):
        faults.append(("proof", outcome))
    is_unverified = is_unverified or outcome == "nobody_verified"
    verdict.consent = {"mode": mode, "unverified": is_unverified, "proof": outcome}
    verdict.consent |= {"principalId": principal_id, "shown": shown, "decision": decision}
    return faults, None in values or root.get("scopes") is None


def _lasts_beyond(grant: dict[str, Any], duration: object) -> bool:
    found = re.fullmatch("([1-9][0-9]{0,9})([smhd])", duration) if isinstance(duration, str) else None
    begins, ends = _time(grant.get("createdAt")), _time(grant.get("expiresAt"))
    if found is None or begins is None or ends is None:
        return False
    return (ends - begins).total_seconds() > int(found[1]) * _UNITS[found[2]] + _MOMENT


def _prove(
    proof: dict[str, Any], shown: Any, principal_id: Any, decision: Any, issuer: str, developer_id: str | None
) -> str:
    mode = proof.get("mode")
    try:
        if mode == "passkey":
            if None in (shown, principal_id, decision):
                return "withheld"
            return "person_signed" if _is_signed(proof, shown, principal_id, decision) else "bad_passkey"
        if mode == "developer" and proof.get("hint", "") is not None:
            if None in (shown, principal_id):
                return "withheld"
            only = {**proof["key"], "use": "sig", "alg": "ES256" if proof["key"].get("kty") == "EC" else "RS256"}
            claims = read_signed(proof.get("hint"), "consent-hint", only)
            is_for = claims.get("sub") == principal_id and claims.get("areq") == shown.get("authRequestId")
            is_for = is_for and claims.get("iss") == developer_id and names_resource(claims.get("aud"), issuer)
            return "developer_vouched" if is_for else "bad_hint"
    except (*_MALFORMED, InvalidSignature, BehestTokenError):
        return "bad_passkey" if mode == "passkey" else "bad_hint"
    return _WITHOUT_RECORD.get(str(mode), "asserted")


def _is_signed(proof: dict[str, Any], shown: dict[str, Any], principal_id: str, decision: dict[str, Any]) -> bool:
    """Whether the passkey signed what was shown and approved. :see: https://www.w3.org/TR/webauthn-3/

    :raises InvalidSignature: and what a malformed member raises
    """
    client, authenticator, signature = (
        from_b64url(proof[name]) or b"" for name in ("clientDataJSON", "authenticatorData", "signature")
    )
    rp_id, origin, jwk = proof["rpId"], proof["origin"], proof["publicKey"]
    host = re.fullmatch(r"https?://([^/:?#@]+)(:\d+)?", origin)
    chosen = {name: value for name, value in decision.items() if name != "decidedAt"}
    bound = _hash_of({"shown": shown, "principalId": principal_id, "decision": chosen})
    request = shown.get("authRequestId")
    asked = {"v": 1, "use": "behest.consent", "areq": request, "digest": bound, "nonce": proof.get("nonce")}
    said = without_pairs(parse_pairs(client.decode("utf-8")))
    _must(host and (host[1] == rp_id or host[1].endswith(f".{rp_id}")))
    _must((said["type"], said["challenge"], said["origin"]) == ("webauthn.get", _hash_of(asked), origin))
    _must(said.get("crossOrigin") is not True and authenticator[:32] == hashlib.sha256(rp_id.encode()).digest())
    _must(len(authenticator) >= 37 and authenticator[32] & 5 == 5)  # the person was there, and was verified
    message = authenticator + hashlib.sha256(client).digest()
    if (jwk["kty"], jwk.get("crv")) == ("OKP", "Ed25519"):
        Ed25519PublicKey.from_public_bytes(from_b64url(jwk["x"]) or b"").verify(signature, message)
    elif jwk["kty"] == "RSA":
        RSAAlgorithm.from_jwk(jwk).verify(signature, message, PKCS1v15(), hashes.SHA256())  # type: ignore[union-attr]
    else:
        _must((jwk["kty"], jwk.get("crv")) == ("EC", "P-256"))
        ECAlgorithm.from_jwk(jwk).verify(signature, message, ECDSA(hashes.SHA256()))  # type: ignore[union-attr]
    return True
