"""What a target is told that no message says: keys to forget, epochs of logs, and up to when to keep single messages.

Each of them is entered into the ledger as a load is, and makes the rows anew that it touches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.messages import Position
from metl_gui.warehouse.attribute_changes import kept_entities
from metl_gui.warehouse.compaction import keep_compacted
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.epochs import keep_starts, prepare_spans
from metl_gui.warehouse.forgotten_keys import Purge
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.plans.dimensions.dimension_tables import members_table, versions_table
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables
from metl_gui.warehouse.plans.facts.junk_plan import combinations_table, purge_combinations
from metl_gui.warehouse.plans.facts.missed_plan import missed_table, missing_references
from metl_gui.warehouse.plans.histories.arrivals import Batch, all_touched, none_touched, set_aside_table, touch_step
from metl_gui.warehouse.plans.histories.compact_plan import compact_plan
from metl_gui.warehouse.plans.histories.epoch_plan import epoch_statement, misplaced_step
from metl_gui.warehouse.plans.histories.forget_plan import (
    create_gone,
    gone_statement,
    gone_table,
    linked_query,
    no_affected,
    purge_numbers,
    set_aside_keys_query,
)
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.histories.log_plan import relog_plan
from metl_gui.warehouse.plans.histories.state_plan import find_messages, state_plan
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape
from metl_gui.warehouse.plans.statements import name
from metl_gui.warehouse.target_model import check_loaded


class TargetInputs(Loader):
    """Tells a target what no message says."""

    def forget(self, entity: str, row_key: str) -> Purge:
        """Take a key of source rows out of the target; its messages up to now are left out when they come again.

        Raises:
            TargetError: no message has the key, or the secret is missing or another.
        """
        check_loaded(self.target)
        history = self.shapes.histories.get(entity)
        load = f"forgot a key of {entity}, {datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"
        if history is None:
            return self._forget_of_left(entity, row_key, load)
        with self.target.transaction():
            self._open()
            with self._entry(load):
                self.forgotten.remember(entity, row_key)
                self._steps([create_gone(entity)])
                self.target.run(gone_statement(entity), [row_key, row_key])
                self._steps([touch_step(history, gone_table(entity))])
                linked = tuple(key for (key,) in self.target.rows(linked_query(entity), [row_key]))
                left = {one: self._set_aside_keys(one, row_key) for one in self._dimensions_of(entity)}
                purge = self.forgotten.purge(entity, row_key)
                self.report.purged = purge.messages + purge.set_aside
                self._steps([*relog_plan(entity), *map(none_touched, self.shapes.histories.keys() - {entity})])
                self._derive()
                for shape, keys in left.items():
                    self._affect(shape, keys)
                numbers = sum(self._purge_numbers(entity))
        return msgspec.structs.replace(purge, numbers=numbers, linked=linked)

    def _dimensions_of(self, entity: str) -> list[DimensionShape]:
        return [one for one in self.shapes.dimensions if one.entity == entity]

    def _set_aside_keys(self, shape: DimensionShape, row_key: str) -> list[tuple[Any, ...]]:
        """Return the business keys of messages that are set aside: before a rebuild did it, they had numbers."""
        rows = self.target.rows(set_aside_keys_query(shape), [row_key])
        return [key for key in rows if None not in key]

    def _affect(self, shape: DimensionShape, keys: Sequence[tuple[Any, ...]]) -> None:
        """Take business keys for affected, beside those of the rows that were touched, of which there may be none."""
        if shape.table in self._resting:
            self._steps([no_affected(shape)])
        for key in keys:
            places = ", ".join("?" for _ in key)
            self.target.run(f"INSERT INTO {name(MemberTables(shape.table).affected)} VALUES ({places})", list(key))

    def _forget_of_left(self, entity: str, row_key: str, load: str) -> Purge:
        """Take a key out of what is kept of an entity that the model has no more: no table follows from it."""
        with self.target.transaction():
            self._open()
            with self._entry(load):
                self.forgotten.remember(entity, row_key)
                purge = self.forgotten.purge(entity, row_key)
                self.report.purged = purge.messages + purge.set_aside
                self._steps(relog_plan(entity))
                numbers = sum(self._purge_left_over())
        return msgspec.structs.replace(purge, numbers=numbers)

    def begin_epoch(self, schema: str, positions: Sequence[Position], *, is_same: bool = False) -> int:
        """Say why the log of a schema went back, and return the epoch that begins; stored messages take it on.

        Args:
            schema: its name.
            positions: from which on, one a partition or file.
            is_same: old messages were sent again: their epoch goes on.

        Raises:
            TargetError: an answer is known from there on, or from behind there.
        """
        # Not only where something was loaded: the first load may be the one that asked.
        with self.target.transaction():
            self._open()
            with self._entry(f"epoch of {schema}, {datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"):
                epoch = keep_starts(self.target, schema, positions, is_same=is_same)
                prepare_spans(self.target)
                for history in self.shapes.histories.values():
                    came = Batch(history.entity).came
                    self._steps([misplaced_step(history, came)])
                    for table in (history_table(history.entity), set_aside_table(history.entity)):
                        self.target.run(epoch_statement(table))
                    self._steps([*relog_plan(history.entity), touch_step(history, came)])
                # What an entity brought that the model has no more is made anew when it comes back.
                for entity in kept_entities(self.target) - self.shapes.histories.keys():
                    for table in (history_table(entity), set_aside_table(entity)):
                        self.target.run(epoch_statement(table))
                    self._steps(relog_plan(entity))
                self._derive()
        return epoch

    def compact(self, before: datetime) -> LoadReport:
        """Make one state of what each row was before a time; older messages are set aside from then on.

        Args:
            before: the time; it never goes back.

        Raises:
            TargetError: the target was compacted up to a later time, or has attributes that the state has not.
        """
        check_loaded(self.target)
        load = f"compacted before {before:%Y-%m-%dT%H:%M:%S}, {datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"
        with self.target.transaction():
            self._open()
            self._check_knows_all()
            with self._entry(load):
                keep_compacted(self.target, before)
                for entity, history in self.shapes.histories.items():
                    self._steps([all_touched(entity)])
                    valid_at = self.shapes.valid_at.get(entity, "")
                    self._steps([find_messages(history)])
                    self._steps(state_plan(history, self._contents(history), valid_at, keeps_log=True))
                    messages = self._number_of(history_table(entity))
                    tables = self.shapes.of_entity(entity)
                    self._steps([*compact_plan(history, before, load, tables), *relog_plan(entity)])
                    self._steps([all_touched(entity)])
                    self.report.purged += messages - self._number_of(history_table(entity))
                self._derive()
        return self.report

    def _check_knows_all(self) -> None:
        """Refuse what would lose values of attributes that the state has not: the messages that carry them would go.

        Raises:
            TargetError: there are such.
        """
        unknown = [f"{column} of {entity}" for entity, columns in self._unknown.items() for column in columns]
        if unknown:
            text = f"{self.target.title} holds {', '.join(unknown)}, which this state of the project has not."
            hint = "Name the state that has them, or add them to it."
            raise TargetError("Values would be lost", text, hint)

    def _purge_numbers(self, entity: str) -> Iterator[int]:
        for shape in self.shapes.dimensions:
            versions, members = purge_numbers(shape, self._missed(shape.table))
            if shape.entity == entity:
                yield from (self.target.step(step) for step in (versions, members))
            elif shape.cascades and shape.table not in self._resting:
                # A version of a child is known by the message of the parent that opened it.
                yield self.target.step(versions)
        junk = (one for fact in self.shapes.facts if fact.entity == entity for one in fact.junk)
        yield from (self.target.step(purge_combinations(one)) for one in junk)
        yield from self._purge_left_over()

    def _purge_left_over(self) -> Iterator[int]:
        """Take out the numbers of tables that the model does not have any more: nothing says whose they are."""
        known = {one.table for one in self.shapes.dimensions}
        known |= {junk.table for fact in self.shapes.facts for junk in fact.junk}
        for (table,) in self.target.rows("SELECT dimension FROM metl_numbers"):
            for kept in (members_table(table), versions_table(table), combinations_table(table)):
                if table not in known and self.target.has_table(kept):
                    yield self.target.run(f"DELETE FROM {name(kept)}")

    def _missed(self, dimension: str) -> list[tuple[str, str]]:
        """Return where facts list what they miss of a dimension, and by which role."""
        found = ((fact, one) for fact in self.shapes.missing for one in missing_references(fact))
        return [(missed_table(fact.table), one.role) for fact, one in found if one.dimension == dimension]
