"""The parts of the entries of a receipt, and of the record of the consent."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from ._json import Unreadable, b64url, canonical, from_b64url, parse_pairs, without_pairs
from .errors import BehestTokenError
from .tokens import names_resource, read_signed

if TYPE_CHECKING:
    from ._receipt_tree import Grant

_FACTS = ("action", "agentDid", "agentId", "developerId", "grantId", "id", "purpose", "seq", "status", "timestamp")
_NULLABLE = ("agentDid", "agentId", "grantId", "purpose")
_HASH = re.compile("[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")
_WITHOUT_RECORD = {"link": "nobody_verified", "policy": "nobody_asked", "sandbox": "nobody_asked"}
_CONSENT = ("consent/1", "principalId", "decision", "proof")


class Part(Enum):
    HIDDEN = "hidden"


@dataclass(frozen=True)
class Entry:
    """An entry as its parts show it."""

    index: int
    leaf: bytes
    action: str
    agent_did: str | None
    agent_id: str | None
    developer_id: str
    grant_id: str | None
    id: str
    purpose: str | None
    seq: int
    status: str
    timestamp: str
    principal_id: str | Part | None
    metadata: dict[str, Any]
    hidden: int


@dataclass
class Consent:
    consent: dict[str, Any]
    faults: list[tuple[str, str]] = field(default_factory=list)
    is_partial: bool = False


def is_shape(value: Any) -> bool:
    """Whether a value has the form of a receipt."""
    if not isinstance(value, dict) or value.get("format") != "behest.receipt/1":
        return False
    texts = ("issuer", "issuerDid", "generatedAt", "grantId", "rootGrantId", "statement")
    if not all(isinstance(value.get(name), str) for name in texts):
        return False
    if value.get("audience") not in ("principal", "developer") or value.get("sandbox", True) is not True:
        return False
    log, checkpoint, keys, labels = (value.get(name) for name in ("log", "checkpoint", "keys", "labels"))
    if not all(isinstance(each, dict) for each in (log, checkpoint, keys, labels)):
        return False
    assert isinstance(log, dict) and isinstance(checkpoint, dict) and isinstance(keys, dict) and isinstance(labels, dict)
    if not all(isinstance(log.get(name), str) for name in ("origin", "url")) or not _is_text_or_null(log, "vkey"):
        return False
    consent = value.get("consent", False)
    if consent is not None and not (isinstance(consent, dict) and set(consent) == {"parts"} and _parts(consent["parts"])):
        return False
    names = [labels.get(name) for name in ("agents", "scopes")]
    if not all(isinstance(each, dict) and _texts(list(each.values())) for each in names):
        return False
    if not (_texts(value.get("warnings")) and _texts(keys.get("witnesses"))):
        return False
    if not (_whole(checkpoint.get("size")) and _hash(checkpoint.get("root")) and _is_text_or_null(checkpoint, "note")):
        return False
    proof = value.get("proof")
    return isinstance(proof, list) and all(map(_hash, proof)) and _entries(value.get("entries"), checkpoint["size"])


def _entries(entries: Any, size: int) -> bool:
    if not isinstance(entries, list) or not entries:
        return False
    before = -1
    for entry in entries:
        if not isinstance(entry, dict) or not _whole(entry.get("index")) or not before < entry["index"] < size:
            return False
        before = entry["index"]
        if "leafHash" in entry:
            is_good = set(entry) == {"index", "leafHash"} and _hash(entry["leafHash"])
        else:
            is_good = set(entry) == {"index", "hash", "parts"} and _parts(entry["parts"])
            is_good = is_good and isinstance(entry["hash"], str) and re.fullmatch("[0-9a-f]{64}", entry["hash"]) is not None
        if not is_good:
            return False
    return True


def _parts(parts: Any) -> bool:
    return isinstance(parts, list) and bool(parts) and all(map(_is_part, parts))


def _is_part(part: Any) -> bool:
    data = from_b64url(part.removeprefix("#")) if isinstance(part, str) else None
    return data is not None and (len(data) == 32 if part.startswith("#") else len(data) > 0)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _hash(value: Any) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_text_or_null(value: dict[str, Any], name: str) -> bool:
    return value.get(name, False) is None or isinstance(value.get(name), str)


def digest(part: str) -> bytes:
    return (from_b64url(part[1:]) or b"") if part.startswith("#") else hashlib.sha256(part.encode()).digest()


def read_part(part: str) -> tuple[str, Any] | None:
    try:
        value = without_pairs(parse_pairs((from_b64url(part) or b"").decode("utf-8")))
    except (Unreadable, UnicodeDecodeError):
        return None
    if not isinstance(value, list) or len(value) != 3:
        return None
    salt, name, content = value
    is_part = isinstance(salt, str) and isinstance(name, str) and re.fullmatch("([A-Za-z0-9_-]{22})?", salt)
    return (name, content) if is_part else None


def read_entry(entry: dict[str, Any]) -> Entry | None:
    """The first part has the entry's own facts, the second the principal, the others are members of the metadata."""
    parts: list[str] = entry["parts"]
    digests = [digest(part) for part in parts]
    if len(parts) < 2 or any(one >= other for one, other in zip(digests[2:], digests[3:], strict=False)):
        return None
    own = read_part(parts[0])
    if own is None or own[0] != "entry/1" or not _are_facts(own[1]) or own[1]["seq"] != entry["index"] + 1:
        return None
    principal: Any = Part.HIDDEN
    if not parts[1].startswith("#"):
        person = read_part(parts[1])
        if person is None or person[0] != "principalId" or not (person[1] is None or isinstance(person[1], str)):
            return None
        principal = person[1]
    metadata: dict[str, Any] = {}
    for part in parts[2:]:
        if part.startswith("#"):
            continue
        member = read_part(part)
        if member is None or not member[0].startswith("metadata."):
            return None
        name = member[0].removeprefix("metadata.")
        if name in metadata:
            return None
        metadata[name] = member[1]
    leaf = hashlib.sha256(b"\0" + bytes.fromhex(entry["hash"]) + b"".join(digests)).digest()
    hidden = sum(part.startswith("#") for part in parts[2:])
    facts: dict[str, Any] = own[1]
    return Entry(
        **{"index": entry["index"], "leaf": leaf, "metadata": metadata, "hidden": hidden, "principal_id": principal},
        **{re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name): facts[name] for name in _FACTS},
    )


def _are_facts(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != set(_FACTS) or not _is_whole(value["seq"]):
        return False
    others = [name for name in _FACTS if name != "seq"]
    return all(isinstance(value[name], str) or (value[name] is None and name in _NULLABLE) for name in others)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_consent(
    receipt: dict[str, Any], entries: list[Entry], root: Grant | None, is_unverified: bool, withheld: int
) -> Consent:
    """Checks the record of the consent against the entry of the approval, the root grant and its own proof."""
    from ._receipt_tree import uncovered

    approvals = [each for each in entries if (each.action, each.status) == ("authorization.approved", "success")]
    approval = approvals[0] if approvals else None
    known = approval.metadata if approval else {}
    method = known.get("method")
    mode = method if isinstance(method, str) else root.consent_method if root else None
    result = Consent({"mode": mode, "unverified": is_unverified or mode == "link"})
    faults = result.faults
    if len(approvals) > 1:
        faults.append(("consent", "second_approval"))
    if receipt["consent"] is None:
        is_whole = "consentHash" not in known and approval.hidden == 0 if approval else withheld == 0
        # Nobody was asked, or the approval is older than the records.
        proof = _WITHOUT_RECORD.get(str(mode), "asserted") if is_whole else "withheld"
        result.is_partial = proof == "withheld"
        result.consent |= {"proof": proof, "principal_id": None, "shown": None, "decision": None}
        return result

    parts = receipt["consent"]["parts"]
    if "consentHash" not in known:
        faults.append(("consent", "no_consent_hash"))
    elif known["consentHash"] != hashlib.sha256(b"\2" + b"".join(map(digest, parts))).hexdigest():
        faults.append(("consent", "consent_hash"))
    values = _consent_values(parts)
    if values is None:
        faults.append(("consent", "malformed_consent"))
    shown, principal_id, decision, proved = values or (None, None, None, None)
    if shown is not None:
        if "authRequestId" in known and shown.get("authRequestId") != known["authRequestId"]:
            faults.append(("consent", "other_request"))
        if approval is None or shown.get("agentId") != approval.agent_id:
            faults.append(("consent", "other_agent"))
    person = approval.principal_id if approval else None
    if principal_id is not None and isinstance(person, str) and principal_id != person:
        faults.append(("consent", "other_principal"))
    asked, approved = _scopes(shown), _scopes(decision)
    if (shown is not None and asked is None) or (decision is not None and approved is None):
        faults.append(("consent", "malformed_consent"))
    if asked is not None and approved is not None and uncovered(asked, approved):
        faults.append(("consent", "approved_more_than_shown"))
    if approved is not None and root and root.scopes is not None and uncovered(approved, root.scopes):
        faults.append(("consent", "granted_more_than_approved"))
    if decision is not None and root and root.lasts_beyond(decision.get("expiresIn")):
        faults.append(("consent", "granted_longer_than_approved"))
    if proved is not None and mode is not None and proved.get("mode") != mode:
        faults.append(("proof", "other_mode"))
    developer_id = entries[0].developer_id if entries else None
    outcome = "withheld" if proved is None else _prove(proved, shown, principal_id, decision, receipt, developer_id)
    if outcome.startswith("bad_"):
        faults.append(("proof", outcome))
    result.is_partial = None in (shown, principal_id, decision, proved) or root is None or root.scopes is None
    result.consent |= {"proof": outcome, "principal_id": principal_id, "shown": shown, "decision": decision}
    return result


def _consent_values(parts: list[str]) -> list[Any] | None:
    if len(parts) != len(_CONSENT):
        return None
    values: list[Any] = []
    for name, part in zip(_CONSENT, parts, strict=True):
        read = None if part.startswith("#") else read_part(part)
        if not part.startswith("#"):
            if read is None or read[0] != name or not isinstance(read[1], str if name == "principalId" else dict):
                return None
        values.append(read[1] if read else None)
    return values


def _scopes(value: dict[str, Any] | None) -> list[str] | None:
    scopes = value.get("scopes") if value is not None else None
    return scopes if _texts(scopes) else None


def _prove(
    proof: dict[str, Any], shown: Any, principal_id: Any, decision: Any, receipt: dict[str, Any], developer_id: str | None
) -> str:
    mode = proof.get("mode")
    if mode == "passkey":
        if None in (shown, principal_id, decision):
            return "withheld"
        return "person_signed" if _is_signed(proof, shown, principal_id, decision) else "bad_passkey"
    if mode == "developer" and proof.get("hint", "") is not None:
        if shown is None or principal_id is None:
            return "withheld"
        return "developer_vouched" if _is_vouched(proof, shown, principal_id, receipt, developer_id) else "bad_hint"
    return _WITHOUT_RECORD.get(str(mode), "asserted")


def _hash_of(value: Any) -> str:
    return b64url(hashlib.sha256(canonical(value).encode()).digest())


def _is_signed(proof: dict[str, Any], shown: dict[str, Any], principal_id: str, decision: dict[str, Any]) -> bool:
    """Whether the passkey signed what was shown and approved. :see: https://www.w3.org/TR/webauthn-3/"""
    names = ("clientDataJSON", "authenticatorData", "signature")
    client, authenticator, signature = (from_b64url(str(proof.get(name))) for name in names)
    rp_id, origin, key = proof.get("rpId"), proof.get("origin"), proof.get("publicKey")
    if not client or not authenticator or not signature or not isinstance(rp_id, str) or not isinstance(key, dict):
        return False
    host = re.fullmatch(r"https?://([^/:?#@]+)(:\d+)?", origin) if isinstance(origin, str) else None
    if host is None or not (host[1] == rp_id or host[1].endswith(f".{rp_id}")):
        return False
    chosen = {name: value for name, value in decision.items() if name != "decidedAt"}
    bound = _hash_of({"shown": shown, "principalId": principal_id, "decision": chosen})
    request = shown.get("authRequestId")
    asked = {"v": 1, "use": "behest.consent", "areq": request, "digest": bound, "nonce": proof.get("nonce")}
    try:
        said = without_pairs(parse_pairs(client.decode("utf-8")))
        if (said["type"], said["challenge"], said["origin"]) != ("webauthn.get", _hash_of(asked), origin):
            return False
        if said.get("crossOrigin") is True or len(authenticator) < 37 or authenticator[32] & 5 != 5:
            return False
        if authenticator[:32] != hashlib.sha256(rp_id.encode()).digest():
            return False
        message = authenticator + hashlib.sha256(client).digest()
        _verify(key, message, signature)
        return True
    except (InvalidSignature, Unreadable, UnicodeDecodeError, ValueError, KeyError, TypeError):
        return False


def _verify(jwk: dict[str, Any], message: bytes, signature: bytes) -> None:
    """:raises InvalidSignature:"""
    if jwk.get("kty") == "OKP" and jwk.get("crv") == "Ed25519":
        Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(f"{jwk['x']}==")).verify(signature, message)
    elif jwk.get("kty") == "RSA":
        RSAAlgorithm.from_jwk(jwk).verify(signature, message, PKCS1v15(), hashes.SHA256())  # type: ignore[union-attr]
    elif jwk.get("kty") == "EC" and jwk.get("crv") == "P-256":
        ECAlgorithm.from_jwk(jwk).verify(signature, message, ECDSA(hashes.SHA256()))  # type: ignore[union-attr]
    else:
        raise InvalidSignature


def _is_vouched(
    proof: dict[str, Any], shown: dict[str, Any], principal_id: str, receipt: dict[str, Any], developer_id: str | None
) -> bool:
    key = proof.get("key")
    if not isinstance(key, dict):
        return False
    only = {**key, "use": "sig", "alg": "ES256" if key.get("kty") == "EC" else "RS256"}
    try:
        claims = read_signed(proof.get("hint"), "consent-hint", only)
    except BehestTokenError:
        return False
    is_for = claims.get("sub") == principal_id and claims.get("areq") == shown.get("authRequestId")
    return is_for and claims.get("iss") == developer_id and names_resource(claims.get("aud"), receipt["issuer"])
