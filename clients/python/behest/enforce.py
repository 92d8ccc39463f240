"""Decides about tool calls in this process. The checks are in the order of the specification; the first failure counts."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

from ._json import Unreadable, copy_object, from_b64url, is_count, is_number, number_text
from ._rules import ArgumentRefusal, Checker, RuleFault, copy_arguments, read_rules
from .decisions import DecisionRefused, DecisionStore, HeldDecision, action_hash, action_of, check_decision
from .errors import BehestNetworkError, BehestTokenError
from .manifest import LEVELS, NAME, WINDOWS, Manifest, is_known_purpose, matches_purpose, tool_pin
from .meter import CapsMeter, Counter, Full, MeterError, Reused
from .tokens import GRANT_CLAIM, VerifiedGrant

CapsMode = Literal["enforce", "warn"]
_NAME = NAME.pattern
_SCOPE = re.compile(
    f"tool:(?P<connector>{_NAME}|[*]):(?P<level>read|write|delete|admin|[*])"
    "(?::(?P<resource>(?!capped(?::|$))(?:[A-Za-z0-9_.-]+[*]?|[*])))?(?::capped:(?P<cap>[0-9]+(?:[.][0-9]+)?))?"
)
_ENTRY_KEYS = {"type", "connector", "purpose", "data_region", "tools", "caps", "arguments"}
_WINDOW_MS = {"per_hour": 3_600_000, "per_day": 86_400_000, "per_case": 0}
_CAUSES = {
    **{"header_not_allowed": "malformed", "alg_not_allowed": "algorithm", "typ_not_allowed": "type"},
    **{"key_not_found": "key", "key_inconsistent": "key", "bad_signature": "signature"},
    **{"issuer_mismatch": "issuer", "audience_mismatch": "audience", "claims_missing": "claims"},
    **{"claims_inconsistent": "claims", "developer_mismatch": "developer", "sandbox_not_allowed": "sandbox"},
    "dpop_required": "claims",
}
_SENTENCES = {
    "token_invalid": "The grant token does not verify.",
    "grant_revoked": "The grant does not stand any longer.",
    "manifest_unknown_tool": "No loaded manifest declares the tool as it was approved.",
    "tool_not_granted": "The grant does not allow this call.",
    "permission_insufficient": "The grant has a lower permission than the tool demands.",
    "region_mismatch": "The grant keeps the data in another region.",
    "purpose_not_allowed": "The tool does not serve the purpose of the grant.",
    "decision_required": "The tool needs a decision by a person.",
    "case_required": "A cap counts by case, and the call names no case.",
    "cap_exceeded": "A cap does not admit the call.",
}
# What a check that broke unexpectedly denies with.
_UNEXPECTED: dict[str, tuple[str, str | None]] = {
    "token": ("token_invalid", None),
    "tool": ("manifest_unknown_tool", "unknown_tool"),
    "reach": ("tool_not_granted", None),
    "amount": ("cap_exceeded", "invalid_amount"),
    "purpose": ("purpose_not_allowed", "not_matched"),
    "arguments": ("tool_not_granted", "argument_unreadable"),
    "decision": ("decision_required", "consume_unavailable"),
    "caps": ("cap_exceeded", "meter_unavailable"),
}


class _Denial(Exception):
    def __init__(self, code: str, sub_reason: str | None = None, **details: Any) -> None:
        super().__init__(code)
        self.code, self.sub_reason, self.details = code, sub_reason, details


@dataclass
class Result:
    """The answer about a call. A denial is an answer, and no exception."""

    connector: str
    tool: str
    call_id: str
    allowed: bool = False
    reason: str = ""
    reason_code: str | None = None
    sub_reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    grant_id: str = ""
    agent_did: str = ""
    principal_id: str = ""
    developer_id: str = ""
    scopes: tuple[str, ...] = ()
    permission: str | None = None
    purpose: str | None = None
    manifest_version: str | None = None
    reservation: dict[str, Any] | None = None
    decision: dict[str, Any] | None = None
    would_deny: list[tuple[str, str | None, dict[str, Any]]] = field(default_factory=list)
    # The copy that was checked: give it to the tool, and not what came in.
    arguments: dict[str, Any] | None = None


@dataclass
class Listed:
    """The tools that some call could use, and the others with the reason of each."""

    tools: list[Mapping[str, Any]] = field(default_factory=list)
    hidden: list[tuple[str, str, str | None]] = field(default_factory=list)


@dataclass(frozen=True)
class _Scope:
    connector: str
    level: int
    resource: str | None
    cap: str | None


@dataclass
class _Asked:
    grant: VerifiedGrant
    scopes: list[_Scope]
    entry: dict[str, Any]
    ancestors: list[dict[str, Any]]
    declared: Mapping[str, Any]


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
        except _Denial as denial:
            _deny(result, denial)
        except Exception:  # an internal error is a denial too
            details = {"cause": "unreachable" if at[0] == "caps" else "internal"}
            _deny(result, _Denial(*_UNEXPECTED[at[0]], **details))
        return result

    def _decide(self, call: dict[str, Any], result: Result, at: list[str]) -> None:
        grant = self._token(call["grant_token"])
        result.grant_id, result.agent_did = grant.grant_id, grant.agent_did or ""
        result.principal_id, result.developer_id = grant.principal_id, grant.developer_id
        result.scopes = grant.scopes
        scopes, capped = _scopes_of(grant, result)
        self._check_revocation(grant)
        asked = self._use(grant, scopes, call, result, at)
        at[0] = "amount"
        _check_amount(asked, capped, call)
        at[0] = "purpose"
        _check_purpose(asked)
        at[0] = "arguments"
        result.arguments = _check_arguments(asked, call)
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
                scopes, _ = _scopes_of(grant, result)
                self._check_revocation(grant)
                self._offer(grant, scopes, result, tool, names.count(name) > 1, resource)
                listed.tools.append(tool)
            except _Denial as denial:
                listed.hidden.append((name, denial.code, denial.sub_reason))
            except Exception:  # an internal error hides the tool
                listed.hidden.append((name, *_UNEXPECTED["tool"]))
        return listed

    def _offer(
        self, grant: VerifiedGrant, scopes: list[_Scope], result: Result, tool: Mapping[str, Any], is_twice: bool, resource: bool
    ) -> None:
        manifest = self._manifests.get(result.connector)
        declared = manifest.tools.get(result.tool) if manifest else None
        if declared and not _is_name(result.tool):
            raise _Denial("manifest_unknown_tool", "unknown_tool")
        pin = _pin_or_none(tool) if declared and declared.get("mcp_pins") else None
        call = {"connector": result.connector, "tool": result.tool, "tool_pin": pin, "resource": _ANY if resource else None}
        try:
            asked = self._use(grant, scopes, call, result, [""])
        except _Denial as denial:
            if declared and is_twice and denial.code != "token_invalid":
                raise _Denial("manifest_unknown_tool", "tool_ambiguous") from denial
            raise
        if is_twice:
            raise _Denial("manifest_unknown_tool", "tool_ambiguous")
        _check_purpose(asked)
        own = [asked.declared.get("caps"), asked.entry.get("caps", {}).get(result.tool)]
        caps = own + [each["caps"].get(result.tool) for each in asked.ancestors]
        if self._caps_mode != "warn" and any(0 in (windows or {}).values() for windows in caps):
            raise _Denial("cap_exceeded", "limit_reached")

    def _use(
        self, grant: VerifiedGrant, scopes: list[_Scope], call: dict[str, Any], result: Result, at: list[str]
    ) -> _Asked:
        """Checks 3 to 9, which are about the tool and not about one call of it."""
        at[0] = "tool"
        try:
            entries, lineage = _entries_of(grant.raw.get("authorization_details", _ABSENT))
        finally:
            manifest = self._manifests.get(call["connector"])
        if manifest is None:
            raise _Denial("manifest_unknown_tool", "unknown_connector")
        entry = entries.get(call["connector"], {})
        result.manifest_version, result.purpose = manifest.version, entry.get("purpose")
        result.warnings += manifest.warnings
        declared = manifest.tools.get(call["tool"])
        if declared is None:
            raise _Denial("manifest_unknown_tool", "unknown_tool")
        result.permission = declared["permission"]
        asked = _Asked(grant, scopes, entry, lineage.get(call["connector"], []), declared)
        _check_pins(asked, manifest, call, result)
        at[0] = "reach"
        _check_reach(asked, call)
        self._check_region(asked, result)
        return asked

    def _token(self, token: object) -> VerifiedGrant:
        if not isinstance(token, str) or token == "":
            raise _Denial("token_invalid", cause="missing")
        try:
            return self._verify(token)
        except BehestTokenError as error:
            raise _Denial("token_invalid", cause=_CAUSES.get(error.reason, error.reason)) from error
        except BehestNetworkError as error:
            raise _Denial("token_invalid", cause="keys_unavailable") from error

    def _check_revocation(self, grant: VerifiedGrant) -> None:
        if self._revocation is None:
            return
        try:
            status = self._revocation(grant)
        except Exception as error:
            raise _Denial("grant_revoked", "status_unavailable") from error
        if status != "active":
            is_known = status in ("revoked", "suspended", "parent_revoked")
            raise _Denial("grant_revoked", status if is_known else "status_unavailable")

    def _check_region(self, asked: _Asked, result: Result) -> None:
        wanted = asked.entry.get("data_region")
        if wanted is None:
            return
        if self._region is None:
            result.warnings.append(("region_unchecked", wanted))
        elif wanted.strip().lower() != self._region.strip().lower():
            raise _Denial("region_mismatch")

    def _held(self, asked: _Asked, call: dict[str, Any], result: Result) -> HeldDecision:
        try:
            held = check_decision(self._decisions, asked.grant, asked.declared, call)
            result.decision = held.used
            if call["reserve"]:
                held.move("hold")
            return held
        except DecisionRefused as error:
            result.decision = None
            action = action_of(*(call[name] for name in ("connector", "tool", "arguments", "case_id", "case_version")))
            details: dict[str, Any] = {}
            if str(error) == "" and action:
                is_two = action["decision"] in asked.declared.get("four_eyes_on", ())
                details = {"action_hash": action_hash(action), "quorum": 2 if is_two else 1}
            raise _Denial("decision_required", str(error) or None, **details) from error

    def _send(self, held: HeldDecision, asked: _Asked, result: Result) -> None:
        try:
            held.move("send")
        except DecisionRefused as error:
            charged = result.reservation and result.reservation["id"]
            if self._meter and charged:
                self._meter.refund_unsent(asked.grant.developer_id, charged)
            result.reservation = result.decision = None
            raise _Denial("decision_required", "consume_unavailable") from error

    def _meter_call(self, asked: _Asked, call: dict[str, Any], result: Result) -> None:
        try:
            result.reservation = _metered(self._meter, asked, call)
        except _Full as full:
            if call["caps_mode"] != "warn":
                raise full.denials[0] from None
            result.would_deny = [(each.code, each.sub_reason, each.details) for each in full.denials]


class _Full(Exception):
    def __init__(self, *denials: _Denial) -> None:
        super().__init__("full")
        self.denials = denials


def _deny(result: Result, denial: _Denial) -> None:
    result.reason_code, result.sub_reason, result.details = denial.code, denial.sub_reason, denial.details
    more = f" ({denial.sub_reason})" if denial.sub_reason else ""
    result.reason, result.arguments = f"{_SENTENCES[denial.code]}{more}", None


def _scopes_of(grant: VerifiedGrant, result: Result) -> tuple[list[_Scope], list[str]]:
    """The tool scopes, and the connectors of those whose cap nobody can read."""
    scopes, capped = [], []
    for text in grant.scopes:
        found = _SCOPE.fullmatch(text) if len(text) <= 256 else None
        if found:
            level = 3 if found["level"] == "*" else LEVELS.index(found["level"])
            resource = None if found["resource"] == "*" else found["resource"]
            scopes.append(_Scope(found["connector"], level, resource, found["cap"]))
        elif text.startswith("tool:"):
            result.warnings.append(("scope_unreadable", text))
            _, connector, *rest = text.split(":")
            capped += [connector] if "capped" in rest else []
    own = grant.raw.get(GRANT_CLAIM)
    if "scp" not in grant.raw:
        result.warnings.append(("legacy_claim", "scope"))
    if "grnt" not in grant.raw and not (isinstance(own, dict) and "grant_id" in own):
        result.warnings.append(("legacy_claim", "jti"))
    return scopes, capped


def _entries_of(claim: Any) -> tuple[dict[str, dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """The limits of the token by connector. One that cannot be read denies every call: it may have held a limit."""
    entries: dict[str, dict[str, Any]] = {}
    lineage: dict[str, list[dict[str, Any]]] = {}
    if claim is _ABSENT:
        return entries, lineage
    if not isinstance(claim, list):
        raise _Denial("token_invalid", "malformed_authorization_details", fault="not_array")
    if len(claim) > 64:
        raise _Denial("token_invalid", "malformed_authorization_details", fault="too_many")
    for index, element in enumerate(claim):
        try:
            _read_element(element, entries, lineage)
        except _Fault as fault:
            details = {"fault": str(fault), "index": index}
            raise _Denial("token_invalid", "malformed_authorization_details", **details) from None
    return entries, lineage


class _Fault(Exception):
    pass


_ABSENT: Any = object()
_ANY: Any = object()  # some resource, which a list does not know yet


def _must(holds: object, fault: str) -> None:
    if not holds:
        raise _Fault(fault)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _read_element(element: Any, entries: dict[str, Any], lineage: dict[str, Any]) -> None:
    _must(isinstance(element, dict), "not_object")
    kind = element.get("type")
    _must(isinstance(kind, str) and kind, "type_missing")
    connector = element.get("connector")
    if kind == "urn:service:caps-lineage:v1":
        ancestors = element.get("ancestors")
        _must(set(element) == {"type", "connector", "ancestors"} and _is_name(connector), "lineage")
        _must(isinstance(ancestors, list) and 0 < len(ancestors) <= 10 and connector not in lineage, "lineage")
        for each in ancestors:
            is_fit = isinstance(each, dict) and set(each) == {"grant", "caps"}
            _must(is_fit and isinstance(each["grant"], str) and each["grant"], "lineage")
            try:
                _read_caps(each["caps"])
            except _Fault:
                raise _Fault("lineage") from None
        _must(len({each["grant"] for each in ancestors}) == len(ancestors), "lineage")
        lineage[connector] = ancestors
    if kind != "urn:service:tools:v1":
        return
    _must(set(element) <= _ENTRY_KEYS, "unknown_key")
    _must(_is_name(connector), "connector")
    _must(connector not in entries, "duplicate_connector")
    for name in ("purpose", "data_region"):
        _must(element.get(name) is None or isinstance(element[name], str), "wrong_type")
    tools, rules = element.get("tools", []), element.get("arguments")
    is_list = isinstance(tools, list) and all(isinstance(each, str) for each in tools)
    _must(is_list and all(_is_name(each.removesuffix("*")) for each in tools), "wrong_type")
    _must("arguments" not in element or "tools" in element, "arguments")
    if "caps" in element:
        _read_caps(element["caps"])
    if "arguments" in element:
        _must(isinstance(rules, dict) and rules, "arguments")
        for tool, own in element["arguments"].items():
            try:
                read_rules(own)
            except RuleFault:
                raise _Fault("arguments") from None
            _must(_is_name(tool), "arguments")
    entries[connector] = element


def _read_caps(value: Any) -> None:
    _must(isinstance(value, dict), "wrong_type")
    _must(value, "caps_empty")
    for tool, windows in value.items():
        _must(_is_name(tool), "caps_key")
        _must(isinstance(windows, dict), "wrong_type")
        _must(windows, "caps_empty")
        for window, count in windows.items():
            _must(window in WINDOWS, "caps_window")
            _must(is_count(count), "caps_count")


def _check_pins(asked: _Asked, manifest: Manifest, call: dict[str, Any], result: Result) -> None:
    pins = asked.declared.get("mcp_pins")
    if pins and call["tool_pin"] not in pins:
        raise _Denial("manifest_unknown_tool", "tool_changed", pinned=pins, offered=call["tool_pin"])
    own = asked.grant.raw.get(GRANT_CLAIM)
    claim = own if isinstance(own, dict) else {}
    manifests = claim.get("manifests")
    if not isinstance(manifests, dict) or call["connector"] not in manifests:
        return
    pinned = manifests[call["connector"]]
    data = from_b64url(pinned) if isinstance(pinned, str) else None
    before = data.hex() if data is not None else ""
    if before == manifest.sha256 or call["tool"] not in manifest.pins.get(before, {call["tool"]}):
        return
    if claim.get("manifest_mode") == "enforce":
        raise _Denial("manifest_unknown_tool", "manifest_changed", pinned=pinned, loaded=manifest.sha256)
    result.warnings.append(("manifest_changed", call["tool"]))


def _pin_or_none(definition: Mapping[str, Any]) -> str | None:
    try:
        return tool_pin(dict(definition))
    except ValueError:
        return None  # a definition without a pin is one that has changed


def _is_within(pattern: str, name: str) -> bool:
    return name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))


def _check_reach(asked: _Asked, call: dict[str, Any]) -> None:
    tool, resource = call["tool"], call["resource"]
    listed = asked.entry.get("tools")
    if listed is not None and not any(_is_within(pattern, tool) for pattern in listed):
        raise _Denial("tool_not_granted", "not_in_authorization_details")
    named = [scope for scope in asked.scopes if scope.connector in ("*", call["connector"])]
    names = [tool] + ([] if resource in (None, _ANY) else [resource])
    covering = [
        scope
        for scope in named
        if scope.resource is None or resource is _ANY or any(_is_within(scope.resource, name) for name in names)
    ]
    if not covering:
        raise _Denial("tool_not_granted", "tool_scope_missing" if named else None)
    granted, required = max(scope.level for scope in covering), asked.declared["permission"]
    if granted < LEVELS.index(required):
        raise _Denial("permission_insufficient", granted=LEVELS[granted], required=required)


def _check_amount(asked: _Asked, capped: list[str], call: dict[str, Any]) -> None:
    connector, amount = call["connector"], call["amount"]
    if any(named in ("*", connector) for named in capped):
        raise _Denial("cap_exceeded", "malformed_cap")
    caps = [Decimal(scope.cap) for scope in asked.scopes if scope.cap and scope.connector in ("*", connector)]
    if not caps:
        return
    if amount is None:
        raise _Denial("cap_exceeded", "amount_missing")
    if not is_number(amount) or not 0 <= amount < float("inf"):
        raise _Denial("cap_exceeded", "invalid_amount")
    if Decimal(number_text(amount)) > min(caps):
        raise _Denial("cap_exceeded", "amount_cap", limit=float(min(caps)), amount=amount)


def _check_purpose(asked: _Asked) -> None:
    patterns, purpose = asked.declared.get("allowed_purposes"), asked.entry.get("purpose")
    if patterns is None:
        return
    if purpose is None:
        raise _Denial("purpose_not_allowed", "missing")
    if not is_known_purpose(purpose):
        raise _Denial("purpose_not_allowed", "unknown_purpose")
    if not any(matches_purpose(pattern, purpose) for pattern in patterns):
        raise _Denial("purpose_not_allowed", "not_matched")


def _check_arguments(asked: _Asked, call: dict[str, Any]) -> dict[str, Any] | None:
    """:returns: the copy that was checked"""
    given = call["arguments"]
    ours = asked.declared.get("arguments")
    theirs = asked.entry.get("arguments", {}).get(call["tool"])
    ruled = [(scope, rules) for scope, rules in (("manifest", ours), ("grant", theirs)) if rules]
    if not ruled:
        try:
            call["arguments"] = given and copy_object(given, levels=63, takes_nul=True)
        except Unreadable:
            return None if given is None else dict(given) if isinstance(given, dict) else None
        return call["arguments"]  # type: ignore[no-any-return]
    if given is None:
        raise _Denial("tool_not_granted", "argument_missing", scope=ruled[0][0], path="")
    checker, scope = Checker(), ruled[0][0]
    try:
        copied = call["arguments"] = copy_arguments(given)
        for scope, rules in ruled:
            checker.check(rules, copied)
        return copied
    except ArgumentRefusal as refusal:
        own = {} if refusal.sub_reason == "argument_unreadable" else {"scope": scope}
        raise _Denial("tool_not_granted", refusal.sub_reason, **own, **refusal.details) from refusal


@dataclass(frozen=True)
class _Counted:
    scope: str
    kind: str
    window: str
    grant_id: str | None
    counter: Counter


def _metered(meter: CapsMeter | None, asked: _Asked, call: dict[str, Any]) -> dict[str, Any] | None:
    """Charges the counters of a call. :raises _Full:"""
    tool, declared, entry = call["tool"], asked.declared, asked.entry
    units = declared.get("cost_units")
    grants = [("grant", asked.grant.grant_id, entry["caps"])] if entry.get("caps") else []
    grants += [("ancestor", each["grant"], each["caps"]) for each in asked.ancestors]
    applies = any(tool in caps or ("cost_units" in caps and units) for _, _, caps in grants)
    if not declared.get("caps") and not units and not applies:
        return None
    if meter is None:
        raise _Full(_Denial("cap_exceeded", "meter_unavailable", cause="none"))
    case_id = call["case_id"]
    if case_id is not None and not _is_case_id(case_id):
        raise _Full(_Denial("cap_exceeded", "invalid_case_id"))
    cost = _cost_of(units or {}, call["cost_components"])
    if cost is None:
        raise _Full(_Denial("cap_exceeded", "invalid_cost_component"))
    counted = _counters_of(asked, call, grants, cost)
    by_case = next((each for each in counted if each.window == "per_case"), None)
    if by_case and case_id is None:
        raise _Full(_Denial("case_required", scope=by_case.scope))
    counted = [each for each in counted if each.counter.units > 0]
    try:
        return _charged(meter, asked.grant.developer_id, call, counted, cost)
    except MeterError as error:
        raise _Full(_Denial("cap_exceeded", "meter_unavailable", cause=str(error) or "unreachable")) from error


def _charged(
    meter: CapsMeter, tenant: str, call: dict[str, Any], counted: list[_Counted], cost: int
) -> dict[str, Any] | None:
    names_all, counters = call["caps_mode"] == "warn", [each.counter for each in counted]
    disabled = [index for index, counter in enumerate(counters) if counter.limit == 0]
    if disabled:  # before the meter is asked
        _refuse(counted, [Full(index, 0, None) for index in disabled], names_all)
    if not counters:
        if not meter.healthy():
            raise MeterError("misconfigured")
        return None
    if not call["reserve"]:
        states = meter.usage(tenant, counters)
        _refuse(counted, [state for state in states if _is_full(counters, state)], names_all)
        return _reservation(None, cost, counted, [state.used for state in states])
    for transmission in range(100):
        own = call["call_id"] if transmission == 0 else f"{call['call_id']}.{transmission}"
        try:
            answer = meter.reserve(tenant, own, counters)
        except Reused:
            continue  # each transmission is paid for
        if isinstance(answer, Full):
            states = meter.usage(tenant, counters) if names_all else []
            others = [state for state in states if state.index != answer.index and _is_full(counters, state)]
            _refuse(counted, sorted([answer, *others], key=lambda state: state.index), names_all)
        else:
            return _reservation(own, cost, counted, answer)
    raise MeterError("unreachable")


def _is_full(counters: list[Counter], state: Full) -> bool:
    counter = counters[state.index]
    return state.used + counter.units > counter.limit


def _refuse(counted: list[_Counted], full: list[Full], names_all: bool) -> None:
    denials = [_limit_reached(counted[state.index], state) for state in full]
    if denials:
        raise _Full(*(denials if names_all else denials[:1]))


def _limit_reached(counted: _Counted, state: Full) -> _Denial:
    counter, at = counted.counter, state.retry_at_ms
    when = None if at is None else datetime.fromtimestamp(at / 1_000, UTC).isoformat(timespec="milliseconds")
    details: dict[str, Any] = {"limit": counter.limit, "window": counted.window, "used": state.used}
    details |= {"requested": counter.units, "scope": counted.scope, "kind": counted.kind}
    details |= {} if counted.grant_id is None else {"grant_id": counted.grant_id}
    return _Denial("cap_exceeded", "limit_reached", **details, retry_at=when and when.replace("+00:00", "Z"))


def _reservation(own: str | None, cost: int, counted: list[_Counted], used: list[int]) -> dict[str, Any]:
    counters = [
        {
            **{"scope": each.scope, "kind": each.kind, "window": each.window, "limit": each.counter.limit},
            **{"used": taken, "remaining": max(0, each.counter.limit - taken)},
        }
        for each, taken in zip(counted, used, strict=True)
    ]
    return {"id": own, "units": cost, "counters": counters}


def _is_case_id(value: object) -> bool:
    is_text = isinstance(value, str) and 0 < len(value) <= 256
    return is_text and not re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", str(value))


def _cost_of(units: Mapping[str, int], components: Any) -> int | None:
    named = list(units) if components is None else components
    if not isinstance(named, list) or not all(isinstance(each, str) and each in units for each in named):
        return None
    if len(set(named)) != len(named) or (units and not named):
        return None
    cost = int(sum(units[each] for each in named))
    return cost if cost <= 2_147_483_647 else None


def _counters_of(
    asked: _Asked, call: dict[str, Any], grants: list[tuple[str, str, dict[str, Any]]], cost: int
) -> list[_Counted]:
    """In the order in which a denial is looked for: manifest, grant, ancestors from the root; hour, day, case."""
    connector, tool, counted = call["connector"], call["tool"], []

    def add(scope: str, kind: str, grant_id: str | None, identity: list[str], units: int, caps: Any) -> None:
        for window in WINDOWS:
            if window not in (caps or {}):
                continue
            limit, span = int(caps[window]), _WINDOW_MS[window]
            by_case = [call["case_id"]] if window == "per_case" and call["case_id"] is not None else []
            key = json.dumps([*identity, window, *by_case], ensure_ascii=False, separators=(",", ":"))
            grain = 0 if span == 0 else 1 if limit <= 1_000 else span // 3_600
            counted.append(_Counted(scope, kind, window, grant_id, Counter(key, limit, units, span, grain)))

    add("manifest", "calls", None, ["manifest", connector, tool, "calls"], 1, asked.declared.get("caps"))
    for scope, own, caps in grants:
        add(scope, "calls", own, ["grant", own, connector, tool, "calls"], 1, caps.get(tool))
    for scope, own, caps in grants if asked.declared.get("cost_units") else []:
        add(scope, "cost_units", own, ["grant", own, connector, "cost_units"], cost, caps.get("cost_units"))
    return counted
