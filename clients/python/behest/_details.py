"""Reads the limits of a grant from `authorization_details`."""

from __future__ import annotations

from typing import Any

from ._denials import Denial
from ._json import is_count
from ._rules import RuleFault, read_rules
from .manifest import NAME, WINDOWS

_ENTRY_KEYS = {"type", "connector", "purpose", "data_region", "tools", "caps", "arguments"}
ABSENT: Any = object()


class _Fault(Exception):
    pass


def entries_of(claim: Any) -> tuple[dict[str, dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """The limits of the token by connector. One that cannot be read denies every call: it may have held a limit."""
    entries: dict[str, dict[str, Any]] = {}
    lineage: dict[str, list[dict[str, Any]]] = {}
    if claim is ABSENT:
        return entries, lineage
    if not isinstance(claim, list):
        raise Denial("token_invalid", "malformed_authorization_details", fault="not_array")
    if len(claim) > 64:
        raise Denial("token_invalid", "malformed_authorization_details", fault="too_many")
    for index, element in enumerate(claim):
        try:
            _read_element(element, entries, lineage)
        except _Fault as fault:
            details = {"fault": str(fault), "index": index}
            raise Denial("token_invalid", "malformed_authorization_details", **details) from None
    return entries, lineage


def _read_element(element: Any, entries: dict[str, Any], lineage: dict[str, Any]) -> None:
    _must(isinstance(element, dict), "not_object")
    kind = element.get("type")
    _must(isinstance(kind, str) and kind, "type_missing")
    connector = element.get("connector")
    if kind == "urn:service:caps-lineage:v1":
        ancestors = element.get("ancestors")
        _must(set(element) == {"type", "connector", "ancestors"} and is_name(connector), "lineage")
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
    _must(is_name(connector), "connector")
    _must(connector not in entries, "duplicate_connector")
    for name in ("purpose", "data_region"):
        _must(element.get(name) is None or isinstance(element[name], str), "wrong_type")
    tools, rules = element.get("tools", []), element.get("arguments")
    is_list = isinstance(tools, list) and all(isinstance(each, str) for each in tools)
    _must(is_list and all(is_name(each.removesuffix("*")) for each in tools), "wrong_type")
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
            _must(is_name(tool), "arguments")
    entries[connector] = element


def _read_caps(value: Any) -> None:
    _must(isinstance(value, dict), "wrong_type")
    _must(value, "caps_empty")
    for tool, windows in value.items():
        _must(is_name(tool), "caps_key")
        _must(isinstance(windows, dict), "wrong_type")
        _must(windows, "caps_empty")
        for window, count in windows.items():
            _must(window in WINDOWS, "caps_window")
            _must(is_count(count), "caps_count")


def _must(holds: object, fault: str) -> None:
    if not holds:
        raise _Fault(fault)


def is_name(value: object) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None
