"""Behest for Python: verify grant tokens offline, and decide about tool calls in this process."""

from .claims import VerifiedGrant
from .enforce import CapsMode, Enforcer
from .errors import (
    BehestDeniedError,
    BehestError,
    BehestNetworkError,
    BehestTokenError,
    BehestWebhookError,
    ManifestValidationError,
)
from .exposed import expose_tools
from .keys import Jwks
from .manifest import Manifest, tool_pin
from .meter import CapsMeter, MemoryMeter, MeterError
from .receipts import ReceiptVerdict, verify_receipt
from .results import Listed, Result
from .tokens import Verifier
from .webhooks import construct_event, verify_webhook, verify_webhook_signature
from .words import RulesInWords, rules_in_words

__all__ = [
    *("BehestDeniedError", "BehestError", "BehestNetworkError", "BehestTokenError", "BehestWebhookError"),
    *("CapsMeter", "CapsMode", "Enforcer", "Jwks", "Manifest", "ManifestValidationError", "MemoryMeter", "MeterError"),
    *("Listed", "Result", "VerifiedGrant", "Verifier", "construct_event", "expose_tools", "tool_pin", "verify_webhook"),
    *("ReceiptVerdict", "RulesInWords", "rules_in_words", "verify_receipt", "verify_webhook_signature"),
]
