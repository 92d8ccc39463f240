"""Why a call is denied, in codes that all engines share."""

from __future__ import annotations

from typing import Any

CAUSES = {
    **{"header_not_allowed": "malformed", "alg_not_allowed": "algorithm", "typ_not_allowed": "type"},
    **{"key_not_found": "key", "key_inconsistent": "key", "bad_signature": "signature"},
    **{"issuer_mismatch": "issuer", "audience_mismatch": "audience", "claims_missing": "claims"},
    **{"claims_inconsistent": "claims", "developer_mismatch": "developer", "sandbox_not_allowed": "sandbox"},
    "dpop_required": "claims",
}
SENTENCES = {
    "token_invalid": "The grant token does not verify.",
    "grant_revoked": "The grant does not stand any longer.",
    "manifest_unknown_tool": "No loaded manifest declares the tool as it was approved.",
    "tool_not_granted": "The grant does not allow this call.",
    "permission_insufficient": "The grant has a lower permission than the tool demands.",
    "region_mismatch": "The grant keeps the data in another region.",
    "purpose_not_allowed": "The tool does not serve the purpose of the grant.",
    "decision_required": "The tool needs a decision by a person.",
    "case_required": "A cap counts by case, and the call names no case.",
    "cap_exceeded": "A cap does not admit the call.",
}
# What a check that broke unexpectedly denies with.
UNEXPECTED: dict[str, tuple[str, str | None]] = {
    "token": ("token_invalid", None),
    "tool": ("manifest_unknown_tool", "unknown_tool"),
    "reach": ("tool_not_granted", None),
    "amount": ("cap_exceeded", "invalid_amount"),
    "purpose": ("purpose_not_allowed", "not_matched"),
    "arguments": ("tool_not_granted", "argument_unreadable"),
    "decision": ("decision_required", "consume_unavailable"),
    "caps": ("cap_exceeded", "meter_unavailable"),
}


class Denial(Exception):
    """Ends the checks of a call with the first failure."""

    def __init__(self, code: str, sub_reason: str | None = None, **details: Any) -> None:
        super().__init__(code)
        self.code, self.sub_reason, self.details = code, sub_reason, details


class NotCharged(Exception):
    """A call that the meter did not charge, with the reasons: all of them where caps only warn."""

    def __init__(self, *denials: Denial) -> None:
        super().__init__("full")
        self.denials = denials
