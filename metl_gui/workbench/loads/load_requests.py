"""Ask whoever follows a source into a target for a load: by a file beside a file, by a row in a database.

Whoever follows looks for it about every second, and takes it away as it begins.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from metl_gui.errors import RunError
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.target_model import check_loaded
from metl_gui.workbench.loads.targets import TargetAddress


def ask_for_load(target: TargetAddress) -> None:
    """Ask for a load.

    Raises:
        RunError: the file cannot be written.
        TargetError: the file is not there, the database does not answer, or nothing was loaded into it yet.
    """
    target.check_there()
    if target.place is None:
        try:
            _request_file(target).touch()
        except OSError as error:
            text = f"{_request_file(target)}: {error.strerror or error}."
            raise RunError("The request cannot be written beside the target.", text, "Look at its folder.") from error
        return
    with target.open() as opened:
        check_loaded(opened)
        opened.run("CREATE TABLE IF NOT EXISTS metl_requests (asked_at TIMESTAMPTZ)")
        opened.run("INSERT INTO metl_requests VALUES (?)", [datetime.now(UTC)])


def take_request(target: TargetAddress) -> bool:
    """Return whether somebody asked, and take the request away; a database that does not answer has none."""
    if target.place is None:
        try:
            _request_file(target).unlink()
        except OSError:
            return False
        return True
    try:
        with target.open() as opened:
            return opened.has_table("metl_requests") and opened.run("DELETE FROM metl_requests") > 0
    except TargetError:
        return False


def _request_file(target: TargetAddress) -> Path:
    return target.path.with_name(f"{target.path.name}.load-asked")
