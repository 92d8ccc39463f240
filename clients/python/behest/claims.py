"""The claims of a grant token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ._json import is_number
from .errors import BehestTokenError

GRANT_CLAIM = "urn:service:grant"


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
