"""JSON as the service reads and writes it: I-JSON, canonical form (RFC 8785), bounds."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from decimal import Decimal
from typing import Any

MAX_SAFE = 2**53 - 1
_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(Exception):
    """A value that cannot be read in one way only. Its text says why."""


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_count(value: object) -> bool:
    return is_number(value) and value == int(value) and 0 <= value <= 2_147_483_647  # type: ignore[operator, call-overload]


def is_well_formed(text: str) -> bool:
    return _SURROGATE.search(text) is None


def number_text(number: int | float) -> str:
    """The text of a number in ECMAScript, which RFC 8785 demands."""
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)
    lead = "-" if sign else ""
    if 0 < point <= 21:
        whole, part = text[:point].ljust(point, "0"), text[point:]
        return f"{lead}{whole}.{part}" if part else lead + whole
    if -6 < point <= 0:
        return f"{lead}0.{'0' * -point}{text}"
    mantissa = text[0] + (f".{text[1:]}" if len(text) > 1 else "")
    return f"{lead}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def canonical(value: Any) -> str:
    """Canonical JSON. Members are sorted by the UTF-16 code units of their names."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical, value)) + "]"
    return number_text(value) if is_number(value) else json.dumps(value, ensure_ascii=False)


def size_of(value: Any) -> int:
    return len(canonical(value).encode("utf-8", "surrogatepass"))


def sha256_uri(text: str) -> str:
    return "sha256:" + b64url(hashlib.sha256(text.encode()).digest())


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_b64url(text: str) -> bytes | None:
    """Strict: no padding, and no bits beyond the last byte."""
    if not re.fullmatch("[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if b64url(data) == text else None


def copy_object(value: Any, *, levels: int, takes_nul: bool, most_bytes: int = 65_536) -> dict[str, Any]:
    """Copies plain values. :raises Unreadable: for what JSON cannot hold, or holds in two ways"""
    if not isinstance(value, dict):
        raise Unreadable("not_object")
    copied: dict[str, Any] = _copy(value, levels, takes_nul)
    if size_of(copied) > most_bytes:
        raise Unreadable("too_large")
    return copied


def _copy(value: Any, left: int, takes_nul: bool) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not is_well_formed(value) or (not takes_nul and "\0" in value):
            raise Unreadable("text")
        return value
    if is_number(value):
        if not math.isfinite(value) or (value == int(value) and abs(value) > MAX_SAFE):
            raise Unreadable("number")
        return value
    if type(value) not in (dict, list):
        raise Unreadable("not_plain")
    if left == 0:
        raise Unreadable("too_deep")
    if isinstance(value, list):
        return [_copy(element, left - 1, takes_nul) for element in value]
    if not all(isinstance(name, str) for name in value):
        raise Unreadable("not_plain")
    return {_copy(name, left, takes_nul): _copy(member, left - 1, takes_nul) for name, member in value.items()}


class Pairs(list[tuple[str, Any]]):
    """An object as it was written, with repeated members."""


def parse_pairs(text: str) -> Any:
    """Parses JSON, each object as its pairs. :raises Unreadable: `syntax` or `number`"""

    def number(literal: str) -> int | float:
        value = float(literal)
        if not math.isfinite(value) or Decimal(literal) != Decimal(repr(value)):
            raise Unreadable("number")
        return int(value) if value == int(value) and re.fullmatch("-?[0-9]+", literal) else value

    def constant(_: str) -> Any:
        raise Unreadable("syntax")

    try:
        return json.loads(
            text, object_pairs_hook=Pairs, parse_int=number, parse_float=number, parse_constant=constant
        )
    except RecursionError as error:
        raise Unreadable("too_deep") from error
    except ValueError as error:
        raise Unreadable("syntax") from error


def without_pairs(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    """:raises Repeated: for the first member that an object has twice"""
    if isinstance(value, Pairs):
        members: dict[str, Any] = {}
        for name, member in value:
            if name in members:
                raise Repeated((*path, name))
            members[name] = None
            members[name] = without_pairs(member, (*path, name))
        return members
    if isinstance(value, list):
        return [without_pairs(element, (*path, at)) for at, element in enumerate(value)]
    return value


class Repeated(Unreadable):
    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__("repeated_member")
        self.path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def parse_object(data: bytes) -> dict[str, Any] | None:
    """Parses the JSON of a token part. Whatever is wrong with it, the token is malformed."""
    try:
        value = without_pairs(parse_pairs(data.decode("utf-8")))
        _copy(value, 64, True)
        return value if isinstance(value, dict) else None
    except (Unreadable, UnicodeDecodeError):
        return None
