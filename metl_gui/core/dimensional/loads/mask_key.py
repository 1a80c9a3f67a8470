"""Hashes of masked values: equal values have equal ones, and nobody without the key finds a value by its hash.

Source: docs/reference/warehouse-model.md, "Masked attributes"; RFC 2104 (HMAC), with SHA-256.
"""

from __future__ import annotations

import hashlib
import hmac

import msgspec

_MASKS, _FINGERPRINT = b"masked values of a warehouse", b"fingerprint"


class MaskKey(msgspec.Struct, frozen=True):
    """The key of hashes.

    Args:
        value: its bytes; never written down.
    """

    value: bytes

    @classmethod
    def of(cls, secret: bytes) -> MaskKey:
        """Return the key that follows from the secret of a target, which has other uses too."""
        return cls(hmac.digest(secret, _MASKS, hashlib.sha256))

    @property
    def fingerprint(self) -> str:
        """Return what tells the key from others, and does not give it away."""
        return hmac.digest(self.value, _FINGERPRINT, hashlib.sha256).hex()

    def hashed(self, text: str) -> str:
        """Return the hash of the exact text of a value."""
        # Behind a mark, so that no value has the hash that is the fingerprint.
        return hmac.digest(self.value, b"=" + text.encode(), hashlib.sha256).hex()

    def __repr__(self) -> str:
        """Leave the key out of logs."""
        return f"{type(self).__name__}(...)"
