"""Behest for Python: verify grant tokens offline, and decide about tool calls in this process."""

from .enforce import CapsMode, Enforcer, Listed, Result
from .errors import (
    BehestDeniedError,
    BehestError,
    BehestNetworkError,
    BehestTokenError,
    BehestWebhookError,
    ManifestValidationError,
)
from .exposed import expose_tools
from .manifest import Manifest, tool_pin
from .meter import CapsMeter, MemoryMeter, MeterError
from .tokens import Jwks, VerifiedGrant, Verifier
from .webhooks import construct_event, verify_webhook, verify_webhook_signature
from .words import RulesInWords, rules_in_words

__all__ = [
    *("BehestDeniedError", "BehestError", "BehestNetworkError", "BehestTokenError", "BehestWebhookError"),
    *("CapsMeter", "CapsMode", "Enforcer", "Jwks", "Manifest", "ManifestValidationError", "MemoryMeter", "MeterError"),
    *("Listed", "Result", "VerifiedGrant", "Verifier", "construct_event", "expose_tools", "tool_pin", "verify_webhook"),
    *("RulesInWords", "rules_in_words", "verify_webhook_signature"),
]
