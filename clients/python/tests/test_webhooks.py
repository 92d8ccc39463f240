"""Deliveries."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from typing import Any

import pytest

from behest import BehestError, BehestWebhookError, construct_event, verify_webhook, verify_webhook_signature

SECRET = "whsec_" + base64.b64encode(b"x" * 32).decode()
BODY = '{"id":"evt_1","type":"grant.revoked","data":{"name":"ü"}}'


def signed(body: str = BODY, at: int | None = None, secret: str = SECRET) -> dict[str, str]:
    at = int(time.time()) if at is None else at
    key = base64.b64decode(secret.removeprefix("whsec_"))
    made = hmac.new(key, f"evt_1.{at}.{body}".encode(), hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(made).decode()}"
    return {"Webhook-Id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": f"v1,old {signature}"}


def v2(body: str = BODY, prefix: str = "") -> str:
    return "sha256=" + hmac.new(SECRET.encode(), (prefix + body).encode(), hashlib.sha256).hexdigest()


def reason(*given: Any, **options: Any) -> str:
    with pytest.raises(BehestWebhookError) as raised:
        construct_event(*given, **options)
    return raised.value.reason


def test_a_genuine_delivery_is_read_and_nothing_else() -> None:
    other = "whsec_" + base64.b64encode(b"y" * 32).decode()
    assert construct_event(BODY, signed(), SECRET)["type"] == "grant.revoked"
    assert construct_event(BODY.encode(), signed(), [other, SECRET])["id"] == "evt_1"

    assert reason(BODY + " ", signed(), SECRET) == "bad_signature"
    assert reason(BODY, signed(), other) == "bad_signature"
    assert reason(BODY, {}, SECRET) == "missing_header"
    assert reason(BODY, signed(at=int(time.time()) - 301), SECRET) == "stale"
    assert reason("[]", signed("[]"), SECRET) == "malformed"
    assert reason(BODY, signed(), SECRET, seen=lambda event_id: event_id == "evt_1") == "repeated"
    with pytest.raises(BehestError, match="raw body"):
        construct_event({"id": "evt_1"}, signed(), SECRET)  # type: ignore[arg-type]


def test_the_older_signatures_are_checked_as_they_were_made() -> None:
    at = str(int(time.time()))
    headers = {"x-service-timestamp": at, "x-service-signature-v2": v2(prefix=f"{at}.")}
    assert construct_event(BODY, headers, SECRET)["id"] == "evt_1"
    assert verify_webhook(BODY, v2(prefix=f"{at}."), at, SECRET)
    assert not verify_webhook(BODY, v2(prefix=f"{at}."), str(int(at) - 301), SECRET)
    assert verify_webhook_signature(BODY, v2(), SECRET)
    assert not verify_webhook_signature(BODY, v2(BODY + " "), SECRET)
    assert reason(BODY, {"x-service-timestamp": at, "x-service-signature-v2": v2()}, SECRET) == "bad_signature"


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_AAAA", [], [SECRET, ""], None])
def test_a_secret_that_anybody_could_sign_with_is_a_fault_of_the_program(secret: Any) -> None:
    at = str(int(time.time()))
    with pytest.raises(BehestError, match="secret has to be the one"):
        construct_event(BODY, signed(secret=""), secret)
    with pytest.raises(BehestError, match="secret has to be the one"):
        verify_webhook(BODY, v2(), at, secret)
    with pytest.raises(BehestError, match="secret has to be the one"):
        verify_webhook_signature(BODY, v2(), secret)
