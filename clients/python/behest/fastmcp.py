"""FastMCP: who calls, and which tools they may call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from fastmcp.exceptions import ToolError
from fastmcp.server.auth import AccessToken, RemoteAuthProvider, TokenVerifier
from fastmcp.server.dependencies import get_access_token
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from pydantic import AnyHttpUrl

from .enforce import Enforcer
from .errors import BehestError, BehestTokenError
from .tokens import Verifier


class BehestTokenVerifier(TokenVerifier):
    """Takes the grant tokens that a verifier takes. Give the verifier the address of the server as its audience."""

    def __init__(self, verifier: Verifier, **options: Any) -> None:
        super().__init__(**options)
        self._verifier = verifier

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            grant = await asyncio.to_thread(self._verifier.verify, token)
        except BehestTokenError:
            return None
        return AccessToken(
            token=token,
            client_id=grant.agent_id or grant.agent_did or grant.grant_id,
            scopes=list(grant.scopes),
            expires_at=int(grant.expires_at),
            subject=grant.principal_id,
            claims=grant.raw,
        )


def behest_auth(verifier: Verifier, *, base_url: str, scopes: Sequence[str] = ()) -> RemoteAuthProvider:
    """The provider of a server at `base_url`: a resource of the service, whose metadata name the service.

    :raises BehestError: for a verifier without an audience, which takes tokens for other servers
    """
    if verifier.audience is None:
        raise BehestError("Give the verifier the address of this server as its audience.")
    return RemoteAuthProvider(
        token_verifier=BehestTokenVerifier(verifier, required_scopes=list(scopes)),
        authorization_servers=[AnyHttpUrl(verifier.issuer)],
        base_url=base_url,
    )


def _token_of_request() -> str:
    token = get_access_token()
    return token.token if token else ""


class ToolEnforcement(Middleware):
    """Decides about each call. A tool gets the arguments that were checked.

    :param token: gets the grant token. Default: that of the request
    :param case_id: names the case of a call, which is never read from the model's arguments
    """

    def __init__(
        self,
        enforcer: Enforcer,
        connector: str,
        *,
        token: Callable[[], str] = _token_of_request,
        case_id: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._enforcer, self._connector, self._token, self._case_id = enforcer, connector, token, case_id

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        message, token = context.message, self._token()
        call: dict[str, Any] = {"arguments": message.arguments or {}, "case_id": self._case_id(message.name)}
        result = await asyncio.to_thread(self._enforcer.enforce, token, self._connector, message.name, **call)
        if not result.allowed:
            raise ToolError(f"{result.reason} ({result.reason_code})")
        checked = message.model_copy(update={"arguments": result.arguments})
        return await call_next(context.copy(message=checked))
