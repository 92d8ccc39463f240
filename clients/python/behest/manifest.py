"""Tool manifests, of schema 0.6."""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ._json import Repeated, Unreadable, canonical, copy_object, from_b64url, is_count, parse_pairs, sha256_uri, without_pairs
from ._rules import RuleFault, read_pointer, read_rules
from .errors import ManifestValidationError

LEVELS = ("read", "write", "delete", "admin")
WINDOWS = ("per_hour", "per_day", "per_case")
NAME = re.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
WORD = re.compile("[a-z][a-z0-9_]{0,63}")
_SEGMENT, _ORG = "[a-z][a-z0-9_]*", "x-[a-z0-9]+(?:-[a-z0-9]+)*"
_PUBLIC = f"{_SEGMENT}(?:[.]{_SEGMENT})*"
_PURPOSE = re.compile(f"(?:{_PUBLIC}|{_ORG}(?:[.]{_SEGMENT})+)")
_PATTERN = re.compile(f"(?:{_PUBLIC}(?:[.][*])?|{_ORG}(?:(?:[.]{_SEGMENT})+|(?:[.]{_SEGMENT})*[.][*]))")
_PRIVATE = re.compile(f"{_ORG}(?:[.]{_SEGMENT})+")
_KNOWN = ("aml.cdd.onboarding", "aml.cdd.ongoing", "aml.screening", "procurement.vendor_onboarding", "payments.payout")
_TOP = ("$schema", "connector", "version", "description", "tools")
_MOST_BYTES, _MOST_LEVELS = 1_048_576, 16


def is_purpose_pattern(text: str) -> bool:
    return len(text) <= 128 and _PATTERN.fullmatch(text) is not None


def matches_purpose(pattern: str, purpose: str) -> bool:
    if not is_purpose_pattern(pattern) or len(purpose) > 128 or not _PURPOSE.fullmatch(purpose):
        return False
    return pattern == purpose or (pattern.endswith(".*") and purpose.startswith(pattern[:-1]))


def is_known_purpose(text: str) -> bool:
    return text in _KNOWN or (len(text) <= 128 and _PRIVATE.fullmatch(text) is not None)


def tool_pin(definition: Mapping[str, Any]) -> str:
    """Hashes the definition of an MCP tool as its server offers it. `_meta` and `icons` do not count.

    :raises ValueError: for a definition that has no pin, such as one with an integer beyond 2**53
    """
    hashed = {name: value for name, value in definition.items() if name not in ("_meta", "icons")}
    try:
        copied = copy_object(hashed, levels=64, takes_nul=True, most_bytes=4_194_304)
    except Unreadable as error:
        raise ValueError(f"The definition of the tool has no pin: {error}.") from error
    return sha256_uri("behest.mcp-tool/1\n" + canonical(copied))


@dataclass(frozen=True)
class Manifest:
    connector: str
    version: str
    tools: Mapping[str, Mapping[str, Any]]
    warnings: tuple[tuple[str, str], ...]
    sha256: str
    # Which consents to older versions still hold: the hash of each, with the tools that are wider now.
    pins: Mapping[str, frozenset[str]]

    @staticmethod
    def from_object(value: Any, pins: list[dict[str, Any]] | None = None) -> Manifest:
        """:raises ManifestValidationError: with the first fault"""
        return _load(value, pins or [])

    @staticmethod
    def from_json_text(source: str | bytes, pins: list[dict[str, Any]] | None = None) -> Manifest:
        """:raises ManifestValidationError: also for a member that an object has twice"""
        return _load(_parse_json(_text_of(source)), pins or [])

    @staticmethod
    def from_yaml_text(source: str | bytes, pins: list[dict[str, Any]] | None = None) -> Manifest:
        """Needs `behest[yaml]`. :raises ManifestValidationError: also for anchors, aliases, tags and merge keys"""
        from ._yaml import parse_yaml

        value = parse_yaml(_text_of(source))
        _must_be_shallow(value)
        return _load(value, pins or [])


def _text_of(source: str | bytes) -> str:
    try:
        data = source.encode() if isinstance(source, str) else source
        if len(data) > _MOST_BYTES:
            raise ManifestValidationError("unparseable")
        return data.decode("utf-8-sig")
    except UnicodeError as error:
        raise ManifestValidationError("unparseable") from error


def _parse_json(text: str) -> Any:
    try:
        value = without_pairs(parse_pairs(text))
    except Repeated as error:
        raise ManifestValidationError("duplicate_key", error.path) from error
    except Unreadable as error:
        raise ManifestValidationError("unparseable") from error
    _must_be_shallow(value)
    return value


def _must_be_shallow(value: Any, left: int = _MOST_LEVELS) -> None:
    if not isinstance(value, (dict, list)):
        return
    if left == 0:
        raise ManifestValidationError("unparseable")
    for member in value.values() if isinstance(value, dict) else value:
        _must_be_shallow(member, left - 1)


def _load(value: Any, pins: list[dict[str, Any]]) -> Manifest:
    if not isinstance(value, dict):
        raise ManifestValidationError("wrong_type")
    connector, tools = value.get("connector"), value.get("tools")
    name = connector if isinstance(connector, str) else None

    def must(holds: object, code: str, path: str) -> None:
        if not holds:
            raise ManifestValidationError(code, path, name)

    must("connector" in value and connector != "", "missing_key", "connector")
    must(isinstance(connector, str), "wrong_type", "connector")
    must("tools" in value, "missing_key", "tools")
    if not isinstance(tools, dict):
        raise ManifestValidationError("wrong_type", "tools", name)
    must(tools, "empty", "tools")
    unknown = [key for key in value if key not in _TOP]
    if "$schema" in value or not all(isinstance(tool, str) for tool in tools.values()):
        _check_top(value, unknown, must)
    read: dict[str, Mapping[str, Any]] = {}
    for tool, declared in tools.items():
        must(tool != "cost_units", "reserved_name", f"tools.{tool}")
        read[tool] = MappingProxyType(_read_tool(declared, f"tools.{tool}", must))
    hashed = {key: value[key] for key in ("$schema",) if isinstance(value.get(key), str)}
    hashed |= {"connector": connector, "tools": {tool: dict(declared) for tool, declared in read.items()}}
    version = value.get("version")
    return Manifest(
        connector=str(connector),
        version=version if isinstance(version, str) else "1.0.0",
        tools=MappingProxyType(read),
        warnings=tuple(("manifest_unknown_key", key) for key in unknown),
        sha256=hashlib.sha256(canonical(hashed).encode("utf-8", "surrogatepass")).hexdigest(),
        pins=MappingProxyType({pin["sha256"]: frozenset(pin["wider"]) for pin in pins}),
    )


Must = Callable[[object, str, str], None]


def _check_top(value: dict[str, Any], unknown: list[str], must: Must) -> None:
    must(not unknown, "unknown_key", unknown[0] if unknown else "")
    must(isinstance(value.get("$schema", ""), str), "wrong_type", "$schema")
    must(NAME.fullmatch(value["connector"]), "invalid_name", "connector")
    for tool in value["tools"]:
        must(tool != "cost_units", "reserved_name", f"tools.{tool}")
        must(NAME.fullmatch(tool), "invalid_name", f"tools.{tool}")
    version = value.get("version", "1.0.0")
    must(isinstance(version, str), "wrong_type", "version")
    must(version != "", "empty", "version")
    must(len(version) <= 64, "invalid_name", "version")
    must(isinstance(value.get("description", ""), str), "wrong_type", "description")


def _read_tool(value: Any, path: str, must: Must) -> dict[str, Any]:
    if isinstance(value, str):
        must(value in LEVELS, "invalid_permission", path)
        return {"permission": value}
    must(isinstance(value, dict), "wrong_type", path)
    for key in value:
        must(key in _CHECKS, "unknown_key", f"{path}.{key}")
    must("permission" in value, "missing_key", f"{path}.permission")
    for key, check in _CHECKS.items():
        if key in value:
            check(value[key], f"{path}.{key}", must)
    tool: dict[str, Any] = copy.deepcopy(value)
    needs_decision = tool.get("requires_decision", False)
    is_read = tool["permission"] == "read"
    must(not (is_read and needs_decision), "decision_on_read", f"{path}.requires_decision")
    must("four_eyes_on" not in tool or needs_decision, "four_eyes_without_decision", f"{path}.four_eyes_on")
    must("binds" not in tool or needs_decision, "binds_without_decision", f"{path}.binds")
    return tool


def _check_permission(value: Any, path: str, must: Must) -> None:
    must(isinstance(value, str), "wrong_type", path)
    must(value in LEVELS, "invalid_permission", path)


def _check_flag(value: Any, path: str, must: Must) -> None:
    must(isinstance(value, bool), "wrong_type", path)


def _check_rules(value: Any, path: str, must: Must) -> None:
    try:
        read_rules(value, path)
    except RuleFault as fault:
        must(False, fault.code, fault.path)


def _list(code: str, is_item: Callable[[str], object], most: int | None = None) -> Callable[[Any, str, Must], None]:
    def check(value: Any, path: str, must: Must) -> None:
        must(isinstance(value, list), "wrong_type", path)
        must(value, "empty", path)
        must(most is None or len(value) <= most, "too_many", path)
        for index, item in enumerate(value):
            must(isinstance(item, str), "wrong_type", f"{path}[{index}]")
            must(is_item(item), code, f"{path}[{index}]")
            must(item not in value[:index], "duplicate_item", f"{path}[{index}]")

    return check


def _counts(code: str, is_name: Callable[[str], object]) -> Callable[[Any, str, Must], None]:
    def check(value: Any, path: str, must: Must) -> None:
        must(isinstance(value, dict), "wrong_type", path)
        must(value, "empty", path)
        for name, count in value.items():
            must(is_name(name), code, f"{path}.{name}")
            must(is_count(count), "invalid_count", f"{path}.{name}")

    return check


def is_pin(text: str) -> bool:
    return re.fullmatch("sha256:[A-Za-z0-9_-]{43}", text) is not None and from_b64url(text[7:]) is not None


_LANGUAGE = re.compile("[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?")
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def _label(most: int) -> Callable[[Any, str, Must], None]:
    def check(value: Any, path: str, must: Must) -> None:
        must(isinstance(value, str), "wrong_type", path)
        is_seen = value == value.strip() and _UNSEEN.search(value) is None
        must(is_seen and 0 < len(value) <= most, "invalid_text", path)

    return check


def _members(most: int, check_member: Callable[[str, Any, str, Must], None]) -> Callable[[Any, str, Must], None]:
    def check(value: Any, path: str, must: Must) -> None:
        must(isinstance(value, dict), "wrong_type", path)
        must(value, "empty", path)
        must(len(value) <= most, "too_many", path)
        for name, member in value.items():
            check_member(name, member, f"{path}.{name}", must)

    return check


def _is_argument(pointer: str) -> bool:
    try:
        return bool(read_pointer(pointer))
    except RuleFault:
        return False


def _argument_title(pointer: str, title: Any, path: str, must: Must) -> None:
    must(_is_argument(pointer), "invalid_pointer", path)
    _label(80)(title, path, must)


def _word(key: str, value: Any, path: str, must: Must) -> None:
    must(key in _WORDS, "unknown_key", path)
    _WORDS[key](value, path, must)


def _words(language: str, words: Any, path: str, must: Must) -> None:
    must(_LANGUAGE.fullmatch(language), "invalid_language", path)
    _members(3, _word)(words, path, must)


_WORDS: dict[str, Callable[[Any, str, Must], None]] = {
    "title": _label(80),
    "description": _label(300),
    "argument_titles": _members(64, _argument_title),
}
_CHECKS: dict[str, Callable[[Any, str, Must], None]] = {
    "permission": _check_permission,
    "allowed_purposes": _list("invalid_purpose_pattern", is_purpose_pattern),
    "caps": _counts("unknown_key", WINDOWS.__contains__),
    "cost_units": _counts("invalid_unit", WORD.fullmatch),
    "requires_decision": _check_flag,
    "four_eyes_on": _list("invalid_decision_name", WORD.fullmatch),
    "arguments": _check_rules,
    "mcp_pins": _list("invalid_pin", is_pin, 5),
    **_WORDS,
    "titles": _members(20, _words),
    "binds": _list("invalid_pointer", _is_argument, 64),
}
