"""Offline verification of grant tokens."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from ._json import from_b64url, is_number, parse_object
from .claims import VerifiedGrant, read_claims
from .errors import BehestError, BehestTokenError
from .keys import Jwks, check_key, find_key

_TYPES = {"grant": (None, "jwt", "at+jwt", "application/at+jwt"), "decision": ("decision+jwt",)}
_TYPES |= {"receipt": ("receipt+jwt",), "consent-hint": ("consent-hint+jwt",)}
_LAST_SECOND = 253_402_300_799
_MOST_BYTES, _MOST_HEADER_BYTES = 16_384, 2_048
_START_SKEW = 60  # seconds

NO_DEVELOPER = (
    "developer_id is required: all accounts of a service sign with the same keys. "
    "Take yours from the answer to sign-up or from GET /v1/me."
)


def read_signed(token: object, kind: str, keys: list[dict[str, Any]] | dict[str, Any]) -> dict[str, Any]:
    """The payload of a token whose form and signature are good.

    :param keys: those among which the token names one, or the only one
    :raises BehestTokenError:
    """
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
    key = check_key(header["alg"], keys) if isinstance(keys, dict) else find_key(header, keys)
    if not _is_genuine(key, token.rpartition(".")[0].encode(), parts[2]):
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
        if self.audience is not None and not names_resource(named, self.audience):
            raise BehestTokenError("audience_mismatch")
        grant = read_claims(payload)
        if grant.developer_id not in self._developers:
            raise BehestTokenError("developer_mismatch")
        if grant.sandbox and not self._allow_sandbox:
            raise BehestTokenError("sandbox_not_allowed")
        if grant.confirmation is not None:
            raise BehestTokenError("dpop_required")
        return grant


_WEB = re.compile(r"(https?)://([^/?#@\\\s]+)(\S*)", re.IGNORECASE | re.ASCII)
_NO_PORT = {"http": re.compile(r":(80)?\Z"), "https": re.compile(r":(443)?\Z")}


def names_resource(audience: object, resource: str) -> bool:
    """Whether an audience, which is one text or a list, names a resource."""
    named = audience if isinstance(audience, list) else [audience]
    wanted = canonical_resource(resource)
    return any(isinstance(each, str) and canonical_resource(each) == wanted for each in named)


def canonical_resource(uri: str) -> str:
    """The one spelling of a resource's URI: an origin is the same with a slash and without, with its scheme and host in
    any case, and with the port that the scheme has anyway. A path counts letter by letter."""
    found = _WEB.fullmatch(uri)
    if found is None:
        return uri
    scheme, authority, rest = found[1].lower(), found[2].lower(), found[3]
    return f"{scheme}://{_NO_PORT[scheme].sub('', authority)}{re.sub(r'^/(?=[?]|$)', '', rest)}"
