"""What the enforcer answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Result:
    """The answer about a call. A denial is an answer, and no exception."""

    connector: str
    tool: str
    call_id: str
    allowed: bool = False
    reason: str = ""
    reason_code: str | None = None
    sub_reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    grant_id: str = ""
    agent_did: str = ""
    principal_id: str = ""
    developer_id: str = ""
    scopes: tuple[str, ...] = ()
    permission: str | None = None
    purpose: str | None = None
    manifest_version: str | None = None
    reservation: dict[str, Any] | None = None
    decision: dict[str, Any] | None = None
    would_deny: list[tuple[str, str | None, dict[str, Any]]] = field(default_factory=list)
    # The copy that was checked: give it to the tool, and not what came in.
    arguments: dict[str, Any] | None = None


@dataclass
class Listed:
    """The tools that some call could use, and the others with the reason of each."""

    tools: list[Mapping[str, Any]] = field(default_factory=list)
    hidden: list[tuple[str, str, str | None]] = field(default_factory=list)
