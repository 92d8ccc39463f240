"""The dependency of FastAPI, and the provider and the middleware of FastMCP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import Depends, FastAPI
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from starlette.testclient import TestClient

from behest import BehestError, BehestTokenError, Enforcer, Manifest, VerifiedGrant
from behest.fastapi import require_grant
from behest.fastmcp import BehestTokenVerifier, ToolEnforcement, behest_auth

from .issuer import AUDIENCE, ISSUER, Issuer

MANIFEST = Manifest.from_object({"connector": "files", "tools": {"read_file": "read", "delete_file": "delete"}})
PATHS = {"read_file": {"/path": {"path": ["/data"]}}}


def test_fastapi_lets_good_tokens_through_and_says_what_is_wrong_with_others() -> None:
    issuer = Issuer()
    app = FastAPI()

    @app.get("/calendar")
    def calendar(grant: VerifiedGrant = Depends(require_grant(issuer.verifier(), "calendar:read"))) -> Any:
        return {"user": grant.principal_id}

    client = TestClient(app)

    def asked(token: str | None) -> tuple[int, Any, str | None]:
        answer = client.get("/calendar", headers={} if token is None else {"authorization": f"bearer {token}"})
        body = answer.json()
        return answer.status_code, body.get("detail", body), answer.headers.get("www-authenticate")

    invalid = 'Bearer error="invalid_token"'
    narrow = 'Bearer error="insufficient_scope", scope="calendar:read"'
    assert asked(issuer.token()) == (200, {"user": "user_42"}, None)
    assert asked(issuer.token(scp=["calendar:*"]))[0] == 200
    assert asked(None) == (401, {"code": "TOKEN_MISSING"}, "Bearer")
    assert asked(issuer.token(iss="https://evil.example")) == (401, {"code": "TOKEN_INVALID"}, invalid)
    assert asked(issuer.token(exp=int(issuer.now) - 60)) == (401, {"code": "TOKEN_EXPIRED"}, invalid)
    assert asked(issuer.token(scp=["calendar:readers"])) == (403, {"code": "SCOPE_INSUFFICIENT"}, narrow)
    issuer.is_down, issuer.now = True, issuer.now + 200_000
    assert asked(issuer.token())[:2] == (503, {"code": "KEYS_UNAVAILABLE"})


def server(issuer: Issuer, token: str, read: list[str]) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("files")
    enforcer = Enforcer(issuer.verifier().verify, {"files": MANIFEST})
    mcp.add_middleware(ToolEnforcement(enforcer, "files", token=lambda: token))

    @mcp.tool
    def read_file(path: str) -> str:
        read.append(path)
        return "content"

    @mcp.tool
    def delete_file(path: str) -> str:
        read.append(f"deleted {path}")
        return "gone"

    return mcp


def test_fastmcp_runs_a_tool_with_the_arguments_that_the_grant_allows() -> None:
    issuer, read = Issuer(), list[str]()
    entry = {"type": "urn:service:tools:v1", "connector": "files", "tools": ["read_file"], "arguments": PATHS}
    token = issuer.token(scp=["tool:files:read"], authorization_details=[entry])

    async def calls() -> list[str]:
        said = []
        async with Client(server(issuer, token, read)) as client:
            for name, path in (("read_file", "/data/a"), ("read_file", "/etc/passwd"), ("delete_file", "/data/a")):
                try:
                    said.append(str((await client.call_tool(name, {"path": path})).data))
                except ToolError as error:
                    said.append(str(error))
        return said

    allowed, outside, unlisted = asyncio.run(calls())
    assert (allowed, read) == ("content", ["/data/a"])
    assert "argument_not_allowed" in outside
    assert "not_in_authorization_details" in unlisted


def test_fastmcp_knows_who_calls_and_where_tokens_come_from() -> None:
    issuer = Issuer()
    known = asyncio.run(BehestTokenVerifier(issuer.verifier()).verify_token(issuer.token()))
    assert known is not None
    assert (known.client_id, known.subject, known.scopes) == ("ag_1", "user_42", ["calendar:read"])
    assert asyncio.run(BehestTokenVerifier(issuer.verifier()).verify_token(issuer.token(sandbox=True))) is None
    with pytest.raises(BehestError, match="audience"):
        behest_auth(issuer.verifier(audience=None), base_url=AUDIENCE)
    with pytest.warns(UserWarning, match="tokens for other resources"):
        require_grant(issuer.verifier(audience=None))
    mcp: FastMCP[Any] = FastMCP("files", auth=behest_auth(issuer.verifier(), base_url=AUDIENCE))

    with TestClient(mcp.http_app(), base_url=AUDIENCE) as client:
        refused = client.post("/mcp", json={})
        metadata = client.get("/.well-known/oauth-protected-resource/mcp").json()

    assert refused.status_code == 401
    assert "resource_metadata" in refused.headers["www-authenticate"]
    assert [server.rstrip("/") for server in metadata["authorization_servers"]] == [ISSUER]


def test_an_enforcer_denies_what_breaks_in_it() -> None:
    def broken(_: str) -> VerifiedGrant:
        raise RuntimeError("out of order")

    result = Enforcer(broken, {"files": MANIFEST}).enforce("token", "files", "read_file", {})
    assert (result.allowed, result.reason_code, result.details) == (False, "token_invalid", {"cause": "internal"})
    with pytest.raises(TypeError, match="call_id"):
        Enforcer(broken, {}).enforce("token", "files", "read_file", call_id="short")
    with pytest.raises(BehestTokenError):
        Issuer().verifier().verify("token")
