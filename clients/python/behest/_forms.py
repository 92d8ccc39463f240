"""The forms of texts that rules name: addresses, hosts, paths, URLs, networks."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(f"{_LABEL}(?:[.]{_LABEL})*")
_NEVER_PUBLIC = frozenset(
    "localhost local localdomain internal intranet lan home corp private arpa test invalid svc onion".split()
)
_LOCAL = re.compile("[A-Za-z0-9_+&'=~-]+(?:[.][A-Za-z0-9_+&'=~-]+)*")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_LOOKALIKE = re.compile("[\u2024-\u2026\u2044\u2215\u29f8\ufe52\ufe68\ufe6a\uff05\uff0e\uff0f\uff3c]")


class Host(NamedTuple):
    name: str
    is_above: bool = False


def has_control(text: str) -> bool:
    return _CONTROL.search(text) is not None


def _is_name(text: str) -> bool:
    return len(text) <= 253 and _NAME.fullmatch(text) is not None


def _host_item(text: str) -> Host | None:
    is_above = text.startswith("*.")
    name = text[2:] if is_above else text
    return Host(name, is_above) if _is_name(name) and (not is_above or "." in name) else None


def _host_value(text: str) -> str | None:
    name = text.lower() if re.fullmatch("[A-Za-z0-9.-]{1,253}", text) else ""
    return name if _is_name(name) else None


def _host_allows(item: Host, value: str) -> bool:
    return value.endswith(f".{item.name}") if item.is_above else value == item.name


def _ends_in_letters(name: str) -> bool:
    return re.search(r"(?:^|[.])[a-z][^.]*\Z", name) is not None


def _is_public(name: str) -> bool:
    return "." in name and _ends_in_letters(name) and name.rpartition(".")[2] not in _NEVER_PUBLIC


def _email_item(text: str) -> tuple[Host, str | None] | None:
    local, at, domain = text.partition("@") if "@" in text else ("", "", text)
    host = _host_item(domain)
    if not host or "." not in host.name:
        return None
    if not at:
        return host, None
    is_address = len(local) <= 64 and _LOCAL.fullmatch(local) and local == local.lower() and not host.is_above
    return (host, local) if is_address else None


def _email_value(text: str) -> tuple[str, str] | None:
    local, at, domain = text.partition("@")
    host = _host_value(domain)
    if not at or len(local) > 64 or not _LOCAL.fullmatch(local) or host is None or not _ends_in_letters(host):
        return None
    return host, local.lower()


def _email_allows(item: tuple[Host, str | None], value: tuple[str, str]) -> bool:
    return _host_allows(item[0], value[0]) and item[1] in (None, value[1])


Path = tuple[bool, list[str]]


def _is_segment(segment: str) -> bool:
    is_plain = segment not in ("", ".", "..") and "\\" not in segment and not has_control(segment)
    return (
        is_plain
        and not re.search("%[0-9A-Fa-f]{2}", segment)
        and not _LOOKALIKE.search(segment)
        and len(segment) <= 255
    )


def _path_item(text: str) -> Path | None:
    if text in ("/", "."):
        return text == "/", []
    is_absolute = text.startswith("/")
    segments = text[is_absolute:].split("/")
    if not all(map(_is_segment, segments)):
        return None
    is_odd = segments[0].startswith("~") or ":" in segments[0]
    return (is_absolute, segments) if is_absolute or not is_odd else None


def _path_value(text: str) -> Path | None:
    if len(text) > 4_096:
        return None
    if text == "/" or not text.endswith("/"):
        return _path_item(text)
    folder = _path_item(text[:-1])
    return folder if folder and folder[1] else None


def _path_allows(item: Path, value: Path) -> bool:
    return item[0] == value[0] and value[1][: len(item[1])] == item[1]


class Url(NamedTuple):
    scheme: str
    host: str
    port: int
    has_port: bool
    segments: list[str]


_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[^/:?#@]+)(?::(?P<port>[1-9][0-9]{0,4}))?(?P<rest>/.*)?", re.DOTALL
)
_URL_TEXT = re.compile(r"(?:[!#$&-;=?-\[\]_a-z~]|%[0-9A-Fa-f]{2})*")
_NOT_IN_PATH = re.compile(r"[;\[\]]|%(?:2e|2f|5c|25|00)", re.IGNORECASE)


def _url(text: str) -> Url | None:
    found = _URL.fullmatch(text) if len(text) <= 2_048 and _URL_TEXT.fullmatch(text) else None
    if not found or int(found["port"] or 1) > 65_535:
        return None
    segments = re.sub(r"[?#].*\Z", "", found["rest"] or "", flags=re.DOTALL).split("/")[1:]
    for at, segment in enumerate(segments):
        is_empty_inside = segment == "" and at < len(segments) - 1
        if segment in (".", "..") or _NOT_IN_PATH.search(segment) or is_empty_inside:
            return None
    own = 443 if found["scheme"] == "https" else 80
    return Url(found["scheme"], found["host"], int(found["port"] or own), found["port"] is not None, segments)


def _url_item(text: str) -> tuple[Url, Host | None] | None:
    url = None if re.search("[?#]", text) else _url(text)
    if not url:
        return None
    if url.segments and url.segments[-1] == "":
        url = url._replace(segments=url.segments[:-1])
    if url.host == "*":
        return None if url.has_port or url.segments else (url, None)
    host = _host_item(url.host)
    return (url, host) if host else None


def _url_value(text: str) -> Url | None:
    url = _url(text)
    host = _host_value(url.host) if url else None
    return url._replace(host=host) if url and host is not None else None


def _url_allows(item: tuple[Url, Host | None], value: Url) -> bool:
    url, host = item
    is_same_host = _is_public(value.host) if host is None else _host_allows(host, value.host)
    is_same_place = (url.scheme, url.port) == (value.scheme, value.port)
    return is_same_host and is_same_place and value.segments[: len(url.segments)] == url.segments


Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _network(text: str) -> Network | None:
    address, slash, length = text.partition("/")
    if slash and not re.fullmatch("0|[1-9][0-9]{0,2}", length):
        return None
    if ":" in address and ("." in address or "%" in address):
        return None
    try:
        network = ipaddress.ip_network(text, strict=True)
    except ValueError:
        return None
    is_mapped = network.version == 6 and network.prefixlen >= 96 and int(network[0]) >> 32 == 0xFFFF
    return None if is_mapped else network


def _network_allows(item: Network, value: Network) -> bool:
    return item.version == value.version and value.subnet_of(item)  # type: ignore[arg-type]


# How an item of a list is read, how a value is, and whether the item allows the value.
_FORMS: dict[str, tuple[Callable[[str], Any], Callable[[str], Any], Callable[[Any, Any], bool]]] = {
    "email": (_email_item, _email_value, _email_allows),
    "host": (_host_item, _host_value, _host_allows),
    "path": (_path_item, _path_value, _path_allows),
    "url": (_url_item, _url_value, _url_allows),
    "cidr": (_network, _network, _network_allows),
}
FORM_KEYS = tuple(_FORMS)


def is_item(key: str, text: str) -> bool:
    return _FORMS[key][0](text) is not None


def is_within(key: str, narrow: str, wide: str) -> bool:
    """Whether each text that one item of a list allows is allowed by another."""
    one, other = _FORMS[key][0](narrow), _FORMS[key][0](wide)
    if one is None or other is None:
        return False
    if key == "host":
        return _host_within(one, other)
    if key == "email":
        return _host_within(one[0], other[0]) and other[1] in (None, one[1])
    if key == "url":
        return _url_within(one, other)
    return _FORMS[key][2](other, one)


def _host_within(one: Host, other: Host) -> bool:
    is_below = other.is_above and one.name.endswith(f".{other.name}")
    return is_below or one == other


def _url_within(one: tuple[Url, Host | None], other: tuple[Url, Host | None]) -> bool:
    (url, host), (wide, wide_host) = one, other
    if wide_host is None:
        is_host = host is None or _is_public(host.name)
    else:
        is_host = host is not None and _host_within(host, wide_host)
    is_same_place = (url.scheme, url.port) == (wide.scheme, wide.port)
    return is_host and is_same_place and url.segments[: len(wide.segments)] == wide.segments


def allows(key: str, items: list[str], text: str) -> bool:
    read_item, read_value, holds = _FORMS[key]
    value = read_value(text)
    return value is not None and any(holds(item, value) for item in map(read_item, items) if item is not None)
