"""The vectors that every implementation passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from behest import (
    BehestTokenError,
    Enforcer,
    Manifest,
    ManifestValidationError,
    MemoryMeter,
    MeterError,
    expose_tools,
    rules_in_words,
    tool_pin,
)
from behest._arguments import ArgumentRefusal, Checker, copy_arguments, read_arguments
from behest._json import canonical
from behest._narrower import is_within
from behest._rules import RuleFault, read_rules
from behest.claims import VerifiedGrant, read_claims
from behest.decisions import DecisionRefused, action_hash, action_of, binding_of, bound_arguments
from behest.manifest import is_known_purpose, matches_purpose

FOLDER = Path(__file__).parents[3] / "packages/protocol/vectors"
FORMATS = {"enforcement": "behest.enforcement-vectors/1", "argument": "behest.argument-vectors/1"}
# About engines that know no rules about arguments.
UNSUPPORTED = {"enforce_old"}
VECTORS = {name: json.loads((FOLDER / f"{name}-vectors.json").read_text("utf-8")) for name in FORMATS}
CASES = [(vectors, case) for vectors in VECTORS.values() for case in vectors["cases"] if case["kind"] not in UNSUPPORTED]
CALL = {"connector", "tool", "arguments", "resource", "amount", "case_id", "case_version", "cost_components"}
CALL |= {"call_id", "decision_grants", "caps_mode", "reserve", "tool_pin"}
EXPECT = {"allowed", "reason_code", "sub_reason", "details", "would_deny", "warnings", "usage", "purpose"}


def test_the_files_are_of_the_formats_that_are_known() -> None:
    assert {name: vectors["format"] for name, vectors in VECTORS.items()} == FORMATS
    assert len(CASES) > 850


@pytest.mark.parametrize(("vectors", "case"), CASES, ids=[f"{v['format'][7:10]}-{c['id']}" for v, c in CASES])
def test_vector(vectors: dict[str, Any], case: dict[str, Any]) -> None:
    own = {name: value for name, value in case.items() if name not in ("id", "title", "kind", "expect")}
    KINDS[case["kind"]](vectors, case.get("expect"), **own)


def manifest_case(_: Any, expect: Any, manifest: Any = None, text: str | None = None, syntax: str = "") -> None:
    try:
        if text is None:
            loaded = Manifest.from_object(manifest)
        else:
            loaded = Manifest.from_yaml_text(text) if syntax == "yaml" else Manifest.from_json_text(text)
    except ManifestValidationError as error:
        assert {"ok": False, "code": error.code, "path": error.path} == expect
        return
    answer: dict[str, Any] = {"ok": True}
    if "warnings" in expect:
        answer["warnings"] = [code for code, _ in loaded.warnings]
    assert answer == expect


def purpose_case(_: Any, expect: Any, pattern: str, purpose: str) -> None:
    assert {"matches": matches_purpose(pattern, purpose), "known": is_known_purpose(purpose)} == expect


def action_case(_: Any, expect: Any, action: Any) -> None:
    assert {"canonical": canonical(action), "hash": action_hash(action)} == expect


def bound_case(_: Any, expect: Any, arguments: Any, binds: Any) -> None:
    bound = bound_arguments(arguments, binds)
    assert {"arguments": bound} == expect
    assert bound_arguments(bound, binds) == bound


def pin_case(_: Any, expect: Any, definition: Any) -> None:
    assert {"pin": tool_pin(definition)} == expect


def test_a_definition_that_json_cannot_hold_has_no_pin() -> None:
    with pytest.raises(ValueError, match="has no pin"):
        tool_pin({"name": "lookup", "inputSchema": {"maximum": float("nan")}})


def rules_case(_: Any, expect: Any, rules: Any) -> None:
    try:
        read_rules(rules)
    except RuleFault as fault:
        assert {"ok": False, "code": fault.code, "path": fault.path} == expect
        return
    assert expect == {"ok": True}


def arguments_case(_: Any, expect: Any, rules: Any, text: str | None = None, **given: Any) -> None:
    try:
        if text is None and "arguments" not in given:
            raise ArgumentRefusal("argument_missing", path="")
        copied = copy_arguments(given["arguments"]) if text is None else read_arguments(text)
        Checker().check(read_rules(rules), copied)
    except ArgumentRefusal as refusal:
        assert contains({"ok": False, "sub_reason": refusal.sub_reason, **refusal.details}, expect)
        return
    assert expect["ok"]


def within_case(_: Any, expect: Any, child: Any, parent: Any) -> None:
    read = [rules if rules is None else read_rules(rules) for rules in (child, parent)]
    assert {"within": is_within(*read)} == expect


def words_case(_: Any, expect: Any, rules: Any) -> None:
    said = rules_in_words(rules)
    assert {"open": said.open, "lines": [list(line) for line in said.lines]} == expect


def list_case(
    vectors: Any, expect: Any, manifest: Any, claims: Any, tools: Any, connector: str = "", resource: bool = False
) -> None:
    manifests = load(vectors, manifest)
    enforcer = Enforcer(lambda _: verified(claims, None), {each.connector: each for each in manifests})
    listed = enforcer.list_tools("token", connector or manifests[0].connector, tools, resource=resource)
    hidden = {tool: [code, sub] for tool, code, sub in listed.hidden}
    assert {"tools": [tool["name"] for tool in listed.tools], "hidden": hidden} == expect


def test_a_list_for_a_bad_token_hides_every_tool() -> None:
    loaded = load(VECTORS["argument"], "files")
    enforcer = Enforcer(lambda _: verified({}, "expired"), {loaded[0].connector: loaded[0]})
    listed = enforcer.list_tools("token", loaded[0].connector, [{"name": "read_file"}])
    assert (listed.tools, listed.hidden) == ([], [("read_file", "token_invalid", None)])


def expose_case(_: Any, expect: Any, connectors: Any) -> None:
    exposed, hidden = expose_tools([(each["connector"], each["tools"]) for each in connectors])
    assert {"exposed": {name: list(pair) for name, pair in exposed.items()}, "hidden": list(map(list, hidden))} == expect


class Decisions:
    """An issuer of decisions in memory: a handle stands for each JWT."""

    def __init__(self, grants: dict[str, Any], issuer: str, clock: Any) -> None:
        self.grants, self.issuer, self.clock = grants, issuer, clock
        self.states: dict[str, tuple[str, str]] = {}

    def verify(self, decision_grant: str) -> tuple[dict[str, Any], bool]:
        grant = self.grants.get(decision_grant, {"signature": "bad"})
        is_typed = grant.get("typ", "decision+jwt") == "decision+jwt"
        if grant.get("signature", "valid") != "valid" or not is_typed or grant["claims"]["iss"] != self.issuer:
            raise BehestTokenError("bad_signature")
        return grant["claims"], self.clock() >= grant["claims"]["exp"]

    def move(self, phase: str, **request: Any) -> str:
        handles, call_id = request["decision_grants"], request["call_id"]
        known = [self.states.get(handle) for handle in handles]
        if any(state and (state[1] != call_id or state[0] == "spent") for state in known):
            raise DecisionRefused("consumed")
        after = {"hold": "held", "send": "sent", "release": "free"}[phase]
        states = ["sent" if state and state[0] == "sent" else after for state in known]
        for handle, state in zip(handles, states, strict=True):
            self.states[handle] = (state, call_id)
            if state == "free":
                del self.states[handle]
        return states[0]


class DownMeter(MemoryMeter):
    def reserve(self, *_: Any) -> Any:
        raise MeterError("unreachable")

    def usage(self, *_: Any) -> Any:
        raise MeterError("unreachable")

    def healthy(self) -> bool:
        raise MeterError("unreachable")


def enforce_case(
    vectors: Any,
    expect: Any = None,
    *,
    claims: Any,
    calls: Any,
    manifest: Any = "kyb",
    token: str | None = None,
    config: Any = None,
    decisions: Any = None,
) -> None:
    config = dict(config or {})
    now = [vectors["epoch_ms"] / 1_000]
    state = config.pop("meter", "ok")
    meters = {"ok": MemoryMeter(lambda: now[0]), "down": DownMeter(), "none": None}
    manifests = [loaded for each in [*manifest] * (isinstance(manifest, list)) or [manifest] for loaded in load(vectors, each)]
    first = calls[0]["call"]
    action = action_of(
        *(first["connector"], first["tool"], first.get("arguments"), first.get("case_id"), first.get("case_version")),
        next((binding_of(each, first["tool"]) for each in manifests if each.connector == first["connector"]), None),
    )
    hashed = action_hash(action) if action else None
    enforcer = Enforcer(
        lambda _: verified(claims, token),
        {each.connector: each for each in manifests},
        meter=meters[state],
        decisions=Decisions(granted(decisions or {}, vectors["epoch_ms"], hashed), vectors["issuer"], lambda: now[0]),
        revocation=lambda _: "revoked" if token == "revoked" else "active",
        **config,
    )
    for entry in calls:
        assert set(entry) <= {"at_ms", "call", "expect"}
        assert set(entry["call"]) <= CALL
        assert set(entry["expect"]) <= EXPECT
        now[0] = (vectors["epoch_ms"] + entry.get("at_ms", 0)) / 1_000
        result = enforcer.enforce("token", **entry["call"])
        wanted = dict(entry["expect"])
        assert [[code, sub] for code, sub, _ in result.would_deny] == wanted.pop("would_deny", [])
        assert contains(result.details, wanted.pop("details", None) or {}), result.details
        if "warnings" in wanted:
            assert [code for code, _ in result.warnings] == wanted.pop("warnings")
        for key, units in wanted.pop("usage", {}).items():
            meter = meters[state]
            assert meter and (key, meter.used(claims["dev"], key)) == (key, units)
        assert {name: getattr(result, name) for name in wanted} == wanted


def load(vectors: Any, manifest: Any) -> list[Manifest]:
    try:
        return [Manifest.from_object(vectors["manifests"][manifest] if isinstance(manifest, str) else manifest)]
    except ManifestValidationError:
        return []


def verified(claims: dict[str, Any], fault: str | None) -> VerifiedGrant:
    if fault not in (None, "revoked"):
        raise BehestTokenError({"expired": "expired", "signature": "bad_signature"}[str(fault)])
    return read_claims({"jti": "tok_1", **claims})


def granted(decisions: dict[str, Any], epoch_ms: int, hashed: str | None) -> dict[str, Any]:
    made = {}
    for handle, grant in decisions.items():
        assert set(grant) <= {"signature", "typ", "claims"}
        claims = dict(grant["claims"])
        claims["iat"] += epoch_ms / 1_000
        claims["exp"] += epoch_ms / 1_000
        claims["action_hash"] = hashed if claims["action_hash"] == "$action" else claims["action_hash"]
        made[handle] = {**grant, "claims": claims}
    return made


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and contains(whole[name], part[name]) for name in part)
    return bool(whole == part)


KINDS = {
    **{"manifest": manifest_case, "purpose": purpose_case, "action": action_case, "pin": pin_case},
    "bound": bound_case,
    **{"within": within_case, "words": words_case, "tools_list": list_case, "expose": expose_case},
    **{"rules": rules_case, "arguments": arguments_case, "enforce": enforce_case},
}
