"""Webhooks: whether a delivery is genuine."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import BehestError, BehestWebhookError

_LEAST_BYTES = 24  # Standard Webhooks: a secret has 24 to 64
_NO_SECRET = "secret has to be the one that the webhook was made with: whsec_…."


def construct_event(
    payload: str | bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: int = 300,
    seen: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """Reads an event from a delivery.

    :param payload: the raw body: a parsed one has lost what was signed
    :param secret: several while a secret is rotated
    :param seen: says whether an event of this id was dealt with before
    :raises BehestWebhookError: `missing_header`, `stale`, `bad_signature`, `malformed` or `repeated`
    :raises BehestError: for a secret that is empty or too short
    """
    body = _bytes_of(payload)
    secrets = _checked(secret)
    read = {name.lower(): value for name, value in headers.items()}
    standard, event_id = read.get("webhook-signature"), read.get("webhook-id")
    names = ("webhook-signature", "webhook-timestamp") if standard else ("x-service-signature-v2", "x-service-timestamp")
    signature, timestamp = (read.get(name) for name in names)
    if not signature or not timestamp or (standard and not event_id):
        raise BehestWebhookError("missing_header")
    if not _is_fresh(timestamp, tolerance_seconds):
        raise BehestWebhookError("stale")
    prefix = f"{event_id}.{timestamp}." if standard else f"{timestamp}."
    made = [_standard(each, prefix, body) if standard else _v2(each, prefix, body) for each in secrets]
    if not any(_is_equal(given, own) for given in signature.split(" ") for own in made):
        raise BehestWebhookError("bad_signature")
    event = _event_in(body)
    if seen and seen(event["id"]):
        raise BehestWebhookError("repeated")
    return event


def verify_webhook(
    payload: str | bytes, signature: str, timestamp: str | int, secret: str, tolerance_seconds: int = 300
) -> bool:
    """Checks `X-Service-Signature-V2`, which signs the time too."""
    _checked(secret)
    own = _v2(secret, f"{timestamp}.", _bytes_of(payload))
    return _is_fresh(str(timestamp), tolerance_seconds) and _is_equal(signature, own)


def verify_webhook_signature(payload: str | bytes, signature: str, secret: str) -> bool:
    """Checks `X-Service-Signature`, which signs the body alone: a delivery can be sent again."""
    _checked(secret)
    return _is_equal(signature, _v2(secret, "", _bytes_of(payload)))


def _v2(secret: str, prefix: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), prefix.encode() + body, hashlib.sha256).hexdigest()


def _checked(secret: str | Sequence[str]) -> Sequence[str]:
    """An empty secret, as of a variable that is not set, is one that everybody can sign with."""
    secrets = [secret] if isinstance(secret, str) else secret
    if not secrets:
        raise BehestError(_NO_SECRET)
    for each in secrets:
        _key_in(each)
    return secrets


def _key_in(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError, AttributeError) as error:
        raise BehestError(_NO_SECRET) from error
    if len(key) < _LEAST_BYTES:
        raise BehestError(_NO_SECRET)
    return key


def _standard(secret: str, prefix: str, body: bytes) -> str:
    key = _key_in(secret)
    return "v1," + base64.b64encode(hmac.new(key, prefix.encode() + body, hashlib.sha256).digest()).decode()


def _is_equal(given: str, own: str) -> bool:
    return hmac.compare_digest(given.encode(), own.encode())


def _is_fresh(timestamp: str, tolerance_seconds: int) -> bool:
    return bool(re.fullmatch("[0-9]{1,12}", timestamp)) and abs(time.time() - int(timestamp)) <= tolerance_seconds


def _bytes_of(payload: object) -> bytes:
    if isinstance(payload, str):
        return payload.encode()
    if isinstance(payload, bytes):
        return payload
    raise BehestError("payload has to be the raw body, as text or bytes: parse it afterwards.")


def _event_in(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
        if isinstance(event["id"], str) and isinstance(event["type"], str):
            return dict(event)
    except (ValueError, TypeError, KeyError, LookupError):
        pass
    raise BehestWebhookError("malformed")
