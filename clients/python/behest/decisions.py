"""Decision grants: one named person allowed this exact call, once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import httpx

from ._json import canonical, copy_object, Unreadable, sha256_uri, size_of, is_number
from .claims import VerifiedGrant
from .errors import BehestTokenError
from .keys import Jwks
from ._rules import read_pointer
from .manifest import WORD, Manifest
from .tokens import check_times, read_signed

REFUSALS = (
    *("malformed", "unknown_grant", "wrong_agent", "wrong_case", "case_changed", "action_mismatch", "expired"),
    *("four_eyes_incomplete", "same_approver", "spliced", "consumed", "revoked", "consume_unavailable"),
)
_AFTER = {"hold": ("held", "sent"), "send": ("sent",), "release": ("free",)}
_ULID = "[0-9A-HJKMNP-TV-Z]{26}"
_PATTERNS = {
    "jti": f"dgnt_{_ULID}",
    "decision_id": f"dec_{_ULID}",
    "nonce": "[A-Za-z0-9_-]{22}",
    "action_hash": "sha256:[A-Za-z0-9_-]{43}",
}


class DecisionRefused(Exception):
    """The decision does not allow the call. Its text is the sub-reason; empty without a decision."""


class DecisionStore(Protocol):
    def verify(self, decision_grant: str) -> tuple[dict[str, Any], bool]:
        """The payload, and whether the grant has expired. :raises BehestTokenError:"""

    def move(self, phase: str, **request: Any) -> str:
        """The state after the step. :raises DecisionRefused:"""


def bound_arguments(arguments: dict[str, Any], binds: Iterable[str]) -> dict[str, Any]:
    """The part of the arguments that a decision binds. What is no object where a pointer leads on is bound whole."""
    return _bound(arguments, [["decision"], *map(read_pointer, binds)])


def _bound(value: dict[str, Any], paths: list[list[str]]) -> dict[str, Any]:
    bound = {}
    for name, member in value.items():
        below = [path[1:] for path in paths if path[:1] == [name]]
        if below:
            bound[name] = _bound(member, below) if isinstance(member, dict) and all(below) else member
    return bound


def binding_of(manifest: Manifest, tool: str) -> tuple[str, tuple[str, ...]] | None:
    """The hash of the manifest and the arguments that it binds; None where it binds all of them."""
    binds = manifest.tools.get(tool, {}).get("binds")
    return None if binds is None else (manifest.sha256, tuple(binds))


def action_of(
    connector: str,
    tool: str,
    arguments: Any,
    case_id: Any,
    case_version: Any,
    binding: tuple[str, tuple[str, ...]] | None = None,
) -> dict[str, Any] | None:
    """The action of a call; None when the arguments are no object that can be hashed."""
    if not isinstance(arguments, dict):
        return None
    try:
        own = copy_object(arguments, levels=63, takes_nul=True)
    except Unreadable:
        return None
    decision = own.get("decision")
    is_word = isinstance(decision, str) and WORD.fullmatch(decision)
    action: dict[str, Any] = {"v": 1, "connector": connector, "tool": tool, "arguments": own}
    if binding is not None:
        action |= {"v": 2, "manifest": binding[0], "arguments": bound_arguments(own, binding[1])}
    action |= {"case_id": case_id, "case_version": case_version, "decision": decision if is_word else None}
    return action if size_of(action) <= 65_536 else None


def action_hash(action: dict[str, Any]) -> str:
    return sha256_uri(canonical(action))


class HeldDecision:
    """Decision grants that hold for a call, and their steps at the issuer."""

    def __init__(self, store: DecisionStore, grants: list[dict[str, Any]], request: dict[str, Any]) -> None:
        self._store, self._request = store, request
        approvers = [{"sub": grant["sub"], "jti": grant["jti"]} for grant in grants]
        self.used = {"decision_id": grants[0]["decision_id"], "jtis": [grant["jti"] for grant in grants]}
        self.used |= {"approvers": approvers, "state": "unheld"}

    def move(self, phase: str) -> None:
        """:raises DecisionRefused:"""
        try:
            state = self._store.move(phase, **self._request)
        except DecisionRefused as error:
            raise DecisionRefused(str(error) if str(error) in REFUSALS else "consume_unavailable") from None
        except Exception as error:
            raise DecisionRefused("consume_unavailable") from error
        if state not in _AFTER[phase]:
            raise DecisionRefused("consume_unavailable")
        self.used["state"] = state


def check_decision(
    store: DecisionStore | None,
    grant: VerifiedGrant,
    manifest: Manifest,
    call: dict[str, Any],
) -> HeldDecision:
    """The decision grants of a call are genuine and allow exactly this action. :raises DecisionRefused:"""
    declared, binding = manifest.tools[call["tool"]], binding_of(manifest, call["tool"])
    given = call["decision_grants"]
    if given is None or given == []:
        raise DecisionRefused("")
    if not isinstance(given, list) or len(given) > 2 or not all(isinstance(each, str) for each in given):
        raise DecisionRefused("malformed")
    if store is None:
        raise DecisionRefused("consume_unavailable")
    try:
        verified = [store.verify(each) for each in given]
    except BehestTokenError as error:
        raise DecisionRefused("malformed") from error
    grants = [payload for payload, _ in verified]
    if not all(map(_is_readable, grants)):
        raise DecisionRefused("malformed")
    case_id = call["case_id"] if isinstance(call["case_id"], str) else None
    action = action_of(call["connector"], call["tool"], call["arguments"], case_id, call["case_version"], binding)
    word = action["decision"] if action else None
    if "four_eyes_on" in declared and word is None:
        raise DecisionRefused("malformed")
    quorum = 2 if word is not None and word in declared.get("four_eyes_on", ()) else 1
    hashed = action_hash(action) if action else None
    own = (("connector", call["connector"]), ("tool", call["tool"]), ("action_hash", hashed))
    steps = (
        ("unknown_grant", all(each["dev"] == grant.developer_id for each in grants)),
        ("wrong_agent", all((each["agt"], each["grnt"]) == (grant.agent_did, grant.grant_id) for each in grants)),
        ("wrong_case", all(each["case_id"] == call["case_id"] for each in grants)),
        ("case_changed", all(each["case_version"] == call["case_version"] for each in grants)),
        ("action_mismatch", all(each[name] == value for each in grants for name, value in own)),
        ("expired", not any(is_expired for _, is_expired in verified)),
        ("four_eyes_incomplete", all(len(grants) >= max(quorum, each["quorum"]) for each in grants)),
        ("same_approver", all(len({each[name] for each in grants}) == len(grants) for name in ("jti", "sub"))),
        ("spliced", len(grants) < 2 or _is_one_request(*sorted(grants, key=lambda each: each["position"]))),
    )
    fault = next((step for step, holds in steps if not holds), None)
    if fault or action is None:
        raise DecisionRefused(fault or "action_mismatch")
    request = {name: call[name] for name in ("decision_grants", "case_version", "call_id", "grant_token")}
    return HeldDecision(store, grants, {**request, "action": action})


def _is_one_request(first: dict[str, Any], second: dict[str, Any]) -> bool:
    shared = ("decision_id", "nonce", "action_hash")
    is_pair = (first["position"], second["position"], second.get("prev")) == (1, 2, first["jti"])
    return is_pair and all(first[name] == second[name] for name in shared)


def _is_readable(claims: dict[str, Any]) -> bool:
    iat, exp = claims.get("iat", ""), claims.get("exp", "")
    if claims.get("aud") != "urn:service:decision" or not (is_number(iat) and is_number(exp)):
        return False
    texts = ("sub", "dev", "agt", "grnt", "connector", "tool", "jti", "decision_id", "nonce", "action_hash")
    if not 0 < exp - iat <= 86_400 or not all(isinstance(claims.get(name), str) and claims[name] for name in texts):
        return False
    case = [claims.get(name, "") for name in ("case_id", "case_version")]
    decision, approval = claims.get("decision", ""), claims.get("approval")
    four_eyes = claims.get("four_eyes_on", [])
    return (
        all(re.fullmatch(pattern, claims[name]) for name, pattern in _PATTERNS.items())
        and all(value is None or (isinstance(value, str) and value != "") for value in case)
        and (decision is None or (isinstance(decision, str) and WORD.fullmatch(decision) is not None))
        and all(is_number(claims.get(name)) and claims[name] in (1, 2) for name in ("quorum", "position"))
        and isinstance(claims.get("prev", ""), str)
        and isinstance(four_eyes, list)
        and all(isinstance(word, str) and word for word in four_eyes)
        and isinstance(approval, dict)
        and (approval.get("method"), approval.get("uv")) == ("passkey", True)
    )


class ServiceDecisions:
    """Verifies decision grants here, and moves them at the service."""

    def __init__(
        self, client: httpx.Client, jwks: Jwks, issuer: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._client, self._jwks, self._issuer, self._clock = client, jwks, issuer, clock

    def verify(self, decision_grant: str) -> tuple[dict[str, Any], bool]:
        payload = read_signed(decision_grant, "decision", self._jwks.get())
        if payload.get("iss") != self._issuer:
            raise BehestTokenError("issuer_mismatch")
        try:
            check_times(payload, self._clock())
            return payload, False
        except BehestTokenError as error:
            if error.reason != "expired":
                raise
        check_times(payload, payload["exp"] - 0.001)  # everything but the expiry has to hold
        return payload, True

    def move(self, phase: str, **request: Any) -> str:
        names = {"decision_grants": "decisionGrants", "case_version": "caseVersion"}
        names |= {"call_id": "callId", "grant_token": "grantToken", "action": "action"}
        body = {names[name]: value for name, value in request.items()} | {"phase": phase}
        answer = self._client.post("/v1/decisions/consume", json=body)
        if answer.status_code == 200:
            return str(answer.json().get("state"))
        raise DecisionRefused(str((answer.json().get("details") or {}).get("sub_reason")))
