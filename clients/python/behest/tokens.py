"""Offline verification of grant tokens."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from ._json import from_b64url, is_number, parse_object
from .errors import BehestError, BehestNetworkError, BehestTokenError

GRANT_CLAIM = "urn:service:grant"
_LEGACY = re.compile("service-[0-9]{4}-(?:0[1-9]|1[0-2])")
_TYPES = {"grant": (None, "jwt", "at+jwt", "application/at+jwt"), "decision": ("decision+jwt",)}
_LAST_SECOND = 253_402_300_799
_MOST_BYTES, _MOST_HEADER_BYTES, _MOST_SET_BYTES = 16_384, 2_048, 262_144
_START_SKEW = 60  # seconds

NO_DEVELOPER = (
    "developer_id is required: all accounts of a service sign with the same keys. "
    "Take yours from the answer to sign-up or from GET /v1/me."
)


@dataclass(frozen=True)
class VerifiedGrant:
    """The facts of a verified grant token."""

    token_id: str
    grant_id: str
    principal_id: str
    developer_id: str
    scopes: tuple[str, ...]
    issuer: str
    expires_at: float
    issued_at: float | None = None
    agent_id: str | None = None
    agent_did: str | None = None
    parent_agent_did: str | None = None
    parent_grant_id: str | None = None
    delegation_depth: int = 0
    actor_chain: tuple[str, ...] = ()
    audience: str | tuple[str, ...] | None = None
    authorization_details: Any = None
    confirmation: str | None = None
    sandbox: bool = False
    raw: dict[str, Any] = field(default_factory=dict, repr=False)


class Jwks:
    """The keys of an issuer. They are fetched when they are old, and once in 30 seconds for a key that is not known."""

    def __init__(self, uri: str, client: httpx.Client | None = None, clock: Callable[[], float] = time.time) -> None:
        url = urlsplit(uri)
        is_local = url.hostname in ("localhost", "127.0.0.1", "::1")
        if not (url.scheme == "https" or (url.scheme == "http" and is_local)):
            raise BehestError("The address of the keys has to begin with https://.")
        self._uri, self._client, self._clock = uri, client or httpx.Client(timeout=5), clock
        self._keys: list[dict[str, Any]] | None = None
        self._fresh_until = self._tried_at = float("-inf")
        self._lock = threading.Lock()

    def preload(self, jwks: dict[str, Any]) -> None:
        """Gives the keys of an issuer that this host cannot reach."""
        self._keys, self._fresh_until = _usable(jwks), float("inf")

    def get(self) -> list[dict[str, Any]]:
        """:raises BehestNetworkError: when there are none to be had"""
        with self._lock:
            now = self._clock()
            if self._keys is not None and now < self._fresh_until:
                return self._keys
            # The old keys serve for a day while the issuer cannot be reached.
            old = self._keys if now < self._fresh_until + 86_400 else None
            if old is not None and now - self._tried_at < 30:
                return old
            try:
                return self._fetch()
            except BehestNetworkError:
                if old is not None:
                    return old
                raise

    def refetch(self) -> list[dict[str, Any]]:
        """Asks for a key that a token names and the set lacks."""
        with self._lock:
            if self._clock() - self._tried_at < 30:
                return self._keys or []
            return self._fetch()

    def _fetch(self) -> list[dict[str, Any]]:
        self._tried_at = self._clock()
        try:
            answer = self._client.get(self._uri, headers={"accept": "application/json"}, follow_redirects=False)
            if answer.status_code != 200 or len(answer.content) > _MOST_SET_BYTES:
                raise ValueError(f"the status is {answer.status_code}")
            self._keys = _usable(answer.json())
        except (httpx.HTTPError, ValueError) as error:
            raise BehestNetworkError("The keys of the issuer could not be fetched.") from error
        age = re.search(r"(?:^|[\s,])max-age=(\d{1,9})", answer.headers.get("cache-control", ""), re.IGNORECASE)
        self._fresh_until = self._tried_at + min(max(int(age[1]) if age else 600, 60), 86_400)
        return self._keys


def _usable(jwks: Any) -> list[dict[str, Any]]:
    listed = jwks.get("keys") if isinstance(jwks, dict) else None
    if not isinstance(listed, list) or len(listed) > 100:
        raise ValueError("the answer is no JWK Set")
    keys = [key for key in listed if isinstance(key, dict) and isinstance(key.get("kid"), str)]
    keys = [key for key in keys if all(key == other for other in keys if other["kid"] == key["kid"])]
    if not any(key.get("use") == "sig" and key.get("kty") in ("RSA", "EC") for key in keys):
        raise ValueError("the JWK Set has no usable key")
    return keys


def find_key(header: dict[str, Any], keys: list[dict[str, Any]]) -> dict[str, Any]:
    """Finds the one key that may have signed a token. :raises BehestTokenError:"""
    alg, kid = header["alg"], header.get("kid")
    if kid is None or _LEGACY.fullmatch(kid):
        months = sorted(key["kid"] for key in keys if _LEGACY.fullmatch(key["kid"]))
        kid = months[-1] if months and alg == "RS256" else None
    key = next((key for key in keys if key["kid"] == kid), None)
    if key is None:
        raise BehestTokenError("key_not_found")
    kind = ("EC", "P-256") if alg == "ES256" else ("RSA", None)
    if key.get("use") != "sig" or key.get("alg") != alg or (key.get("kty"), key.get("crv")) != kind:
        raise BehestTokenError("key_inconsistent")
    return key


def read_signed(token: object, kind: str, keys: list[dict[str, Any]]) -> dict[str, Any]:
    """The payload of a token whose form and signature are good. :raises BehestTokenError:"""
    if not isinstance(token, str) or len(token) > _MOST_BYTES or token.count(".") != 2:
        raise BehestTokenError("malformed")
    parts = [from_b64url(part) for part in token.split(".")]
    if any(part is None for part in parts) or not parts[2]:
        raise BehestTokenError("malformed")
    if len(parts[0] or b"") > _MOST_HEADER_BYTES:
        raise BehestTokenError("header_not_allowed")
    header, payload = parse_object(parts[0] or b""), parse_object(parts[1] or b"")
    if header is None or payload is None:
        raise BehestTokenError("malformed")
    if header.get("alg") not in ("RS256", "ES256"):
        raise BehestTokenError("alg_not_allowed")
    if set(header) - {"alg", "kid", "typ"}:
        raise BehestTokenError("header_not_allowed")
    typ = header.get("typ")
    if (typ.lower() if kind == "grant" and isinstance(typ, str) else typ) not in _TYPES[kind]:
        raise BehestTokenError("typ_not_allowed")
    if "kid" in header and not (isinstance(header["kid"], str) and 0 < len(header["kid"]) <= 256):
        raise BehestTokenError("malformed")
    if not _is_genuine(find_key(header, keys), token.rpartition(".")[0].encode(), parts[2]):
        raise BehestTokenError("bad_signature")
    return payload


def _is_genuine(jwk: dict[str, Any], signed: bytes, signature: bytes) -> bool:
    try:
        if jwk["kty"] == "EC":
            public = ECAlgorithm.from_jwk(jwk)
            return len(signature) == 64 and ECAlgorithm(ECAlgorithm.SHA256).verify(signed, public, signature)
        key = RSAAlgorithm.from_jwk(jwk)
        is_fit = key.key_size >= 2_048 and len(signature) == (key.key_size + 7) // 8
        return is_fit and RSAAlgorithm(RSAAlgorithm.SHA256).verify(signed, key, signature)  # type: ignore[arg-type]
    except Exception:
        return False


def _is_time(value: object) -> bool:
    return is_number(value) and value == int(value) and 0 <= value <= _LAST_SECOND  # type: ignore[operator, call-overload]


def check_times(payload: dict[str, Any], now: float, expiry_skew: float = 0) -> None:
    """:raises BehestTokenError:"""
    times = [payload[name] for name in ("exp", "nbf", "iat") if name in payload]
    if "exp" not in payload or not all(map(_is_time, times)):
        raise BehestTokenError("malformed")
    if not now < payload["exp"] + expiry_skew:
        raise BehestTokenError("expired")
    if any(payload.get(name, 0) > now + _START_SKEW for name in ("nbf", "iat")):
        raise BehestTokenError("not_yet_valid")


class Verifier:
    """Verifies grant tokens of one issuer, without an account.

    :param developer_id: whose tokens are taken, one id or a list of 1 to 100
    :param allow_sandbox: True to take tokens of sandbox accounts, which no person has approved
    """

    def __init__(
        self,
        *,
        jwks_uri: str,
        developer_id: str | Sequence[str],
        allow_sandbox: bool = False,
        issuer: str | None = None,
        audience: str | None = None,
        clock_tolerance: float = 5,
        jwks: Jwks | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not developer_id:
            raise BehestError(NO_DEVELOPER)
        self._developers = {developer_id} if isinstance(developer_id, str) else set(developer_id)
        if len(self._developers) > 100 or not all(isinstance(each, str) and each for each in self._developers):
            raise BehestError("developer_id has to be the id of a developer, or a list of 1 to 100 ids.")
        if not 0 <= clock_tolerance <= 60:
            raise BehestError("clock_tolerance has to be 0 to 60 seconds.")
        self.issuer = issuer or jwks_uri.removesuffix("/.well-known/jwks.json")
        self.jwks = jwks or Jwks(jwks_uri)
        self._allow_sandbox, self.audience, self._tolerance = allow_sandbox, audience, clock_tolerance
        self._clock = clock

    def verify(self, token: str) -> VerifiedGrant:
        """:raises BehestTokenError: for a bad token
        :raises BehestNetworkError: when the issuer's keys cannot be had
        """
        keys = self.jwks.get()
        try:
            payload = read_signed(token, "grant", keys)
        except BehestTokenError as error:
            newer = self.jwks.refetch() if error.reason == "key_not_found" else keys
            if newer is keys:
                raise
            payload = read_signed(token, "grant", newer)
        if payload.get("iss") != self.issuer:
            raise BehestTokenError("issuer_mismatch")
        check_times(payload, self._clock(), self._tolerance)
        named = payload.get("aud")
        if self.audience is not None and self.audience not in (named if isinstance(named, list) else [named]):
            raise BehestTokenError("audience_mismatch")
        grant = read_claims(payload)
        if grant.developer_id not in self._developers:
            raise BehestTokenError("developer_mismatch")
        if grant.sandbox and not self._allow_sandbox:
            raise BehestTokenError("sandbox_not_allowed")
        if grant.confirmation is not None:
            raise BehestTokenError("dpop_required")
        return grant


def read_claims(payload: dict[str, Any]) -> VerifiedGrant:
    """Reads the claims of a genuine token. A name from before 0.6 counts where the standard name is absent.

    :raises BehestTokenError: `claims_missing`, or `claims_inconsistent` for two values of one fact
    """
    scopes: Any = payload.get("scp")
    if "scp" not in payload and isinstance(payload.get("scope"), str):
        scopes = payload["scope"].split(" ") if payload["scope"] else []
    if not all(_is_text(payload.get(name)) for name in ("sub", "dev", "jti")) or not _are_texts(scopes):
        raise BehestTokenError("claims_missing")
    grant = payload.get(GRANT_CLAIM, {})
    actors = _actors(payload)
    confirmation = payload.get("cnf", {})
    if not isinstance(grant, dict) or actors is None or not isinstance(confirmation, dict):
        raise BehestTokenError("claims_inconsistent")
    jkt = [confirmation.get("jkt")] if "cnf" in payload else []
    agent_id = _agreed([payload, "client_id"])
    agent_did = _agreed([grant, "agent_did"], [{"act": actor for actor in actors[:1]}, "act"], [payload, "agt"])
    _agreed([payload, "dev"], [grant, "developer_id"])
    grant_id = _agreed([grant, "grant_id"], [payload, "grnt"])
    parent_grant = _agreed([grant, "parent_grant_id"], [payload, "parentGrnt"])
    parent_agent = _agreed([{"act": actor for actor in actors[1:2]}, "act"], [payload, "parentAgt"])
    depth = _agreed([grant, "delegation_depth"], [payload, "delegationDepth"], is_fit=_is_depth)
    if not all(map(_is_text, jkt)) or not _rest_agrees(payload, list(scopes)):
        raise BehestTokenError("claims_inconsistent")
    delegated_by = actors[1:] if len(actors) > 1 or parent_agent is None else [parent_agent]
    audience = payload.get("aud")
    return VerifiedGrant(
        token_id=payload["jti"],
        grant_id=grant_id or payload["jti"],  # in the first grant tokens the token id is the grant id
        principal_id=payload["sub"],
        developer_id=payload["dev"],
        scopes=tuple(scopes),
        issuer=str(payload.get("iss", "")),
        expires_at=float(payload.get("exp", 0)),
        issued_at=payload.get("iat"),
        agent_id=agent_id,
        agent_did=agent_did,
        parent_agent_did=delegated_by[0] if delegated_by else None,
        parent_grant_id=parent_grant,
        delegation_depth=depth or 0,
        actor_chain=tuple([agent_did] if agent_did else []) + tuple(delegated_by),
        audience=tuple(audience) if isinstance(audience, list) else audience,
        authorization_details=payload.get("authorization_details"),
        confirmation=jkt[0] if jkt else None,
        sandbox=payload.get("sandbox") is True,
        raw=payload,
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_depth(value: object) -> bool:
    return is_number(value) and value == int(value) and value >= 0  # type: ignore[operator, call-overload]


def _agreed(*said: Any, is_fit: Callable[[object], bool] = _is_text) -> Any:
    """The one value under several names. :raises BehestTokenError: for two values, or an unfit one"""
    present = [members[name] for members, name in said if name in members]
    if not all(is_fit(value) and value == present[0] for value in present):
        raise BehestTokenError("claims_inconsistent")
    return present[0] if present else None


def _actors(payload: dict[str, Any]) -> list[str] | None:
    """The DIDs, the outermost first; None when the claim is no chain of actors."""
    actors: list[str] = []
    actor = payload
    while "act" in actor:
        actor = actor["act"]
        if not isinstance(actor, dict) or not _is_text(actor.get("sub")) or len(actors) == 11:
            return None
        actors.append(actor["sub"])
    return actors


def _rest_agrees(payload: dict[str, Any], scopes: list[str]) -> bool:
    if "scp" in payload and "scope" in payload and payload["scope"] != " ".join(scopes):
        return False
    if "aud" in payload and not (_is_text(payload["aud"]) or _are_texts(payload["aud"])):
        return False
    if "sandbox" in payload and payload["sandbox"] is not True:
        return False
    if "bdg" not in payload:
        return True
    details = payload.get("authorization_details")
    entries = [entry for entry in details if isinstance(entry, dict)] if isinstance(details, list) else []
    budget = next((entry for entry in entries if entry.get("type") == "urn:service:budget:v1"), None)
    is_same = budget is None or str(budget.get("amount")) == str(payload["bdg"]) or _same_amount(budget, payload["bdg"])
    return is_number(payload["bdg"]) and is_same


def _same_amount(budget: dict[str, Any], amount: Any) -> bool:
    try:
        return float(budget["amount"]) == float(amount)
    except (KeyError, TypeError, ValueError):
        return False
