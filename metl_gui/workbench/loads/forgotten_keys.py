"""Forget a key in a target: what was taken out of it, and what is left of it elsewhere until when.

Source: docs/reference/warehouse-model.md, "Forgotten keys".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.errors import EditError, RunError, near_names
from metl_gui.formats.canonical_keys import row_key
from metl_gui.values import Value
from metl_gui.warehouse.forgotten_keys import Purge
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.target_inputs import TargetInputs
from metl_gui.warehouse.target_masks import has_hashed_keys
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.target_documents import document_of
from metl_gui.workbench.loads.target_secrets import mask_key_of, target_secret
from metl_gui.workbench.loads.targets import TargetAddress
from metl_gui.workbench.loads.warehouse_loads import target_tables
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import KEPT_DAYS

_EXAMPLE = """Give an object as messages have it, such as {"id": 5}."""


class LeftBehind(Value):
    """What is left of a forgotten key outside the tables of its target.

    Args:
        place: where.
        until: when it goes.
    """

    place: str
    until: str


class ForgottenReport(Value):
    """What became of a key.

    Args:
        entity: whose key it was.
        purge: what was taken out of what is kept of the entity.
        load: what became of the tables.
        remainders: what is left elsewhere.
    """

    entity: str
    purge: Purge
    load: LoadReport
    remainders: tuple[LeftBehind, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl warehouse forget``."""
        return {
            "entity": self.entity,
            **msgspec.to_builtins(self.purge),
            "tables": msgspec.to_builtins(self.load.tables),
            "expires": [{"place": one.place, "until": one.until} for one in self.remainders],
        }


def forget_key(
    workbench: Workbench, target: str, entity: str, key: str, model: str = "", mode: str = "test"
) -> ForgottenReport:
    """Forget a key of an entity in a target, up to the last message that it has of it.

    Args:
        workbench: the opened project; read only is enough.
        target: see ``find_target``.
        entity: its name.
        key: JSON, as messages have it.
        model: name of the warehouse model; the only one by default.
        mode: of the runs that the target takes.

    Raises:
        EditError: there is no such model or entity, or the model has errors.
        RunError: the key is none, or there is no secret and none can be kept.
        TargetError: the target has no message of the key, or refused something; it is as before.
    """
    found, tables = target_tables(document_of(workbench, mode), target, model)
    canonical, history = _canonical(key), tables.histories.get(entity)
    owner = Owner(project=workbench.project_id, mode=mode)
    with found.open_known() as opened:
        # What an entity brought that the model has no more is still there.
        if history is None and not opened.has_table(history_table(entity)):
            hint = near_names(entity, list(tables.histories))
            raise EditError(f"The target keeps no messages of {entity}.", hint=hint)
        if history.is_key_hashed if history is not None else has_hashed_keys(opened, entity):
            canonical = mask_key_of(workbench.project_id, makes=False).hashed(canonical)
        loader = TargetInputs(opened, tables, owner, secret=lambda: target_secret(workbench.project_id, makes=True))
        purge = loader.forget(entity, canonical)
    return ForgottenReport(entity, purge, loader.report, tuple(_remainders(found)))


def _canonical(key: str) -> str:
    try:
        found = row_key(key.strip().encode())
    except ValueError as error:
        raise RunError("The key cannot be read.", "It is no JSON.", _EXAMPLE) from error
    except RecursionError as error:
        raise RunError("The key cannot be read.", "It is nested too deeply.", _EXAMPLE) from error
    if found is None or not found.startswith("{"):
        raise RunError("The key cannot be read.", "It is no object.", _EXAMPLE)
    return found


def _remainders(target: TargetAddress) -> Iterator[LeftBehind]:
    """Yield where values of the key may be left, and until when."""
    if target.place is None:
        yield LeftBehind(
            f"freed blocks of {target.path.name}", "until they are written over, or the file is copied anew"
        )
        yield LeftBehind(f"backups of {target.path.name}", "by their own rules")
    else:
        yield LeftBehind("freed rows of the database", "until VACUUM has written over them")
        yield LeftBehind("its write-ahead log, standbys and backups", "by their own rules")
    yield LeftBehind("records that runs set aside in the cache", f"{KEPT_DAYS} days after their run")
    yield LeftBehind("error stores, messages and topics that runs were told to write", "by their own rules")
    yield LeftBehind("samples in the project", "until they are removed (metl samples)")
