"""A dependency for FastAPI."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Header, HTTPException

from .claims import VerifiedGrant
from .errors import BehestNetworkError, BehestTokenError
from .tokens import Verifier


def require_grant(verifier: Verifier, *scopes: str) -> Callable[..., Awaitable[VerifiedGrant]]:
    """Lets requests with a good grant token through.

    Use it as `grant: Annotated[VerifiedGrant, Depends(require_grant(verifier, "calendar:read"))]`.

    :param scopes: scopes that the token has to cover
    """
    if verifier.audience is None:
        warnings.warn("behest: without audience, tokens for other resources pass here.", stacklevel=2)

    async def grant(authorization: Annotated[str | None, Header()] = None) -> VerifiedGrant:
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise _refusal(401, "TOKEN_MISSING", "Bearer")
        try:
            verified = await asyncio.to_thread(verifier.verify, token.strip())
        except BehestTokenError as error:
            code = "TOKEN_EXPIRED" if error.reason == "expired" else "TOKEN_INVALID"
            raise _refusal(401, code, 'Bearer error="invalid_token"') from error
        except BehestNetworkError as error:
            raise HTTPException(503, {"code": "KEYS_UNAVAILABLE"}, {"retry-after": "30"}) from error
        if not all(covers(verified, scope) for scope in scopes):
            wanted = " ".join(scopes)
            raise _refusal(403, "SCOPE_INSUFFICIENT", f'Bearer error="insufficient_scope", scope="{wanted}"')
        return verified

    return grant


def covers(grant: VerifiedGrant, scope: str) -> bool:
    """Whether a grant has a scope, itself or with a wildcard. Tools are decided about by `Enforcer`."""
    for own in grant.scopes:
        is_wide = own == "*" or (own.endswith(":*") and scope.startswith(own[:-1]))
        is_tool = scope.startswith("tool:") or own.startswith("tool:")
        if own == scope and not (is_tool and _limits_arguments(grant, scope)):
            return True
        if is_wide and not is_tool:
            return True
    return False


def _limits_arguments(grant: VerifiedGrant, scope: str) -> bool:
    details: list[Any] = grant.authorization_details if isinstance(grant.authorization_details, list) else []
    connector = scope.split(":")[1]
    return any(
        isinstance(entry, dict) and "arguments" in entry and connector in ("*", entry.get("connector"))
        for entry in details
    )


def _refusal(status: int, code: str, challenge: str) -> HTTPException:
    return HTTPException(status, {"code": code}, {"www-authenticate": challenge, "cache-control": "no-store"})
