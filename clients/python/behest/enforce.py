"""Decides about tool calls in this process. The checks have one order, as in the service; the first failure counts."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ._checks import (
    ANY,
    Asked,
    Scope,
    check_amount,
    check_arguments,
    check_pins,
    check_purpose,
    check_reach,
    pin_or_none,
    scopes_of,
)
from ._counting import metered
from ._denials import CAUSES, SENTENCES, UNEXPECTED, Denial, NotCharged
from ._details import ABSENT, entries_of, is_name
from .claims import VerifiedGrant
from .decisions import DecisionRefused, DecisionStore, HeldDecision, action_hash, action_of, binding_of, check_decision
from .errors import BehestNetworkError, BehestTokenError
from .manifest import Manifest
from .meter import CapsMeter
from .results import Listed, Result

CapsMode = Literal["enforce", "warn"]


class Enforcer:
    """Answers for each call whether it may happen now.

    :param verify: `Verifier.verify`
    :param revocation: tells `active`, `revoked`, `suspended` or `parent_revoked`. An exception counts as no answer
    :param meter: without it every metered call is denied
    :param decisions: without it every call that needs a decision is denied
    """

    def __init__(
        self,
        verify: Callable[[str], VerifiedGrant],
        manifests: Mapping[str, Manifest],
        *,
        meter: CapsMeter | None = None,
        decisions: DecisionStore | None = None,
        revocation: Callable[[VerifiedGrant], str] | None = None,
        data_region: str | None = None,
        caps_mode: CapsMode = "enforce",
    ) -> None:
        self._verify, self._manifests, self._meter = verify, manifests, meter
        self._decisions, self._revocation = decisions, revocation
        self._region, self._caps_mode = data_region, caps_mode

    def enforce(
        self,
        grant_token: str,
        connector: str,
        tool: str,
        arguments: dict[str, Any] | None = None,
        *,
        resource: str | None = None,
        amount: float | None = None,
        case_id: str | None = None,
        case_version: str | None = None,
        cost_components: list[str] | None = None,
        call_id: str | None = None,
        decision_grants: list[str] | None = None,
        caps_mode: CapsMode | None = None,
        reserve: bool = True,
        tool_pin: str | None = None,
    ) -> Result:
        """:raises TypeError: for a member that comes from the gateway and has a wrong type"""
        texts = {"connector": connector, "tool": tool, "resource": resource, "tool_pin": tool_pin}
        for name, value in texts.items():
            if not (isinstance(value, str) or (value is None and name in ("resource", "tool_pin"))):
                raise TypeError(f"{name} is a text.")
        if call_id is not None and not (isinstance(call_id, str) and re.fullmatch("[A-Za-z0-9_.:-]{8,128}", call_id)):
            raise TypeError("call_id has 8 to 128 characters: letters, digits and _.:-")
        if case_version is not None and not (isinstance(case_version, str) and 0 < len(case_version) <= 128):
            raise TypeError("case_version is a text of 1 to 128 characters.")
        if caps_mode not in (None, "enforce", "warn") or not isinstance(reserve, bool):
            raise TypeError("caps_mode is enforce or warn, and reserve is True or False.")
        call: dict[str, Any] = {"grant_token": grant_token, **texts, "arguments": arguments, "amount": amount, "case_id": case_id}
        call |= {"case_version": case_version, "cost_components": cost_components, "reserve": reserve}
        call |= {"call_id": call_id or str(uuid.uuid4()), "decision_grants": decision_grants}
        call["caps_mode"] = caps_mode or self._caps_mode
        result = Result(connector, tool, call["call_id"])
        at = ["token"]
        try:
            self._decide(call, result, at)
            result.allowed = True
        except Denial as denial:
            _deny(result, denial)
        except Exception:  # an internal error is a denial too
            details = {"cause": "unreachable" if at[0] == "caps" else "internal"}
            _deny(result, Denial(*UNEXPECTED[at[0]], **details))
        return result

    def _decide(self, call: dict[str, Any], result: Result, at: list[str]) -> None:
        grant = self._token(call["grant_token"])
        result.grant_id, result.agent_did = grant.grant_id, grant.agent_did or ""
        result.principal_id, result.developer_id = grant.principal_id, grant.developer_id
        result.scopes = grant.scopes
        scopes, capped = scopes_of(grant, result)
        self._check_revocation(grant)
        asked = self._use(grant, scopes, call, result, at)
        at[0] = "amount"
        check_amount(asked, capped, call)
        at[0] = "purpose"
        check_purpose(asked)
        at[0] = "arguments"
        result.arguments = check_arguments(asked, call)
        at[0] = "decision"
        if not asked.declared.get("requires_decision"):
            at[0] = "caps"
            self._meter_call(asked, call, result)
            return
        held = self._held(asked, call, result)
        at[0] = "caps"
        try:
            self._meter_call(asked, call, result)
        except Exception:
            if call["reserve"]:
                held.move("release")
            result.decision = None
            raise
        at[0] = "decision"
        if call["reserve"]:
            self._send(held, asked, result)

    def list_tools(
        self, grant_token: str, connector: str, tools: Sequence[Mapping[str, Any]], *, resource: bool = False
    ) -> Listed:
        """Selects the tools that some call with the token could use. A list is no call: nothing is charged or recorded.

        :param tools: definitions as the MCP server offers them, each with its `name`
        :param resource: whether calls may name a resource, so that a scope of one resource shows its tools
        """
        listed, names = Listed(), [tool["name"] for tool in tools]
        for tool in tools:
            name, result = tool["name"], Result(connector, tool["name"], "")
            try:
                grant = self._token(grant_token)
                scopes, _ = scopes_of(grant, result)
                self._check_revocation(grant)
                self._offer(grant, scopes, result, tool, names.count(name) > 1, resource)
                listed.tools.append(tool)
            except Denial as denial:
                listed.hidden.append((name, denial.code, denial.sub_reason))
            except Exception:  # an internal error hides the tool
                listed.hidden.append((name, *UNEXPECTED["tool"]))
        return listed

    def _offer(
        self, grant: VerifiedGrant, scopes: list[Scope], result: Result, tool: Mapping[str, Any], is_twice: bool, resource: bool
    ) -> None:
        manifest = self._manifests.get(result.connector)
        declared = manifest.tools.get(result.tool) if manifest else None
        if declared and not is_name(result.tool):
            raise Denial("manifest_unknown_tool", "unknown_tool")
        pin = pin_or_none(tool) if declared and declared.get("mcp_pins") else None
        call = {"connector": result.connector, "tool": result.tool, "tool_pin": pin, "resource": ANY if resource else None}
        try:
            asked = self._use(grant, scopes, call, result, [""])
        except Denial as denial:
            if declared and is_twice and denial.code != "token_invalid":
                raise Denial("manifest_unknown_tool", "tool_ambiguous") from denial
            raise
        if is_twice:
            raise Denial("manifest_unknown_tool", "tool_ambiguous")
        check_purpose(asked)
        own = [asked.declared.get("caps"), asked.entry.get("caps", {}).get(result.tool)]
        caps = own + [each["caps"].get(result.tool) for each in asked.ancestors]
        if self._caps_mode != "warn" and any(0 in (windows or {}).values() for windows in caps):
            raise Denial("cap_exceeded", "limit_reached")

    def _use(
        self, grant: VerifiedGrant, scopes: list[Scope], call: dict[str, Any], result: Result, at: list[str]
    ) -> Asked:
        """Checks 3 to 9, which are about the tool and not about one call of it."""
        at[0] = "tool"
        try:
            entries, lineage = entries_of(grant.raw.get("authorization_details", ABSENT))
        finally:
            manifest = self._manifests.get(call["connector"])
        if manifest is None:
            raise Denial("manifest_unknown_tool", "unknown_connector")
        entry = entries.get(call["connector"], {})
        result.manifest_version, result.purpose = manifest.version, entry.get("purpose")
        result.warnings += manifest.warnings
        declared = manifest.tools.get(call["tool"])
        if declared is None:
            raise Denial("manifest_unknown_tool", "unknown_tool")
        result.permission = declared["permission"]
        asked = Asked(grant, scopes, entry, lineage.get(call["connector"], []), declared, manifest)
        check_pins(asked, manifest, call, result)
        at[0] = "reach"
        check_reach(asked, call)
        self._check_region(asked, result)
        return asked

    def _token(self, token: object) -> VerifiedGrant:
        if not isinstance(token, str) or token == "":
            raise Denial("token_invalid", cause="missing")
        try:
            return self._verify(token)
        except BehestTokenError as error:
            raise Denial("token_invalid", cause=CAUSES.get(error.reason, error.reason)) from error
        except BehestNetworkError as error:
            raise Denial("token_invalid", cause="keys_unavailable") from error

    def _check_revocation(self, grant: VerifiedGrant) -> None:
        if self._revocation is None:
            return
        try:
            status = self._revocation(grant)
        except Exception as error:
            raise Denial("grant_revoked", "status_unavailable") from error
        if status != "active":
            is_known = status in ("revoked", "suspended", "parent_revoked")
            raise Denial("grant_revoked", status if is_known else "status_unavailable")

    def _check_region(self, asked: Asked, result: Result) -> None:
        wanted = asked.entry.get("data_region")
        if wanted is None:
            return
        if self._region is None:
            result.warnings.append(("region_unchecked", wanted))
        elif wanted.strip().lower() != self._region.strip().lower():
            raise Denial("region_mismatch")

    def _held(self, asked: Asked, call: dict[str, Any], result: Result) -> HeldDecision:
        try:
            held = check_decision(self._decisions, asked.grant, asked.manifest, call)
            result.decision = held.used
            if call["reserve"]:
                held.move("hold")
            return held
        except DecisionRefused as error:
            result.decision = None
            tool, case = call["tool"], (call["case_id"], call["case_version"])
            binding = binding_of(asked.manifest, tool)
            action = action_of(call["connector"], tool, call["arguments"], *case, binding)
            details: dict[str, Any] = {}
            if str(error) == "" and action:
                is_two = action["decision"] in asked.declared.get("four_eyes_on", ())
                details = {"action_hash": action_hash(action), "quorum": 2 if is_two else 1}
            raise Denial("decision_required", str(error) or None, **details) from error

    def _send(self, held: HeldDecision, asked: Asked, result: Result) -> None:
        try:
            held.move("send")
        except DecisionRefused as error:
            charged = result.reservation and result.reservation["id"]
            if self._meter and charged:
                self._meter.refund_unsent(asked.grant.developer_id, charged)
            result.reservation = result.decision = None
            raise Denial("decision_required", "consume_unavailable") from error

    def _meter_call(self, asked: Asked, call: dict[str, Any], result: Result) -> None:
        try:
            result.reservation = metered(self._meter, asked, call)
        except NotCharged as full:
            if call["caps_mode"] != "warn":
                raise full.denials[0] from None
            result.would_deny = [(each.code, each.sub_reason, each.details) for each in full.denials]


def _deny(result: Result, denial: Denial) -> None:
    result.reason_code, result.sub_reason, result.details = denial.code, denial.sub_reason, denial.details
    more = f" ({denial.sub_reason})" if denial.sub_reason else ""
    result.reason, result.arguments = f"{SENTENCES[denial.code]}{more}", None
