"""Where the data lies that is not part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2].parent / "shared"


def shared(*parts: str) -> Path:
    """Return a path below the shared data beside the project, skipping the test where it is absent."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the shared data {'/'.join(parts)} does not lie beside the project")
    return path
