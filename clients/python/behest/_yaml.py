"""YAML 1.2, core schema, one document, without anchors, aliases, tags and merge keys."""

from __future__ import annotations

import re
from typing import Any

import yaml

from .errors import ManifestValidationError

_PLAIN: tuple[tuple[str, Any], ...] = (
    ("(?:null|Null|NULL|~|)", lambda _: None),
    ("(?:true|True|TRUE)", lambda _: True),
    ("(?:false|False|FALSE)", lambda _: False),
    ("[-+]?[0-9]+", int),
    ("0o[0-7]+", lambda text: int(text[2:], 8)),
    ("0x[0-9a-fA-F]+", lambda text: int(text, 16)),
    (r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", float),
)


def parse_yaml(text: str) -> Any:
    """:raises ManifestValidationError: with the place of a key that is there twice"""
    try:
        events = list(yaml.parse(text, Loader=yaml.SafeLoader))
        starts = [event for event in events if isinstance(event, yaml.DocumentStartEvent)]
        if len(starts) != 1 or starts[0].version or starts[0].tags:
            raise ManifestValidationError("unparseable")
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            raise ManifestValidationError("unparseable")
        return _value(yaml.compose(text, Loader=yaml.SafeLoader), events, "")
    except (yaml.YAMLError, RecursionError) as error:
        raise ManifestValidationError("unparseable") from error


def _value(node: Any, events: list[Any], path: str) -> Any:
    if any(getattr(event, "anchor", None) or getattr(event, "tag", None) for event in events):
        raise ManifestValidationError("unparseable")
    if isinstance(node, yaml.MappingNode):
        members: dict[str, Any] = {}
        for key, value in node.value:
            name = _scalar(key) if isinstance(key, yaml.ScalarNode) else None
            if not isinstance(name, str) or (key.style is None and name == "<<"):
                raise ManifestValidationError("unparseable")
            at = f"{path}.{name}".lstrip(".")
            if name in members:
                raise ManifestValidationError("duplicate_key", at)
            members[name] = None
            members[name] = _value(value, [], at)
        return members
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, [], f"{path}[{at}]") for at, item in enumerate(node.value)]
    return None if node is None else _scalar(node)


def _scalar(node: Any) -> Any:
    text: str = node.value
    if node.style is not None:
        return text
    return next((read(text) for pattern, read in _PLAIN if re.fullmatch(pattern, text)), text)
