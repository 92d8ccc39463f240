"""Rules about arguments: how they are read, and whether arguments hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Literal

from . import _forms
from ._json import MAX_SAFE, Unreadable, copy_object, is_count, is_number, is_well_formed, number_text, parse_pairs, without_pairs

RULE_KEYS = (
    *("type", "in", "min", "max", "length", "prefix", "suffix", "email", "host", "path", "url", "cidr"),
    *("items", "contains", "each", "optional", "absent", "open"),
)
_TYPES = ("string", "number", "integer", "decimal", "boolean", "array", "object")
_DECIMAL = re.compile("-?(?:0|[1-9][0-9]{0,17})(?:[.][0-9]{1,18})?")
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_TYPE_OF_KEY = {
    **dict.fromkeys(("min", "max"), "number"),
    **dict.fromkeys(("length", "prefix", "suffix", *_forms.FORM_KEYS), "string"),
    **dict.fromkeys(("items", "contains", "each"), "array"),
}


class RuleFault(Exception):
    """A rule that cannot be read."""

    def __init__(self, code: str, path: str) -> None:
        super().__init__(f"{code} at {path}")
        self.code, self.path = code, path


class ArgumentRefusal(Exception):
    """Arguments that do not hold."""

    def __init__(self, sub_reason: str, **details: Any) -> None:
        super().__init__(sub_reason)
        self.sub_reason, self.details = sub_reason, details


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
        if first or not is_fine or len(_unescaped(token)) > 128:
            raise RuleFault("invalid_pointer", "")
    if first:
        raise RuleFault("invalid_pointer", "")
    if len(tokens) > 8:
        raise RuleFault("too_many", "")
    return [_unescaped(token) for token in tokens]


def _unescaped(token: str) -> str:
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
        _must(value in _TYPES if key == "type" else _DECIMAL.fullmatch(value), "invalid_rule", path)
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
    spoken = {_TYPE_OF_KEY[key] for key in rule if key in _TYPE_OF_KEY}
    if len(spoken) > 1:
        return False
    kind, own = next(iter(spoken), None), rule.get("type")
    fits = (own in (None, "number", "integer", "decimal")) if kind == "number" else own in (None, kind)
    if kind and not fits:
        return False
    if any(least > most for least, most in (rule.get("length", (0, 0)), rule.get("items", (0, 0)))):
        return False
    return "min" not in rule or "max" not in rule or Decimal(rule["min"]) <= Decimal(rule["max"])


@dataclass
class Place:
    """A place in the arguments, with what is below it."""

    rule: dict[str, Any] | None
    below: dict[str, Place]

    @property
    def is_optional(self) -> bool:
        return self.rule is not None and ("optional" in self.rule or "absent" in self.rule)

    @property
    def may_be_missing(self) -> bool:
        is_free = self.rule is None and all(place.may_be_missing for place in self.below.values())
        return self.is_optional or (bool(self.below) and is_free)


def _places(rules: dict[str, Any]) -> Place:
    root = Place(None, {})
    for pointer, rule in rules.items():
        place = root
        for name in read_pointer(pointer):
            place = place.below.setdefault(name, Place(None, {}))
        place.rule = rule
    return root


def _in_order(names: Any) -> list[str]:
    return sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


_MISSING = object()


class Checker:
    """Checks arguments, in at most 20,000 steps for all rules of a call."""

    def __init__(self) -> None:
        self._left = 20_000

    def check(self, rules: dict[str, Any], arguments: Any) -> None:
        """:raises ArgumentRefusal:"""
        self._apply(_places(rules), arguments, "")

    def _take(self, cost: int) -> None:
        self._left -= cost
        if self._left < 0:
            raise ArgumentRefusal("argument_unreadable", cause="steps")

    def _apply(self, place: Place, value: Any, path: str) -> None:
        if value is _MISSING:
            self._missing(place, path)
        elif place.below:
            self._branch(place, value, path)
        else:
            self._leaf(place.rule or {}, value, path)

    def _missing(self, place: Place, path: str) -> None:
        if place.may_be_missing:
            return
        if not place.below or place.rule is not None:
            raise ArgumentRefusal("argument_missing", path=path[:256])
        for name in _in_order(place.below):
            self._missing(place.below[name], path + _token(name))

    def _branch(self, place: Place, value: Any, path: str) -> None:
        if place.rule is not None:
            self._take(1)
        if not isinstance(value, dict):
            raise _not_allowed(path, "type", "object")
        if not (place.rule or {}).get("open"):
            for name in _in_order(set(value) - set(place.below)):
                raise _not_allowed(path + _token(name), "unlisted")
        for name in _in_order(place.below):
            self._apply(place.below[name], value.get(name, _MISSING), path + _token(name))

    def _leaf(self, rule: dict[str, Any], value: Any, path: str) -> None:
        elements = value if isinstance(value, list) else []
        lists = sum(len(rule[key]) for key in ("in", "prefix", "suffix", *_forms.FORM_KEYS) if key in rule)
        self._take(1 + lists + len(rule.get("contains", ())) * len(elements))
        if "absent" in rule:
            raise _not_allowed(path, "absent")
        for key, limit in (("type", type_of(rule)), *((key, rule[key]) for key in RULE_KEYS[1:14] if key in rule)):
            if limit is not None and not _HOLDS[key](value, limit):
                raise _not_allowed(path, key, limit[:10] if key in _LISTS else limit)
        if "each" in rule:
            places = _places(rule["each"])
            for index, element in enumerate(elements):
                self._apply(places, element, f"{path}/{index}")


def _token(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _not_allowed(path: str, rule: str, limit: Any = None) -> ArgumentRefusal:
    details = {} if limit is None else {"limit": limit}
    return ArgumentRefusal("argument_not_allowed", path=path[:256], rule=rule, **details)


def type_of(rule: dict[str, Any]) -> str | None:
    """The type that values have to have, said or implied."""
    if "type" in rule:
        return str(rule["type"])
    return next((_TYPE_OF_KEY[key] for key in RULE_KEYS if key in rule and key in _TYPE_OF_KEY), None)


def _is_of_type(value: Any, kind: str) -> bool:
    return {
        "string": isinstance(value, str),
        "number": is_number(value),
        "integer": is_number(value) and value == int(value),
        "decimal": isinstance(value, str) and _DECIMAL.fullmatch(value) is not None,
        "boolean": isinstance(value, bool),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }[kind]


def _decimal(value: Any) -> Decimal:
    return Decimal(number_text(value) if is_number(value) else value)


def _is_text(holds: Callable[[str, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda value, limit: isinstance(value, str) and holds(value, limit)


def _form(key: str) -> Callable[[Any, Any], bool]:
    return _is_text(lambda text, items: _forms.allows(key, items, text))


_LISTS = ("in", "prefix", "suffix", *_forms.FORM_KEYS, "contains")
_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "type": _is_of_type,
    "in": lambda value, values: same(value) in map(same, values),
    "min": lambda value, least: _decimal(value) >= Decimal(least),
    "max": lambda value, most: _decimal(value) <= Decimal(most),
    "length": _is_text(lambda text, pair: pair[0] <= len(text) <= pair[1]),
    "prefix": _is_text(lambda text, items: not _forms.has_control(text) and text.startswith(tuple(items))),
    "suffix": _is_text(lambda text, items: not _forms.has_control(text) and text.endswith(tuple(items))),
    **{key: _form(key) for key in _forms.FORM_KEYS},
    "items": lambda value, pair: isinstance(value, list) and pair[0] <= len(value) <= pair[1],
    "contains": lambda value, wanted: isinstance(value, list) and set(map(same, wanted)) <= set(map(same, value)),
}


def is_within(child: dict[str, Any] | None, parent: dict[str, Any] | None) -> bool:
    """Whether every call that the rules `child` accept is accepted by `parent`. No where the rules do not show it."""
    return _place_within(_places(child) if child else "free", _places(parent) if parent else "free", True)


_Reached = Place | Literal["shut", "free"]  # `shut` passes only a missing member, `free` every member


def _place_within(child: _Reached, parent: _Reached, is_first: bool = False) -> bool:
    if not is_first and _may_miss(child) and not _may_miss(parent):
        return False
    if child == "shut" or _leaf_has(child, "absent"):
        return True
    if parent == "free" or (isinstance(parent, Place) and not parent.below and set(parent.rule or {}) <= {"optional"}):
        return True
    if not isinstance(parent, Place) or _leaf_has(parent, "absent") or not isinstance(child, Place):
        return False
    if not parent.below:
        own = parent.rule or {}
        if child.below:
            return own.get("type") == "object" and set(own) <= {"type", "optional"}
        return _rule_within(child.rule or {}, own)
    if not child.below or ((child.rule or {}).get("open") and not (parent.rule or {}).get("open")):
        return False
    return all(_place_within(_reach(child, name), _reach(parent, name)) for name in {*child.below, *parent.below})


def _may_miss(place: _Reached) -> bool:
    return place.may_be_missing if isinstance(place, Place) else True


def _leaf_has(place: _Reached, key: str) -> bool:
    return isinstance(place, Place) and not place.below and key in (place.rule or {})


def _reach(place: Place, name: str) -> _Reached:
    return place.below.get(name) or ("free" if (place.rule or {}).get("open") else "shut")


def _rule_within(child: dict[str, Any], parent: dict[str, Any]) -> bool:
    if "in" in child:
        kind = type_of(parent)
        held = [(key, parent[key]) for key in RULE_KEYS[1:14] if key in parent]
        held = [("type", kind), *held] if kind else held
        return all(_HOLDS[key](value, limit) for value in child["in"] for key, limit in held)
    own, wide = type_of(child), type_of(parent)
    is_type = wide is None or own == wide or (own, wide) in (("integer", "number"), ("decimal", "string"))
    if "in" in parent or not is_type:
        return False
    return all(key in child and _KEY_WITHIN[key](child[key], parent[key]) for key in RULE_KEYS[2:15] if key in parent)


def _items_within(is_item_within: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    return lambda child, parent: all(any(is_item_within(narrow, wide) for wide in parent) for narrow in child)


def _pair_within(child: list[int], parent: list[int]) -> bool:
    return child[0] >= parent[0] and child[1] <= parent[1]


_KEY_WITHIN: dict[str, Callable[[Any, Any], bool]] = {
    "min": lambda child, parent: Decimal(child) >= Decimal(parent),
    "max": lambda child, parent: Decimal(child) <= Decimal(parent),
    **dict.fromkeys(("length", "items"), _pair_within),
    "prefix": _items_within(str.startswith),
    "suffix": _items_within(str.endswith),
    **{key: _items_within(partial(_forms.is_within, key)) for key in _forms.FORM_KEYS},
    "contains": lambda child, parent: set(map(same, parent)) <= set(map(same, child)),
    "each": lambda child, parent: _place_within(_places(child), _places(parent), True),
}


def copy_arguments(value: Any) -> dict[str, Any]:
    """:raises ArgumentRefusal: for arguments that two readers could read in two ways"""
    try:
        return copy_object(value, levels=32, takes_nul=False)
    except Unreadable as error:
        raise ArgumentRefusal("argument_unreadable", cause=str(error)) from error


def read_arguments(text: str) -> dict[str, Any]:
    """Reads arguments as a model wrote them. :raises ArgumentRefusal:"""
    try:
        value = without_pairs(parse_pairs(text))
    except Unreadable as error:
        raise ArgumentRefusal("argument_unreadable", cause=str(error)) from error
    return copy_arguments(value)
