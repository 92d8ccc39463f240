"""One list of tools for several connectors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .manifest import NAME

Pair = tuple[str, str]


def expose_tools(connectors: Sequence[tuple[str, Sequence[str]]]) -> tuple[dict[str, Pair], list[Pair]]:
    """Names the tools of several connectors for one list, as `<connector>__<tool>`.

    :returns: the pair of each name, and the pairs without a name of their own: too long, or equal but for case
    """
    pairs = [(connector, tool) for connector, tools in connectors for tool in tools]
    names = [re.sub("[^A-Za-z0-9_-]", "_", f"{connector}__{tool}") for connector, tool in pairs]
    low = [name.lower() for name in names]
    exposed, hidden = {}, []
    for pair, name in zip(pairs, names, strict=True):
        if NAME.fullmatch(pair[1]) and len(name) <= 64 and low.count(name.lower()) == 1:
            exposed[name] = pair
        else:
            hidden.append(pair)
    return exposed, hidden
