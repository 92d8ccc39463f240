"""Rules about arguments, and how they are read."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from . import _forms
from ._json import MAX_SAFE, is_count, is_number, is_well_formed

RULE_KEYS = (
    *("type", "in", "min", "max", "length", "prefix", "suffix", "email", "host", "path", "url", "cidr"),
    *("items", "contains", "each", "optional", "absent", "open"),
)
_TYPES = ("string", "number", "integer", "decimal", "boolean", "array", "object")
DECIMAL = re.compile("-?(?:0|[1-9][0-9]{0,17})(?:[.][0-9]{1,18})?")
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TYPE_OF_KEY = {
    **dict.fromkeys(("min", "max"), "number"),
    **dict.fromkeys(("length", "prefix", "suffix", *_forms.FORM_KEYS), "string"),
    **dict.fromkeys(("items", "contains", "each"), "array"),
}


class RuleFault(Exception):
    """A rule that cannot be read."""

    def __init__(self, code: str, path: str) -> None:
        super().__init__(f"{code} at {path}")
        self.code, self.path = code, path


def same(value: Any) -> tuple[str, Any]:
    """A key under which equal JSON scalars meet: 1 and 1.0, but not 1 and true. Objects meet nothing."""
    if isinstance(value, (dict, list)):
        return "object", id(value)
    return ("number" if is_number(value) else type(value).__name__), value


def read_pointer(pointer: str) -> list[str]:
    """:raises RuleFault:"""
    if pointer == "":
        return []
    first, *tokens = pointer.split("/")
    for token in tokens:
        is_fine = token and not re.search("~(?![01])", token) and _is_showable(token)
        if first or not is_fine or len(unescaped(token)) > 128:
            raise RuleFault("invalid_pointer", "")
    if first:
        raise RuleFault("invalid_pointer", "")
    if len(tokens) > 8:
        raise RuleFault("too_many", "")
    return [unescaped(token) for token in tokens]


def unescaped(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def _is_showable(text: str) -> bool:
    return _NOT_SHOWN.search(text) is None and is_well_formed(text)


def read_rules(value: Any, path: str | None = None, depth: int = 0) -> dict[str, Any]:
    """:raises RuleFault: for the first fault"""
    if not isinstance(value, dict):
        raise RuleFault("wrong_type", path or "")
    if not value:
        raise RuleFault("empty", path or "")
    if len(value) > 64:
        raise RuleFault("too_many", path or "")
    for pointer, rule in value.items():
        at = pointer if path is None else f"{path}.{pointer}"
        try:
            read_pointer(pointer)
        except RuleFault as fault:
            raise RuleFault(fault.code, at) from None
        _read_rule(rule, at, depth)
        if pointer == "" and ("optional" in rule or "absent" in rule):
            raise RuleFault("rule_conflict", at)
    for pointer, rule in value.items():
        is_branch = any(other.startswith(f"{pointer}/") for other in value)
        if is_branch:
            stands = all(key in ("optional", "open") or (key == "type" and rule[key] == "object") for key in rule)
        else:
            stands = not (pointer == "" and depth == 0) and "open" not in rule
        if not stands:
            raise RuleFault("rule_conflict", pointer if path is None else f"{path}.{pointer}")
    return value


def _read_rule(rule: Any, path: str, depth: int) -> None:
    if not isinstance(rule, dict):
        raise RuleFault("wrong_type", path)
    for key in rule:
        if key not in RULE_KEYS:
            raise RuleFault("unknown_key", f"{path}.{key}")
    for key in RULE_KEYS:
        if key in rule:
            _read_key(key, rule[key], f"{path}.{key}", depth)
    if not _can_stand_together(rule):
        raise RuleFault("rule_conflict", path)


def _read_key(key: str, value: Any, path: str, depth: int) -> None:
    if key == "each":
        if depth == 3:
            raise RuleFault("too_many", path)
        read_rules(value, path, depth + 1)
    elif key in ("optional", "absent", "open"):
        _must(isinstance(value, bool), "wrong_type", path)
        _must(value, "invalid_rule", path)
    elif key in ("type", "min", "max"):
        _must(isinstance(value, str), "wrong_type", path)
        _must(value in _TYPES if key == "type" else DECIMAL.fullmatch(value), "invalid_rule", path)
    else:
        _must(isinstance(value, list), "wrong_type", path)
        (_read_pair if key in ("length", "items") else _read_list)(key, value, path)


def _must(holds: object, code: str, path: str) -> None:
    if not holds:
        raise RuleFault(code, path)


def _read_pair(_: str, value: list[Any], path: str) -> None:
    _must(len(value) == 2, "invalid_rule", path)
    for at, count in enumerate(value):
        _must(is_count(count), "invalid_count", f"{path}[{at}]")


def _read_list(key: str, value: list[Any], path: str) -> None:
    _must(value, "empty", path)
    _must(len(value) <= 100, "too_many", path)
    seen = set()
    for index, item in enumerate(value):
        at = f"{path}[{index}]"
        if isinstance(item, str):
            _must(len(item) <= 512, "too_many", at)
            _must(_is_showable(item) and _is_item(key, item), "invalid_rule", at)
        else:
            _must(key in ("in", "contains") and not isinstance(item, (dict, list)), "wrong_type", at)
            if is_number(item):
                _must(item == int(item) and abs(item) <= MAX_SAFE, "invalid_rule", at)
        _must(same(item) not in seen, "duplicate_item", at)
        seen.add(same(item))


def _is_item(key: str, text: str) -> bool:
    if key in ("in", "contains"):
        return True
    if key == "prefix":  # one of an address or path would match `https://api.acme.com.evil.com` too
        return text != "" and not re.match(r"[/\\.~]", text) and "://" not in text
    if key == "suffix":  # one that begins inside a name would match `evilacme.com` too
        return re.match(r"(?![A-Za-z0-9@])[!-~ ]", text) is not None
    return text != "" and _forms.is_item(key, text)


def _can_stand_together(rule: dict[str, Any]) -> bool:
    if "absent" in rule:
        return len(rule) == 1
    if "in" in rule:
        return set(rule) <= {"in", "optional"}
    spoken = {TYPE_OF_KEY[key] for key in rule if key in TYPE_OF_KEY}
    if len(spoken) > 1:
        return False
    kind, own = next(iter(spoken), None), rule.get("type")
    fits = (own in (None, "number", "integer", "decimal")) if kind == "number" else own in (None, kind)
    if kind and not fits:
        return False
    if any(least > most for least, most in (rule.get("length", (0, 0)), rule.get("items", (0, 0)))):
        return False
    return "min" not in rule or "max" not in rule or Decimal(rule["min"]) <= Decimal(rule["max"])


def type_of(rule: dict[str, Any]) -> str | None:
    """The type that values have to have, said or implied."""
    if "type" in rule:
        return str(rule["type"])
    return next((TYPE_OF_KEY[key] for key in RULE_KEYS if key in rule and key in TYPE_OF_KEY), None)
