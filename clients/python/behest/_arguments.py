"""Whether the arguments of a call hold to rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from . import _forms
from ._json import Unreadable, copy_object, is_number, number_text, parse_pairs, without_pairs
from ._rules import DECIMAL, RULE_KEYS, read_pointer, same, type_of


class ArgumentRefusal(Exception):
    """Arguments that do not hold."""

    def __init__(self, sub_reason: str, **details: Any) -> None:
        super().__init__(sub_reason)
        self.sub_reason, self.details = sub_reason, details


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


def places_of(rules: dict[str, Any]) -> Place:
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
        self._apply(places_of(rules), arguments, "")

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
            if limit is not None and not HOLDS[key](value, limit):
                raise _not_allowed(path, key, limit[:10] if key in _LISTS else limit)
        if "each" in rule:
            places = places_of(rule["each"])
            for index, element in enumerate(elements):
                self._apply(places, element, f"{path}/{index}")


def _token(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _not_allowed(path: str, rule: str, limit: Any = None) -> ArgumentRefusal:
    details = {} if limit is None else {"limit": limit}
    return ArgumentRefusal("argument_not_allowed", path=path[:256], rule=rule, **details)


def _is_of_type(value: Any, kind: str) -> bool:
    return {
        "string": isinstance(value, str),
        "number": is_number(value),
        "integer": is_number(value) and value == int(value),
        "decimal": isinstance(value, str) and DECIMAL.fullmatch(value) is not None,
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
HOLDS: dict[str, Callable[[Any, Any], bool]] = {
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
