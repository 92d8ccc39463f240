"""An issuer of grant tokens for tests."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from behest import Jwks, Verifier

ISSUER = "https://auth.example.test"
AUDIENCE = "https://api.example.test"
DID = "did:web:auth.example.test:agents:ag_1"


class Issuer:
    def __init__(self) -> None:
        self.ec, self.rsa = ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65_537, 2_048)
        self.asked, self.is_down, self.kid = 0, False, "service-es256-one"
        self.now = time.time()
        self.client = httpx.Client(transport=httpx.MockTransport(self._answer))

    @property
    def jwks(self) -> dict[str, Any]:
        current = json.loads(ECAlgorithm.to_jwk(self.ec.public_key()))
        legacy = json.loads(RSAAlgorithm.to_jwk(self.rsa.public_key()))
        return {
            "keys": [
                {**current, "kid": self.kid, "alg": "ES256", "use": "sig"},
                {**legacy, "kid": "service-2025-01", "alg": "RS256", "use": "sig"},
            ]
        }

    def _answer(self, _: httpx.Request) -> httpx.Response:
        self.asked += 1
        return httpx.Response(500) if self.is_down else httpx.Response(200, json=self.jwks)

    def verifier(self, **options: Any) -> Verifier:
        uri = f"{ISSUER}/.well-known/jwks.json"
        jwks = Jwks(uri, self.client, lambda: self.now)
        settings = {"developer_id": "dev_1", "audience": AUDIENCE, **options}
        return Verifier(jwks_uri=uri, jwks=jwks, clock=lambda: self.now, **settings)

    def claims(self, **over: Any) -> dict[str, Any]:
        now = int(self.now)
        claims = {
            **{"iss": ISSUER, "sub": "user_42", "client_id": "ag_1", "dev": "dev_1", "aud": AUDIENCE},
            **{"scp": ["calendar:read"], "jti": "tok_1", "iat": now, "nbf": now - 30, "exp": now + 600},
            "act": {"sub": DID},
            "urn:service:grant": {"grant_id": "grnt_1", "agent_did": DID, "developer_id": "dev_1"},
            **over,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, alg: str = "ES256", headers: dict[str, Any] | None = None, **over: Any) -> str:
        own = {"kid": self.kid, "typ": "at+jwt"} if alg == "ES256" else {"kid": "service-2024-12", "typ": "JWT"}
        key: Any = self.ec if alg == "ES256" else self.rsa
        return jwt.encode(self.claims(**over), key, alg, headers={**own, **(headers or {})})
