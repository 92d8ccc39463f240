"""Counters of calls, for one process. Limits that several processes share need the service's own enforcement."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class MeterError(Exception):
    """The meter cannot answer: `unreachable`, `timeout`, `data_loss` or `misconfigured`."""


@dataclass(frozen=True)
class Counter:
    key: str
    limit: int
    units: int
    window_ms: int
    grain_ms: int


@dataclass(frozen=True)
class Full:
    """The first full counter, and when the call would fit."""

    index: int
    used: int
    retry_at_ms: float | None


class Reused(Exception):
    """The id was used up by an earlier transmission."""


class CapsMeter(Protocol):
    def reserve(self, tenant: str, call_id: str, counters: list[Counter]) -> list[int] | Full:
        """Charges all counters or none. :raises MeterError: :raises Reused:"""

    def refund_unsent(self, tenant: str, call_id: str) -> bool: ...

    def usage(self, tenant: str, counters: list[Counter]) -> list[Full]:
        """What is used, without a charge. `index` is that of the counter."""

    def healthy(self) -> bool: ...


@dataclass
class _Call:
    counters: list[Counter]
    is_held: bool = True
    charges: list[list[float]] = field(default_factory=list)


class MemoryMeter:
    """For tests, and for programs of one process whose counts may start anew with it."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._charges: dict[tuple[str, str], list[list[float]]] = {}
        self._calls: dict[tuple[str, str], _Call] = {}

    def reserve(self, tenant: str, call_id: str, counters: list[Counter]) -> list[int] | Full:
        with self._lock:
            known = self._calls.get((tenant, call_id))
            if known and (not known.is_held or known.counters != counters):
                raise Reused()
            if not known:
                for index, counter in enumerate(counters):
                    if self._used(tenant, counter.key) + counter.units > counter.limit:
                        return self._state(tenant, index, counter)
                made = _Call(counters)
                for counter in counters:
                    charge = [float(counter.units), self._until(counter)]
                    self._live(tenant, counter.key).append(charge)
                    made.charges.append(charge)
                self._calls[tenant, call_id] = made
            return [self._used(tenant, counter.key) for counter in counters]

    def refund_unsent(self, tenant: str, call_id: str) -> bool:
        with self._lock:
            known = self._calls.get((tenant, call_id))
            if not known or not known.is_held:
                return False
            known.is_held = False
            for charge in known.charges:
                charge[0] = 0
            return True

    def usage(self, tenant: str, counters: list[Counter]) -> list[Full]:
        with self._lock:
            return [self._state(tenant, index, counter) for index, counter in enumerate(counters)]

    def healthy(self) -> bool:
        return True

    def used(self, tenant: str, key: str) -> int:
        """The units under a key now."""
        with self._lock:
            return self._used(tenant, key)

    def _until(self, counter: Counter) -> float:
        if counter.window_ms == 0:
            return math.inf
        at = self._clock() * 1_000 + counter.window_ms
        return math.ceil(round(at, 3) / counter.grain_ms) * counter.grain_ms

    def _live(self, tenant: str, key: str) -> list[list[float]]:
        now = round(self._clock() * 1_000, 3)
        kept = [charge for charge in self._charges.get((tenant, key), []) if charge[1] > now]
        self._charges[tenant, key] = kept
        return kept

    def _used(self, tenant: str, key: str) -> int:
        return int(sum(units for units, _ in self._live(tenant, key)))

    def _state(self, tenant: str, index: int, counter: Counter) -> Full:
        used = left = self._used(tenant, counter.key)
        if used + counter.units > counter.limit:
            for units, until in sorted(self._live(tenant, counter.key), key=lambda charge: charge[1]):
                left -= int(units)
                if left + counter.units <= counter.limit:
                    return Full(index, used, until if math.isfinite(until) else None)
        return Full(index, used, None)
