"""Behest for Python: verify grant tokens offline, and decide about tool calls in this process."""

from .enforce import CapsMode, Enforcer, Result
from .errors import (
    BehestDeniedError,
    BehestError,
    BehestNetworkError,
    BehestTokenError,
    BehestWebhookError,
    ManifestValidationError,
)
from .manifest import Manifest, tool_pin
from .meter import CapsMeter, MemoryMeter, MeterError
from .tokens import Jwks, VerifiedGrant, Verifier
from .webhooks import construct_event, verify_webhook, verify_webhook_signature

__all__ = [
    *("BehestDeniedError", "BehestError", "BehestNetworkError", "BehestTokenError", "BehestWebhookError"),
    *("CapsMeter", "CapsMode", "Enforcer", "Jwks", "Manifest", "ManifestValidationError", "MemoryMeter", "MeterError"),
    *("Result", "VerifiedGrant", "Verifier", "construct_event", "tool_pin", "verify_webhook"),
    "verify_webhook_signature",
]
