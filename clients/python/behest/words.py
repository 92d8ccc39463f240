"""Rules about arguments in plain words, for the person who decides about an act."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from ._rules import read_pointer, read_rules

_TYPES = {
    **{"string": "any text", "number": "any number", "integer": "any whole number", "decimal": "any amount"},
    **{"boolean": "yes or no", "array": "any list", "object": "any details"},
}
_JOINER = " › "


class RulesInWords(NamedTuple):
    """The rules of one tool. Where ``open``, arguments that no line names are free."""

    open: bool
    lines: list[tuple[str, str]]
    """The names that lead to each argument, such as ``to › iban``, and its limit, in the order of the rules."""


def rules_in_words(rules: dict[str, Any]) -> RulesInWords:
    """Describes the rules of one tool: ``{"/amount": {"max": "500"}}`` has the line ``("amount", "at most 500")``.

    :raises RuleFault: for rules that cannot be read
    """
    read = read_rules(rules)
    return RulesInWords(bool(read.get("", {}).get("open")), list(_lines(read, [])))


def _lines(rules: dict[str, Any], before: list[str]) -> Iterator[tuple[str, str]]:
    for pointer, rule in rules.items():
        names = [*before, *read_pointer(pointer)]
        is_branch = any(other.startswith(f"{pointer}/") for other in rules)
        text = _branch(rule, is_top=not names) if is_branch else _leaf(rule)
        if text:
            yield _JOINER.join(names), text
        yield from _lines(rule.get("each", {}), [*names, "each entry"])


def _branch(rule: dict[str, Any], *, is_top: bool) -> str:
    said = ["if given:"] * ("optional" in rule) + ["and anything else in it"] * ("open" in rule and not is_top)
    return " ".join(said)


def _leaf(rule: dict[str, Any]) -> str:
    if "absent" in rule:
        return "not given"
    text = ", ".join(_limits(rule)) or ("a list" if "each" in rule else "anything")
    return f"if given, {text}" if "optional" in rule else text


def _limits(rule: dict[str, Any]) -> Iterator[str]:
    kind = rule.get("type")
    if kind in ("integer", "decimal") or (kind and set(rule) <= {"type", "optional", "each"}):
        yield _TYPES[kind]
    if "in" in rule:
        yield _among([_quoted(value) for value in rule["in"]])
    if "min" in rule or "max" in rule:
        yield _bounds(rule.get("min"), rule.get("max"))
    if "length" in rule:
        yield _range(rule["length"], "characters")
    for key, before in (("prefix", "begins with"), ("suffix", "ends with")):
        if key in rule:
            yield f"{before} {_listed([_quoted(text) for text in rule[key]], 'or')}"
    for key, describe in _PLACES.items():
        if key in rule:
            yield describe(rule[key])
    if "items" in rule:
        yield _range(rule["items"], "entries")
    if "contains" in rule:
        yield f"including {_listed([_quoted(value) for value in rule['contains']], 'and')}"


def _bounds(least: str | None, most: str | None) -> str:
    if least is None:
        return f"at most {most}"
    if most is None:
        return f"at least {least}"
    return _among([least]) if Decimal(least) == Decimal(most) else f"between {least} and {most}"


def _range(counts: list[int], unit: str) -> str:
    least, most = counts
    return f"exactly {least} {unit}" if least == most else f"{least} to {most} {unit}"


def _listed(texts: Sequence[str], word: str) -> str:
    *most, last = texts
    return f"{', '.join(most)} {word} {last}" if most else last


def _among(texts: list[str]) -> str:
    return f"exactly {texts[0]}" if len(texts) == 1 else _listed(texts, "or")


def _quoted(value: Any) -> str:
    if isinstance(value, str):
        return f"“{value}”"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(int(value))  # rules hold whole numbers alone


def _emails(items: list[str]) -> str:
    first = next((item for item in items if "@" not in item), None)
    said = [item if "@" in item else "an e-mail address " * (item == first) + _domain(item) for item in items]
    return _listed(said, "or")


def _domain(item: str) -> str:
    return f"at a subdomain of {item[2:]}" if item.startswith("*.") else f"at {item}"


def _hosts(items: list[str]) -> str:
    return _listed([f"a subdomain of {item[2:]}" if item.startswith("*.") else f"the host {item}" for item in items], "or")


def _paths(items: list[str]) -> str:
    known = {"/": "any path", ".": "a relative path"}
    return _listed([known.get(item, f"within the folder {item}") for item in items], "or")


def _urls(items: list[str]) -> str:
    return _listed([_url(item) for item in items], "or")


def _url(item: str) -> str:
    scheme, _, rest = item.partition("://")
    if rest in ("*", "*/"):
        return f"any public web address ({scheme})"
    is_above = rest.startswith("*.")
    return f"a web address at a subdomain of {rest[2:]} ({scheme})" if is_above else f"a web address at {item}"


_PLACES: dict[str, Callable[[list[str]], str]] = {
    **{"email": _emails, "host": _hosts, "path": _paths, "url": _urls},
    "cidr": lambda items: f"an address in {_listed(items, 'or')}",
}
