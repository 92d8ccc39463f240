"""The keys of an issuer, as its JWK Set publishes them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx

from .errors import BehestError, BehestNetworkError, BehestTokenError

_LEGACY = re.compile("service-[0-9]{4}-(?:0[1-9]|1[0-2])")
_MOST_SET_BYTES = 262_144


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
    return check_key(alg, key)


def check_key(alg: str, key: dict[str, Any]) -> dict[str, Any]:
    """:raises BehestTokenError: for a key of another use or algorithm"""
    kind = ("EC", "P-256") if alg == "ES256" else ("RSA", None)
    if key.get("use") != "sig" or key.get("alg") != alg or (key.get("kty"), key.get("crv")) != kind:
        raise BehestTokenError("key_inconsistent")
    return key
