"""Where the machine code of all tests lies."""

from __future__ import annotations

import os

from metl_gui.engine.kernel.compiled import build


def kernel_cache() -> dict[str, str]:
    """Return what lets machine code be made once for all tests, not by the workers of each of them."""
    return build.named() or {"METL_KERNEL_CACHE": os.devnull}
