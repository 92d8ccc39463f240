"""The errors. Their texts hold no token and no key."""

from __future__ import annotations

from typing import Any


class BehestError(Exception):
    """The error of everything below."""


class BehestTokenError(BehestError):
    """A token that is not taken."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The token was refused: {reason}.")
        self.reason = reason


class BehestNetworkError(BehestError):
    """The service could not be asked. It says nothing about the token."""


class BehestDeniedError(BehestError):
    """A tool call that was denied."""

    def __init__(self, result: Any) -> None:
        super().__init__(result.reason)
        self.result = result
        self.reason_code: str = result.reason_code
        self.sub_reason: str | None = result.sub_reason
        self.details: dict[str, Any] = result.details


class BehestWebhookError(BehestError):
    """A delivery that is not genuine, or came too late."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The delivery was refused: {reason}.")
        self.reason = reason


class ManifestValidationError(BehestError):
    """The first fault of a manifest."""

    def __init__(self, code: str, path: str = "", connector: str | None = None) -> None:
        super().__init__(f"Manifest error at {path or 'top level'} ({code})")
        self.code, self.path, self.connector = code, path, connector
