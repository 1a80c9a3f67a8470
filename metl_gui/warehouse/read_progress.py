"""Keep in a target how far sources that are followed were read into it, so that a load begins where the last one ended.

The transaction of a load writes it. Nothing beside the target has to agree with the target then: what a loader had read
and not loaded is read again, and of two loaders of one source the one that comes second is refused.

Source: docs/guide/warehouse.md, "Loading what comes".
"""

from __future__ import annotations

from metl_gui.core.dimensional.loads.read_progress import ReadProgress
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget

_TABLES = (
    "CREATE TABLE IF NOT EXISTS metl_sources (source VARCHAR PRIMARY KEY, load VARCHAR)",
    "CREATE TABLE IF NOT EXISTS metl_read_to (source VARCHAR, place VARCHAR, known VARCHAR)",
)
_AT_ONCE = 200
"""Places that one statement takes."""


class OvertakenError(TargetError):
    """Another loader has loaded of a source since this one began with it."""


def stored_progress(target: WarehouseTarget, source: str) -> ReadProgress:
    """Return how far a source is in a target.

    Args:
        target: open.
        source: its address.
    """
    if not target.has_table("metl_sources"):
        return ReadProgress(source)
    found = target.rows("SELECT load FROM metl_sources WHERE source = ?", [source])
    places = target.rows("SELECT place, known FROM metl_read_to WHERE source = ?", [source])
    return ReadProgress(source, found[0][0] if found else "", dict(places))


def keep_progress(target: WarehouseTarget, load: str, progress: ReadProgress) -> None:
    """Keep how far a load gets.

    Args:
        target: within the transaction of the load.
        load: its name.
        progress: the load that it goes on from, and what it knows of the places that it read from.

    Raises:
        OvertakenError: the target is further.

    Cost: in proportion to the places that the load read from.
    """
    for statement in _TABLES:
        target.run(statement)
    found = target.rows("SELECT load FROM metl_sources WHERE source = ?", [progress.source])
    stored = found[0][0] if found else ""
    if stored != progress.after:
        raise OvertakenError(
            "Another loader has gone on with this source",
            f"{target.title} has {progress.source} up to load {stored}, and not up to "
            f"{progress.after or 'its beginning'}.",
            "Let one loader alone follow a source into a target; what this one had read is read again.",
        )
    target.run("DELETE FROM metl_sources WHERE source = ?", [progress.source])
    target.run("INSERT INTO metl_sources VALUES (?, ?)", [progress.source, load])
    places = list(progress.places.items())
    for at in range(0, len(places), _AT_ONCE):
        _keep(target, progress.source, places[at : at + _AT_ONCE])


def _keep(target: WarehouseTarget, source: str, places: list[tuple[str, str]]) -> None:
    names = ", ".join("?" for _ in places)
    target.run(
        f"DELETE FROM metl_read_to WHERE source = ? AND place IN ({names})", [source, *(place for place, _ in places)]
    )
    rows = ", ".join("(?, ?, ?)" for _ in places)
    values = [value for place, known in places for value in (source, place, known)]
    target.run(f"INSERT INTO metl_read_to VALUES {rows}", values)
