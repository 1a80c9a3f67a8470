"""Whether a project writes into typed sinks, which take local times only where they hold somewhere.

Nothing of it is kept for itself: the runs that a project has, and the production runs of this computer, say it. Source:
docs/guide/change.md, "Time zones".
"""

from __future__ import annotations

from typing import Final

from metl_gui.core.review.missing_time_zones import MissingTimeZone, missing_time_zones
from metl_gui.core.runs.run_spec import Format
from metl_gui.workbench.runs.production import processes
from metl_gui.workbench.session import Workbench

_TYPED: Final[Format] = "parquet"


def has_typed_sink(workbench: Workbench) -> bool:
    """Return whether a run of the project was, or is being, written into typed columns.

    Cost: a look at what was asked of each run that the project keeps.
    """
    if workbench.kept.runs.has_format(_TYPED):
        return True
    return any(run.order.kept.format == _TYPED for run in processes(workbench.project_id))


def zones_to_state(workbench: Workbench) -> tuple[MissingTimeZone, ...]:
    """Return the schemas whose time zone typed sinks miss, by name; none where nothing writes into one."""
    return missing_time_zones(workbench.document) if has_typed_sink(workbench) else ()
