"""Runs as tests ask for them: with one word for each thing, as a file that keeps a run has them."""

from __future__ import annotations

from typing import Any

import msgspec

from metl_gui.core.runs.run_spec import KeptSpec, RunSpec


def run_spec(**asked: Any) -> RunSpec:
    """Return a run; what is not asked for is as it is by default."""
    return KeptSpec(**({"run_id": "r1", "plan": b"", "source": "", "sink": "noop", "folder": ""} | asked)).spec


def changed(spec: RunSpec, **asked: Any) -> RunSpec:
    """Return a run with some of it asked for otherwise."""
    return msgspec.structs.replace(KeptSpec.of(spec), **asked).spec
