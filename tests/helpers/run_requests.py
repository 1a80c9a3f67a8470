"""Runs as tests ask for them before they are prepared."""

from __future__ import annotations

from typing import Any

from metl_gui.core.runs.run_spec import ReplayOrder
from metl_gui.core.runs.target import LOCAL_TARGET
from metl_gui.workbench.runs.mapping_run import RunRequest
from tests.helpers.run_specs import run_spec


def run_request(
    source: str,
    sink: str = "",
    spark: str = LOCAL_TARGET,
    *,
    state: int | None = None,
    include_unconfirmed: bool = False,
    **asked: Any,
) -> RunRequest:
    """Return what a person asks of a run."""
    spec = run_spec(source=source, sink=sink, **asked)
    return RunRequest(spec.source, spec.sink, spec.mapping, spec.policy, spark, state, include_unconfirmed)


def replay_request(
    errors: str,
    sink: str = "",
    *,
    reasons: tuple[str, ...] = (),
    is_again: bool = False,
    set_aside: str = "",
    **asked: Any,
) -> RunRequest:
    """Return what a person asks of a replay."""
    return run_request(errors, sink, replay=ReplayOrder(reasons, is_again), errors=set_aside, **asked)
