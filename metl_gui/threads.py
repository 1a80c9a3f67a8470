"""Threads that libraries start for themselves when they are loaded, and for which nothing here has use.

OpenBLAS, which numpy and scipy bring, starts one for each further core; with nothing to do it runs on for 80 ms. What
is multiplied here is small, and for the most part not its work.
"""

from __future__ import annotations

import os


def keep_libraries_from_threads() -> None:
    """Have them start none; a number that the environment names stays. To be called before they are loaded."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
