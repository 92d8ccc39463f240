"""The tree of grants in a receipt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from ._checks import SCOPE
from ._receipt_parts import Entry
from .manifest import LEVELS

_DEEPEST = 100
_MOMENT = 60
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


@dataclass
class Grant:
    """A grant as the entries show it. What is hidden is None."""

    grant_id: str
    is_root: bool
    parent_grant_id: str | None
    agent_id: str | None
    created_at: str
    scopes: list[str] | None
    expires_at: str | None
    depth: int | None
    consent_method: str | None
    unverified: bool
    is_readable: bool
    # Nothing of it is hidden.
    is_whole: bool
    # `active`, `expired`, `revoked`, or `unknown` where a withheld entry may be the revocation.
    status: str = "active"
    revoked_at: str | None = None
    revoked_by: str | None = None

    def lasts_beyond(self, duration: object) -> bool:
        found = re.fullmatch("([1-9][0-9]{0,9})([smhd])", duration) if isinstance(duration, str) else None
        if found is None or self.expires_at is None:
            return False
        lasts = (_time(self.expires_at) - _time(self.created_at)).total_seconds()
        return lasts > int(found[1]) * _UNITS[found[2]] + _MOMENT


@dataclass
class Tree:
    grants: list[Grant]
    faults: list[tuple[str, str]] = field(default_factory=list)
    is_partial: bool = False


def read_tree(entries: list[Entry], root_id: str, grant_id: str, withheld: int, now: datetime | None) -> Tree:
    """Reads the grants, and checks that each is within the one that it came from."""
    created: dict[str, Entry] = {}
    revoked: dict[str, Entry] = {}
    faults: list[tuple[str, str]] = []
    for entry in entries:
        if entry.grant_id is None or entry.status != "success":
            continue
        if entry.action == "grant.revoked":
            revoked.setdefault(entry.grant_id, entry)
        elif entry.action == "grant.created":
            if entry.grant_id in created:
                faults.append(("tree", f"created_twice {entry.grant_id}"))
            created.setdefault(entry.grant_id, entry)
    grants = {name: _grant(name, entry, root_id) for name, entry in created.items()}
    tree = Tree(list(grants.values()), faults)

    def is_missing(name: str) -> bool:
        if name not in grants:
            if withheld:
                tree.is_partial = True
            elif ("no_grant_entry", name) not in faults:
                faults.append(("no_grant_entry", name))
        return name not in grants

    for name in [root_id, grant_id, *(entry.grant_id for entry in entries)]:
        if name is not None:
            is_missing(name)
    for grant in grants.values():
        if grant.parent_grant_id is None:
            if not grant.is_root:
                tree.is_partial = tree.is_partial or not grant.is_whole
                if grant.is_whole:
                    faults.append(("tree", f"second_root {grant.grant_id}"))
            continue
        if grant.is_root:
            faults.append(("tree", f"root_has_parent {root_id}"))
        if is_missing(grant.parent_grant_id):
            continue
        parent = grants[grant.parent_grant_id]
        if _is_circular(grant, grants):
            faults.append(("tree", f"circle {grant.grant_id}"))
        wider = _beyond(parent, grant)
        if wider is None:
            tree.is_partial = True
        elif wider:
            faults.append(("tree", f"{wider} {grant.grant_id}"))
    if len({entry.principal_id for entry in entries if isinstance(entry.principal_id, str)}) > 1:
        faults.append(("tree", "second_principal"))
    if len({entry.developer_id for entry in entries}) > 1:
        faults.append(("tree", "second_developer"))
    faults += [("tree", f"malformed_grant {grant.grant_id}") for grant in tree.grants if not grant.is_readable]
    for grant in tree.grants:
        end = revoked.get(grant.grant_id)
        if end is not None:
            by = end.metadata.get("revokedBy")
            grant.status, grant.revoked_at = "revoked", end.timestamp
            grant.revoked_by = by if isinstance(by, str) else None
        elif now is not None and grant.expires_at is not None and _time(grant.expires_at) <= now:
            grant.status = "expired"
        elif withheld:
            grant.status = "unknown"
    return tree


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and _time(value).tzinfo is not None
    except ValueError:
        return False


def _grant(name: str, entry: Entry, root_id: str) -> Grant:
    known: dict[str, Any] = entry.metadata
    scopes, ends, depth = known.get("scopes"), known.get("expiresAt"), known.get("delegationDepth")
    are_scopes = isinstance(scopes, list) and all(isinstance(each, str) for each in scopes)
    is_depth = isinstance(depth, int) and not isinstance(depth, bool)
    members = (("scopes", are_scopes), ("expiresAt", _is_time(ends)), ("delegationDepth", is_depth))
    is_readable = all(good if member in known else entry.hidden > 0 for member, good in members)
    parent, method = known.get("parentGrantId"), known.get("consentMethod")
    return Grant(
        grant_id=name,
        is_root=name == root_id,
        parent_grant_id=parent if isinstance(parent, str) else None,
        agent_id=entry.agent_id,
        created_at=entry.timestamp,
        scopes=scopes if are_scopes else None,
        expires_at=ends if _is_time(ends) else None,
        depth=depth if is_depth else None,
        consent_method=method if isinstance(method, str) else None,
        unverified=known.get("unverified") is True,
        is_readable=is_readable and ("parentGrantId" not in known or isinstance(parent, str)),
        is_whole=entry.hidden == 0,
    )


def _beyond(parent: Grant, child: Grant) -> str | None:
    if parent.scopes is not None and child.scopes is not None and uncovered(parent.scopes, child.scopes):
        return "wider_scopes"
    if parent.expires_at and child.expires_at and _time(child.expires_at) > _time(parent.expires_at):
        return "later_end"
    if parent.depth is not None and child.depth is not None and child.depth != parent.depth + 1:
        return "wrong_depth"
    needed = [value for each in (parent, child) for value in (each.scopes, each.expires_at, each.depth)]
    return None if None in needed else ""


def _is_circular(grant: Grant, grants: dict[str, Grant]) -> bool:
    seen: set[str] = set()
    at: Grant | None = grant
    while at is not None:
        if at.grant_id in seen or len(seen) > _DEEPEST:
            return True
        seen.add(at.grant_id)
        at = grants.get(at.parent_grant_id or "")
    return False


def uncovered(parents: list[str], children: list[str]) -> list[str]:
    """The scopes that none of the parents covers."""
    return [child for child in children if not any(_covers(parent, child) for parent in parents)]


def _covers(wide: str, narrow: str) -> bool:
    if wide == narrow:
        return True
    if wide.startswith("tool:") and narrow.startswith("tool:"):
        return _covers_tool(wide, narrow)
    if wide.startswith("tool:") or narrow.startswith("tool:"):
        return False
    return wide == "*" or (wide.endswith(":*") and narrow.startswith(wide[:-1]))


def _covers_tool(wide: str, narrow: str) -> bool:
    one, other = (SCOPE.fullmatch(text) if len(text) <= 256 else None for text in (wide, narrow))
    if one is None or other is None:
        return False
    levels = [3 if each["level"] == "*" else LEVELS.index(each["level"]) for each in (one, other)]
    if one["connector"] not in ("*", other["connector"]) or levels[1] > levels[0]:
        return False
    held, asked = (None if each["resource"] == "*" else each["resource"] for each in (one, other))
    is_within = held is None or held == (asked or "") or (held.endswith("*") and (asked or "").startswith(held[:-1]))
    if not is_within or one["cap"] is None:
        return is_within
    return other["cap"] is not None and Decimal(other["cap"]) <= Decimal(one["cap"])
