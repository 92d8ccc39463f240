"""Which counters a call is charged to, and what the meter says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ._checks import Asked
from ._denials import Denial, NotCharged
from .manifest import WINDOWS
from .meter import CapsMeter, Counter, Full, MeterError, Reused

_WINDOW_MS = {"per_hour": 3_600_000, "per_day": 86_400_000, "per_case": 0}


@dataclass(frozen=True)
class _Counted:
    scope: str
    kind: str
    window: str
    grant_id: str | None
    counter: Counter


def metered(meter: CapsMeter | None, asked: Asked, call: dict[str, Any]) -> dict[str, Any] | None:
    """Charges the counters of a call. :raises NotCharged:"""
    tool, declared, entry = call["tool"], asked.declared, asked.entry
    units = declared.get("cost_units")
    grants = [("grant", asked.grant.grant_id, entry["caps"])] if entry.get("caps") else []
    grants += [("ancestor", each["grant"], each["caps"]) for each in asked.ancestors]
    applies = any(tool in caps or ("cost_units" in caps and units) for _, _, caps in grants)
    if not declared.get("caps") and not units and not applies:
        return None
    if meter is None:
        raise NotCharged(Denial("cap_exceeded", "meter_unavailable", cause="none"))
    case_id = call["case_id"]
    if case_id is not None and not _is_case_id(case_id):
        raise NotCharged(Denial("cap_exceeded", "invalid_case_id"))
    cost = _cost_of(units or {}, call["cost_components"])
    if cost is None:
        raise NotCharged(Denial("cap_exceeded", "invalid_cost_component"))
    counted = _counters_of(asked, call, grants, cost)
    by_case = next((each for each in counted if each.window == "per_case"), None)
    if by_case and case_id is None:
        raise NotCharged(Denial("case_required", scope=by_case.scope))
    counted = [each for each in counted if each.counter.units > 0]
    try:
        return _charged(meter, asked.grant.developer_id, call, counted, cost)
    except MeterError as error:
        raise NotCharged(Denial("cap_exceeded", "meter_unavailable", cause=str(error) or "unreachable")) from error


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
        raise NotCharged(*(denials if names_all else denials[:1]))


def _limit_reached(counted: _Counted, state: Full) -> Denial:
    counter, at = counted.counter, state.retry_at_ms
    when = None if at is None else datetime.fromtimestamp(at / 1_000, UTC).isoformat(timespec="milliseconds")
    details: dict[str, Any] = {"limit": counter.limit, "window": counted.window, "used": state.used}
    details |= {"requested": counter.units, "scope": counted.scope, "kind": counted.kind}
    details |= {} if counted.grant_id is None else {"grant_id": counted.grant_id}
    return Denial("cap_exceeded", "limit_reached", **details, retry_at=when and when.replace("+00:00", "Z"))


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
    asked: Asked, call: dict[str, Any], grants: list[tuple[str, str, dict[str, Any]]], cost: int
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
