"""How large things may be that a run reads, for whoever asks before anything else of a run is loaded."""

from __future__ import annotations

LIMIT_BYTES = 64 * 1024 * 1024
"""Records larger than this are set aside as ``TOO_LARGE``."""

TOO_LARGE = "too_large"
"""The reason of records that are larger than a run reads."""
