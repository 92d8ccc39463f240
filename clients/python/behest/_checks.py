"""The checks of a call that ask neither the meter nor a person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ._arguments import ArgumentRefusal, Checker, copy_arguments
from ._denials import Denial
from ._json import Unreadable, copy_object, from_b64url, is_number, number_text
from .claims import GRANT_CLAIM, VerifiedGrant
from .manifest import LEVELS, NAME, Manifest, is_known_purpose, matches_purpose, tool_pin
from .results import Result

_NAME = NAME.pattern
SCOPE = re.compile(
    f"tool:(?P<connector>{_NAME}|[*]):(?P<level>read|write|delete|admin|[*])"
    "(?::(?P<resource>(?!capped(?::|$))(?:[A-Za-z0-9_.-]+[*]?|[*])))?(?::capped:(?P<cap>[0-9]+(?:[.][0-9]+)?))?"
)
ANY: Any = object()  # some resource, which a list does not know yet


@dataclass(frozen=True)
class Scope:
    connector: str
    level: int
    resource: str | None
    cap: str | None


@dataclass
class Asked:
    grant: VerifiedGrant
    scopes: list[Scope]
    entry: dict[str, Any]
    ancestors: list[dict[str, Any]]
    declared: Mapping[str, Any]
    manifest: Manifest


def scopes_of(grant: VerifiedGrant, result: Result) -> tuple[list[Scope], list[str]]:
    """The tool scopes, and the connectors of those whose cap nobody can read."""
    scopes, capped = [], []
    for text in grant.scopes:
        found = SCOPE.fullmatch(text) if len(text) <= 256 else None
        if found:
            level = 3 if found["level"] == "*" else LEVELS.index(found["level"])
            resource = None if found["resource"] == "*" else found["resource"]
            scopes.append(Scope(found["connector"], level, resource, found["cap"]))
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


def check_pins(asked: Asked, manifest: Manifest, call: dict[str, Any], result: Result) -> None:
    pins = asked.declared.get("mcp_pins")
    if pins and call["tool_pin"] not in pins:
        raise Denial("manifest_unknown_tool", "tool_changed", pinned=pins, offered=call["tool_pin"])
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
        raise Denial("manifest_unknown_tool", "manifest_changed", pinned=pinned, loaded=manifest.sha256)
    result.warnings.append(("manifest_changed", call["tool"]))


def pin_or_none(definition: Mapping[str, Any]) -> str | None:
    try:
        return tool_pin(dict(definition))
    except ValueError:
        return None  # a definition without a pin is one that has changed


def check_reach(asked: Asked, call: dict[str, Any]) -> None:
    tool, resource = call["tool"], call["resource"]
    listed = asked.entry.get("tools")
    if listed is not None and not any(_is_within(pattern, tool) for pattern in listed):
        raise Denial("tool_not_granted", "not_in_authorization_details")
    named = [scope for scope in asked.scopes if scope.connector in ("*", call["connector"])]
    names = [tool] + ([] if resource in (None, ANY) else [resource])
    covering = [
        scope
        for scope in named
        if scope.resource is None or resource is ANY or any(_is_within(scope.resource, name) for name in names)
    ]
    if not covering:
        raise Denial("tool_not_granted", "tool_scope_missing" if named else None)
    granted, required = max(scope.level for scope in covering), asked.declared["permission"]
    if granted < LEVELS.index(required):
        raise Denial("permission_insufficient", granted=LEVELS[granted], required=required)


def _is_within(pattern: str, name: str) -> bool:
    return name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))


def check_amount(asked: Asked, capped: list[str], call: dict[str, Any]) -> None:
    connector, amount = call["connector"], call["amount"]
    if any(named in ("*", connector) for named in capped):
        raise Denial("cap_exceeded", "malformed_cap")
    caps = [Decimal(scope.cap) for scope in asked.scopes if scope.cap and scope.connector in ("*", connector)]
    if not caps:
        return
    if amount is None:
        raise Denial("cap_exceeded", "amount_missing")
    if not is_number(amount) or not 0 <= amount < float("inf"):
        raise Denial("cap_exceeded", "invalid_amount")
    if Decimal(number_text(amount)) > min(caps):
        raise Denial("cap_exceeded", "amount_cap", limit=float(min(caps)), amount=amount)


def check_purpose(asked: Asked) -> None:
    patterns, purpose = asked.declared.get("allowed_purposes"), asked.entry.get("purpose")
    if patterns is None:
        return
    if purpose is None:
        raise Denial("purpose_not_allowed", "missing")
    if not is_known_purpose(purpose):
        raise Denial("purpose_not_allowed", "unknown_purpose")
    if not any(matches_purpose(pattern, purpose) for pattern in patterns):
        raise Denial("purpose_not_allowed", "not_matched")


def check_arguments(asked: Asked, call: dict[str, Any]) -> dict[str, Any] | None:
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
        raise Denial("tool_not_granted", "argument_missing", scope=ruled[0][0], path="")
    checker, scope = Checker(), ruled[0][0]
    try:
        copied = call["arguments"] = copy_arguments(given)
        for scope, rules in ruled:
            checker.check(rules, copied)
        return copied
    except ArgumentRefusal as refusal:
        own = {} if refusal.sub_reason == "argument_unreadable" else {"scope": scope}
        raise Denial("tool_not_granted", refusal.sub_reason, **own, **refusal.details) from refusal
