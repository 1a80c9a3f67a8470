"""The project of the soak: set up from the database's catalogue, and taken through its releases as people would."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError, RunError
from metl_gui.workbench.importing.remote_sources import ImportFilter
from metl_gui.workbench.importing.schema_import import ImportResult, import_sources
from metl_gui.workbench.importing.version_tasks import accept_task, collect_tasks, version_tasks
from metl_gui.workbench.mapping.table import MapMode, import_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.review.decisions import ReviewEntry, accept_losses, confirm_unconfirmed, rename, review_list
from metl_gui.workbench.session import Workbench
from tests.soak.tables import PREFIX, SPARES, Release, Table

_HEAD = "schema,schema_version,attribute,entity,entity_version,cdm_attribute"
_LOOK_SECONDS = 1.0
_TASK_SECONDS = 240.0


class Project:
    """One project.

    Args:
        path: its file.
        database: the address of the database; its password is in the environment.
        tables: those that are mapped.
    """

    def __init__(self, path: Path, database: str, tables: Iterable[Table]) -> None:
        self.path = path
        self.database = database
        self.tables = {table.name: table for table in tables}

    @property
    def entities(self) -> tuple[str, ...]:
        """What the rows become."""
        return tuple(sorted({table.entity for table in self.tables.values()}))

    def make(self) -> int:
        """Import the tables, make entities of their columns, map everything, and publish; returns the state."""
        with Workbench.create(self.path, who="Ada") as workbench:
            found = import_sources(
                workbench, Side.EXTRACTION, [self.database], choice=ImportFilter(tuple(self.tables), PREFIX)
            )
            _need(found, len(self.tables))
            for entity in self.entities:
                workbench.do(AddVersion(Side.CDM, self._declared(workbench, entity)))
            rows = [
                f"{table.topic},1,{column},{table.entity},1,{attribute}"
                for table in self.tables.values()
                for column, attribute in table.attributes.items()
            ]
            self._map(workbench, rows)
            confirm_unconfirmed(workbench, "Looked through")
            return publish(workbench, name="As the soak began").state

    def meet(self, release: Release) -> int:
        """Import what a release made of its table from the catalogue, decide, and publish; returns the state."""
        with Workbench.open(self.path) as workbench:
            found = import_sources(
                workbench, Side.EXTRACTION, [self.database], choice=ImportFilter((release.table,), PREFIX)
            )
            return self._decided(workbench, release, found)

    def meet_task(self, release: Release, errors: str, run_id: str) -> int:
        """Add the version that stands on the review list, decide, and publish; returns the state.

        Args:
            release: what made it.
            errors: the error topic.
            run_id: the run that writes it.

        Raises:
            ProjectError: no task shows.
        """
        end, topic = time.monotonic() + _TASK_SECONDS, self.tables[release.table].topic
        while time.monotonic() < end:
            with Workbench.open(self.path, for_editing=False) as workbench:
                with contextlib.suppress(RunError):  # the broker may just be away
                    collect_tasks(workbench, errors, run_id)
                task = next((one for one in version_tasks(workbench) if one.schema == topic), None)
            if task is not None:
                with Workbench.open(self.path) as workbench:
                    return self._decided(workbench, release, accept_task(workbench, task.id))
            time.sleep(_LOOK_SECONDS)
        raise ProjectError(f"No version task for {topic} shows.")

    def _decided(self, workbench: Workbench, release: Release, found: ImportResult) -> int:
        _need(found, 1)
        table = self.tables[release.table]
        for item in review_list(workbench.document).items:
            if release.kind == "rename" and release.before in _lost(item):
                rename(workbench, str(item.block), [f"{release.before}={release.after}"], "As the release says")
        for item in review_list(workbench.document).items:
            accept_losses(workbench, str(item.block), _lost(item), "As the release says")
        if release.kind == "add":
            version = found.added[0].version
            self._map(workbench, [f"{table.topic},{version},{release.after},{table.entity},1,{release.attribute}"])
        left = review_list(workbench.document).items
        if left:
            raise ProjectError("A decision is left.", f"{left[0].block}: {left[0].verdict}, lost {left[0].lost}")
        confirm_unconfirmed(workbench, "As the release says")
        return publish(workbench, name=release.says).state

    def _declared(self, workbench: Workbench, entity: str) -> VersionDeclaration:
        """Declare an entity by the columns of its first table, with attributes to spare."""
        table = next(one for one in self.tables.values() if one.entity == entity)
        schema = workbench.document.extraction.named(table.topic)
        if schema is None:
            raise ProjectError(f"{table.topic} is not there.")
        columns = {one.path: one for one in workbench.document.extraction.version(schema.version_ids[-1]).attributes}
        own = tuple(
            AttributeDeclaration(attribute, one.type, one.logical, one.scale, optional=attribute != "id")
            for attribute, one in ((told, columns[name]) for name, told in table.attributes.items())
        )
        spare = tuple(AttributeDeclaration(f"extra_{number}", "string") for number in range(1, SPARES + 1))
        return VersionDeclaration(entity, (*own, *spare), "1", key=("id",))

    def _map(self, workbench: Workbench, rows: list[str]) -> None:
        path = self.path.with_suffix(".csv")
        path.write_text("\n".join((_HEAD, *rows)) + "\n")
        done = import_mapping(workbench, path, MapMode.ADD)
        if done.conflicts:
            raise ProjectError(
                "The mapping does not fit.", f"Line {done.conflicts[0].line}: {done.conflicts[0].reason}"
            )


def _lost(item: ReviewEntry) -> list[str]:
    return [one.element.from_path for one in item.lost]


def _need(found: ImportResult, count: int) -> None:
    if len(found.added) != count:
        raise ProjectError(f"{count} new versions were expected, {len(found.added)} came.", f"{found.refused}")
