"""Whether rules only narrow others, as a delegated grant has to."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, Literal

from . import _forms
from ._arguments import HOLDS, Place, places_of
from ._rules import RULE_KEYS, same, type_of


def is_within(child: dict[str, Any] | None, parent: dict[str, Any] | None) -> bool:
    """Whether every call that the rules `child` accept is accepted by `parent`. No where the rules do not show it."""
    return _place_within(places_of(child) if child else "free", places_of(parent) if parent else "free", True)


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
        return all(HOLDS[key](value, limit) for value in child["in"] for key, limit in held)
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
    "each": lambda child, parent: _place_within(places_of(child), places_of(parent), True),
}
