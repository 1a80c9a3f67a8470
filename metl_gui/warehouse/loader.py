"""Load staged messages into a target: one transaction, after which every table is the function of the histories."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.load_report import LoadReport, TableCounts, check_balance
from metl_gui.core.dimensional.loads.read_progress import ReadProgress
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.dimensional.models.grants import granted_roles
from metl_gui.core.dimensional.rows.epochs import head
from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.warehouse.compaction import compacted_before
from metl_gui.warehouse.coverage import cover
from metl_gui.warehouse.databases.target import CommitUnknownError, TargetError, WarehouseTarget
from metl_gui.warehouse.epochs import check_falls, prepare_spans
from metl_gui.warehouse.forgotten_keys import ForgottenKeys, Secret
from metl_gui.warehouse.load_memory import broken_before, remember_broken, remember_rate
from metl_gui.warehouse.part_check import check_bytes, check_rows
from metl_gui.warehouse.plans.access_plan import declared
from metl_gui.warehouse.plans.declared_tests import declared_rules
from metl_gui.warehouse.plans.dimensions.dimension_plan import again_for_parents
from metl_gui.warehouse.plans.dimensions.dimension_tables import closed_table
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables
from metl_gui.warehouse.plans.facts.missed_plan import again_table, nothing_again, waiting_query
from metl_gui.warehouse.plans.facts.periods import watermark_plan
from metl_gui.warehouse.plans.histories.arrivals import (
    Batch,
    all_touched,
    arrival_plan,
    carried_query,
    contents_query,
    doubled_query,
    is_empty_query,
    lacking_columns,
    linked_rows_query,
    may_be_known_query,
    none_touched,
    once_plan,
    partial_columns,
    repeated_query,
    set_aside_plan,
    set_aside_table,
    staged_columns,
    staged_table,
    touch_linked,
    truncated_query,
)
from metl_gui.warehouse.plans.histories.compact_plan import TOO_LATE, folded_step, late_plan
from metl_gui.warehouse.plans.histories.count_plan import ambiguous_query, keyless_query
from metl_gui.warehouse.plans.histories.epoch_plan import epoch_statement, falls_plan
from metl_gui.warehouse.plans.histories.history_tables import (
    OWN_COLUMNS,
    history_table,
    list_absent_again,
    sql_type,
)
from metl_gui.warehouse.plans.histories.log_plan import LOGS, relog_plan
from metl_gui.warehouse.plans.histories.replay_plan import may_be_void_query, may_void_query, void_query
from metl_gui.warehouse.plans.histories.snapshot_plan import absent_plan
from metl_gui.warehouse.plans.histories.state_plan import Contents, StateTables, find_messages
from metl_gui.warehouse.plans.index_plan import indexes
from metl_gui.warehouse.plans.load_plan import (
    facts_plan,
    members_came,
    no_members,
    one_dimension,
    states_of,
    wider,
)
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, MemberShape, TableShapes
from metl_gui.warehouse.plans.statements import Step, name, names, temporary, text
from metl_gui.warehouse.read_progress import keep_progress
from metl_gui.warehouse.target_model import Owner, TargetModel, check_loaded, remember_widened, widened_before

REBUILD = "rebuilt"
"""The batch of messages that a rebuild sets aside, or takes up."""

NOTHING = Coverage()
"""What a load covers whose source is not known as a whole."""

OnStep: TypeAlias = Callable[[Step, int], None]
"""Told of each step that was done and the rows it changed; raises to cancel."""


def _unheard(_step: Step, _rows: int) -> None:
    """Take no notice."""


def load_parts(
    target: WarehouseTarget,
    shapes: TableShapes,
    parts: Iterable[StagedPart],
    load: str,
    owner: Owner,
    on_step: OnStep = _unheard,
    coverage: Coverage = NOTHING,
) -> LoadReport:
    """Load staged parts, or say what the load did when it was done before.

    Args:
        target: open for writing.
        shapes: the tables of the model.
        parts: staged.
        load: names the load; done again under its name it changes nothing.
        owner: whose the target must be.
        on_step: called between steps.
        coverage: what of its source was read whole.

    Raises:
        TargetError: the target refused something, or is somebody else's; nothing of the load is kept.
    """
    return Loader(target, shapes, owner, on_step).load(tuple(parts), load, coverage)


class Loader:
    """Brings the tables of a target up to date.

    Args:
        target: open for writing.
        shapes: the tables of the model.
        owner: whose the target must be.
        on_step: called between steps.
        secret: of the target, by which forgotten keys are told.
    """

    def __init__(
        self,
        target: WarehouseTarget,
        shapes: TableShapes,
        owner: Owner,
        on_step: OnStep = _unheard,
        secret: Secret | None = None,
    ) -> None:
        self.target, self.shapes, self.owner, self.on_step = target, shapes, owner, on_step
        self.forgotten = ForgottenKeys(target, secret)
        self._batches: dict[str, Batch] = {}
        self._repeating: set[str] = set()
        self._once: set[str] = set()
        self._stated: set[str] = set()
        self._new: set[str] = set()
        self._resting: set[str] = set()
        self._made: dict[str, int] = {}
        self._unknown: dict[str, tuple[str, ...]] = {}
        self._has_epochs = self._is_ordered = False
        self._compacted: datetime | None = None
        self.report = LoadReport(load="")
        self._additions: tuple[str, ...] = ()
        self._views: tuple[tuple[str, str], ...] = ()

    def load(
        self,
        parts: Sequence[StagedPart],
        load: str,
        coverage: Coverage = NOTHING,
        *,
        progress: ReadProgress | None = None,
    ) -> LoadReport:
        """Load staged parts; see ``load_parts``.

        Args:
            parts: staged.
            load: its name.
            coverage: as of ``load_parts``.
            progress: of a source that is followed: the load to go on from, and how far this one gets.

        Raises:
            OvertakenError: another loader has gone on with that source.
        """
        wanted = indexes(self.shapes)
        try:
            with self.target.transaction():
                self._load(parts, load, coverage, progress)
                self.target.index(wanted)
                self.target.grant(declared(self.shapes.model).grants)
        except CommitUnknownError:
            self._look_up(load)
        return self.report

    def _look_up(self, load: str) -> None:
        """Find out whether a load stands whose commit got no answer.

        Raises:
            CommitUnknownError: it does not, or the target does not answer.
        """
        title = "The connection was lost at the end of a load"
        try:
            self.target.reopen()
            known = self._known(load) if self.target.has_table("metl_loads") else None
        except TargetError as error:
            text = f"{self.target.title} cannot be asked whether it kept it: {error}"
            raise CommitUnknownError(title, text, "Load again: what was kept is not loaded twice.") from error
        if known is None:
            raise CommitUnknownError(
                title, f"{self.target.title} was asked again, and kept nothing of it.", "Load again."
            )
        self.report = msgspec.structs.replace(known, is_repeated=False)

    def planned(self, parts: Sequence[StagedPart], load: str, coverage: Coverage = NOTHING) -> LoadReport:
        """Return what a load of staged parts would do; nothing is kept."""
        try:
            with self.target.transaction():
                self._load(parts, load, coverage)
                raise _LookedAtError
        except _LookedAtError:
            return self.report

    def _load(
        self, parts: Sequence[StagedPart], load: str, coverage: Coverage, progress: ReadProgress | None = None
    ) -> None:
        self.target.check_roles(granted_roles(self.shapes.model))
        self._open()
        known = self._known(load)
        if known is not None:
            self.report = known
            return
        with self._entry(load):
            if progress is not None:
                keep_progress(self.target, load, progress)
            self._is_ordered = coverage.is_ordered
            check_bytes(parts)
            is_replay = cover(self.target, coverage)
            widened = self._take_up_widened()
            for entity in self.shapes.histories:
                self._append(entity, [one for one in parts if one.entity == entity], load, is_replay=is_replay)
            self._steps(map(all_touched, widened))
            self._derive()
            self._count_oddities(load)

    @contextmanager
    def _entry(self, load: str) -> Iterator[None]:
        """Enter a load into the ledger before anything else, and at the end what it did."""
        self.report = LoadReport(load=load)
        self.target.run("INSERT INTO metl_loads VALUES (?, ?, NULL)", [load, datetime.now(UTC)])
        began = time.monotonic()
        yield
        remember_rate(self.target, self.report.tables.values(), time.monotonic() - began)
        self._test()
        check_balance(self.report)
        text = msgspec.json.encode(self.report).decode()
        self.target.run("UPDATE metl_loads SET report = ? WHERE load = ?", [text, load])

    def _test(self) -> None:
        """Count the rows that break declared tests; what comes in stays in.

        Looked at are tables that the load changed, and what was broken before it: nothing else can be broken now.
        """
        broken = broken_before(self.target)
        changed = {table for table, one in self.report.tables.items() if one.inserted or one.updated or one.removed}
        for rule in declared_rules(self.shapes):
            test = f"{rule.table}: {rule.rule}"
            if test in broken or changed.intersection((rule.table, rule.other)):
                rows = self.target.rows(rule.count)[0][0]
                self.report.tests |= {test: rows} if rows else {}
        if broken != set(self.report.tests):
            remember_broken(self.target, self.report.tests)

    def rebuild(self) -> LoadReport:
        """Make all tables of the model anew from the histories; keys that were given stay."""
        check_loaded(self.target)
        with self.target.transaction():
            self.target.check_roles(granted_roles(self.shapes.model))
            self._open(is_rebuilt=True)
            began = time.monotonic()
            for entity in self.shapes.histories:
                self._set_aside_anew(entity)
                self._take_up(entity)
                self._steps([*relog_plan(entity), all_touched(entity)])
            self._derive()
            remember_rate(self.target, self.report.tables.values(), time.monotonic() - began)
            self._test()
            self.target.index(indexes(self.shapes))
            self.target.grant(declared(self.shapes.model).grants)
            self.target.add_again(self._additions)
            self.target.make_views(self._views)
        return self.report

    def close_snapshot(self, schema: str) -> LoadReport:
        """Delete the rows of a schema that its last snapshot does not have; done again it changes nothing."""
        check_loaded(self.target)
        load = f"closed snapshot of {schema}, {datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"
        with self.target.transaction():
            self._open()
            with self._entry(load):
                for history in self.shapes.histories.values():
                    self._steps(absent_plan(history, schema, load))
                self.report.messages = self.report.appended
                self._derive()
        return self.report

    def recomputed(self) -> LoadReport:
        """Return what making every row anew would change, which is nothing where all is right; nothing is kept."""
        try:
            with self.target.transaction():
                self._open()
                for entity in self.shapes.histories:
                    self._steps([all_touched(entity)])
                self._derive(is_whole=True)
                raise _LookedAtError
        except _LookedAtError:
            return self.report

    def _open(self, *, is_rebuilt: bool = False) -> None:
        """Make what is missing in the target, and refuse one that is somebody else's or made by another model."""
        made = TargetModel(self.target, self.shapes, self.owner, self._steps)
        self._once.clear()
        if is_rebuilt:
            self._additions, self._views = made.remake()
        else:
            self._unknown = {entity: one.unknown for entity, one in made.prepare().items()}
        self._has_epochs = prepare_spans(self.target)
        self._compacted = compacted_before(self.target)

    def _known(self, load: str) -> LoadReport | None:
        done = self.target.rows("SELECT report FROM metl_loads WHERE load = ?", [load])
        if not done:
            return None
        return msgspec.structs.replace(msgspec.json.decode(done[0][0], type=LoadReport), is_repeated=True)

    def _steps(self, steps: Iterable[Step]) -> int:
        """Do steps, and return how many rows they changed, or made tables of."""
        done = 0
        for given in steps:
            lacks_needed = bool(given.needs) and not self._made.get(given.needs, 1)
            step = given.without_needed() if lacks_needed else given
            if step is None:
                self._made[given.made] = 0
                continue
            rows = self.target.step(step)
            if step.made:
                self._made[step.made] = rows
            if step.table:
                self._count(step, rows)
            self.on_step(step, rows)
            done += rows
        return done

    def _count(self, step: Step, rows: int) -> None:
        if step.table.startswith("metl_history_"):
            self.report.appended += rows
        elif step.table.startswith("metl_set_aside_"):
            self.report.set_aside += rows
        elif not step.table.startswith("metl_"):
            counts = self.report.tables.setdefault(step.table, TableCounts())
            match step.does:
                case "insert":
                    counts.inserted += rows
                case "update":
                    counts.updated += rows
                case _:
                    counts.removed += rows

    def _append(self, entity: str, parts: Sequence[StagedPart], load: str, *, is_replay: bool) -> None:
        is_replay = is_replay and self._is(may_void_query(entity))
        if not parts and not is_replay:
            self._steps([none_touched(entity)])
            return
        history = self.shapes.histories[entity]
        staged = staged_table(entity)
        try:
            self.target.read_parts(staged, [one.path for one in parts], _part_columns(history), {"order_key": head(0)})
        except Exception:  # of a database, of Arrow, of the disk
            check_bytes(parts)  # one may be damaged since it was looked at
            raise
        if unknown := self._unknown.get(entity):
            # Messages of a state that was before these attributes do not carry them.
            own = {one.name: one.name for one in history.columns}
            self.target.run(list_absent_again(staged, own | dict.fromkeys(unknown, "")))
        if self._has_epochs:
            self.target.run(epoch_statement(staged))
        messages, before = self._number_of(staged), self.report.set_aside
        check_rows(parts, messages)
        forgotten = self.forgotten.leave_out(entity)
        if self._compacted is not None:
            self._steps(late_plan(history, load, self._compacted))
        self._steps(set_aside_plan(history, self._unfit(history), load))
        unfit = messages - forgotten - self._number_of(staged)
        has_repeats = self._is(repeated_query(entity))
        has_doubles = has_repeats and self._is(doubled_query(entity))
        if not has_repeats and self._is(is_empty_query(entity)):
            self._once.add(entity)
        is_new = not self._is(may_be_known_query(entity, staged))
        is_linked = self._is(linked_rows_query(entity))
        batch = Batch(entity, has_doubles=has_doubles, is_new=is_new, is_replay=is_replay, is_linked=is_linked)
        self._batches[entity] = batch
        self._steps(once_plan(history, batch))
        if self._is_ordered:
            self._steps(falls_plan(entity, batch.once, batch.falls, LOGS))
            check_falls(self.target, batch.falls, self.owner.mode)
        self._steps(arrival_plan(history, load, batch))
        self._steps(watermark_plan(batch))
        may_be_void = self._is(may_be_void_query(batch.came))
        void = int(self.target.rows(void_query(batch.came))[0][0]) if may_be_void else 0
        self.report.messages += messages
        self.report.appended -= void
        self.report.void += void + forgotten
        self.report.forgotten += forgotten
        self.report.repeated += self._repeated(batch) + unfit - (self.report.set_aside - before)

    def _repeated(self, batch: Batch) -> int:
        """Return how many messages of a batch stood in the history, or stand in the batch again."""
        doubled = self._number_of(staged_table(batch.entity)) - self._number_of(batch.once) if batch.has_doubles else 0
        return doubled + (0 if batch.is_new else self._number_of(batch.repeats))

    def _count_oddities(self, load: str) -> None:
        """Count, once all states are made, what a person should look into."""
        keyless: Counter[str] = Counter()
        ambiguous: Counter[str] = Counter()
        for entity, batch in self._batches.items():
            if entity in self._stated:
                keyless.update(dict(self._counted(keyless_query(batch, self.shapes.of_entity(entity)))))
            may_repeat = entity in self._repeating or entity not in self.shapes.entities
            if may_repeat and (batch.has_doubles or not batch.is_new):
                ambiguous.update(dict(self._counted(ambiguous_query(batch, load))))
        self.report.no_business_key, self.report.ambiguous_order = dict(keyless), dict(ambiguous)

    def _counted(self, query: str) -> list[tuple[str, int]]:
        return [(schema, int(number)) for schema, number in self.target.rows(query)]

    def _unfit(self, history: EntityHistory) -> dict[str, str]:
        """Return, by column, the conditions that the tables or the database cannot hold a message."""
        texts = [column.name for column in history.columns if sql_type(column.type) == "VARCHAR"]
        return {**self.target.unfit(texts), **self.shapes.conversions(history.entity)}

    def _set_aside_anew(self, entity: str) -> None:
        """Set aside what an earlier model could hold and this one cannot."""
        history = self.shapes.histories[entity]
        self._steps(set_aside_plan(history, self._unfit(history), REBUILD, history_table(entity)))

    def _take_up_widened(self) -> list[str]:
        """Take up what was set aside and fits columns that are wider now; return the entities of which there was any.

        The load that brought these messages has counted them.
        """
        widened, taken, appended = widened_before(self.target), [], self.report.appended
        for entity in sorted(widened):
            self._take_up(entity)
            if self._number_of(staged_table(entity)):
                taken.append(entity)
        self.report.appended = appended
        if widened:
            remember_widened(self.target, ())
        return taken

    def _take_up(self, entity: str) -> None:
        """Take what was set aside and fits now into the history, as if it had just come."""
        history, aside = self.shapes.histories[entity], name(set_aside_table(entity))
        if self._compacted is not None:
            self._steps([folded_step(entity)])
        # What came too late stays where it is.
        unfit = " OR ".join([f'"_column" = {text(TOO_LATE)}', *self._unfit(history).values()])
        fits = f"NOT COALESCE({unfit}, FALSE)"
        query = f"SELECT {names(staged_columns(history))} FROM {aside} WHERE {fits}"
        self._steps([temporary(staged_table(entity), query, f"Take up messages of {entity} that fit now")])
        self.target.run(f"DELETE FROM {aside} WHERE {fits}")
        batch = Batch(entity)
        self._steps([*once_plan(history, batch), *arrival_plan(history, REBUILD, batch), *watermark_plan(batch)])

    def _derive(self, *, is_whole: bool = False) -> None:
        """Make the rows of touched keys anew; tables of which no row is touched cost next to nothing.

        Args:
            is_whole: look at what refers to members that did not change too.
        """
        self._stated.clear()
        self._new.clear()
        self._resting.clear()
        self._made.clear()
        self._steps(nothing_again(shape) for shape in self.shapes.revisited)
        # What hangs below members that cascade is looked for among those that change, be it none.
        looked_at = {one.entity for one in self.shapes.dimensions if one.inner_cascades}
        for entity in self.shapes.entities:
            if is_whole or entity in looked_at or self._number_of(StateTables(entity).touched):
                self._states(entity)
        done: set[str] = set()
        for dimension in self.shapes.dimensions:
            self._steps(again_for_parents(dimension))
            if dimension.cascades and self._number_of(again_table(dimension.table)):
                self._states(dimension.entity, done)
            if dimension.entity in self._stated:
                are_new = dimension.entity in self._new
                self._steps(one_dimension(self.shapes, dimension, is_whole=is_whole, are_new=are_new))
            else:
                self._resting.add(dimension.table)
                self._steps([no_members(dimension)])
            done.add(dimension.table)
        for fact in self.shapes.missing:
            self._steps(members_came(self.shapes, fact))
            if self._number_of(again_table(fact.table)):
                self._states(fact.entity, done)
        self._resting.update(one.table for one in self.shapes.facts if one.entity not in self._stated)
        self._steps(facts_plan(self.shapes, self._resting, self._new))
        self.report.waiting = int(self.target.rows(waiting_query(self.shapes.facts))[0][0])
        links = [one.links.table for one in self.shapes.pair_bridges]
        for shape in (*self.shapes.dimensions, *self.shapes.facts):
            if shape.table not in links:
                self._count_keys(shape)

    def _count_keys(self, shape: MemberShape) -> None:
        """Count how many of the affected keys of a table changed."""
        counts = self.report.tables.setdefault(shape.table, TableCounts())
        if shape.table in self._resting:
            return
        affected = self._number_of(MemberTables(shape.table).affected)
        if isinstance(shape, DimensionShape):
            counts.closed += self._number_of(closed_table(shape.table))
            changed = self._number_of(f"_members_{shape.table}")
        else:
            changed = sum(self._number_of(f"_{what}_{shape.table}") for what in ("gone", "changed", "new"))
        self.report.keys.changed += min(changed, affected)
        self.report.keys.same += max(affected - changed, 0)

    def _states(self, entity: str, done: Collection[str] = ()) -> None:
        stated, is_wider = self.shapes.stated[entity], True
        if entity not in self._stated:
            self._new.add(entity)
        self._stated.add(entity)
        while is_wider:
            # Rows that share a key with touched ones are taken in once, and bring no further keys.
            self._steps([find_messages(stated)])
            are_new = entity in self._new
            self._steps(states_of(self.shapes, entity, self._contents(stated), done, are_new=are_new))
            is_wider = self._steps(wider(self.shapes, entity, done)) > 0
            if is_wider:
                self._new.discard(entity)
                self._steps([touch_linked(entity)])

    def _contents(self, history: EntityHistory) -> Contents:
        entity, columns = history.entity, [one.name for one in history.columns]
        carried = [(schema, absent or ()) for schema, absent in self.target.rows(carried_query(entity))]
        may_be_void = self._is(may_be_void_query(StateTables(entity).messages))
        is_truncated, are_once = self._is(truncated_query(entity)), entity in self._once
        query = contents_query(entity, are_once=are_once, may_be_void=may_be_void, is_truncated=is_truncated)
        flags = map(bool, self.target.rows(query)[0])
        contents = Contents(lacking_columns(columns, carried), partial_columns(columns, carried), *flags)
        if contents.has_repeats:
            self._repeating.add(entity)
        return contents

    def _is(self, query: str) -> bool:
        """Return what a query says that has one truth value."""
        return bool(self.target.rows(query)[0][0])

    def _number_of(self, table: str, where: str = "") -> int:
        return int(self.target.rows(f"SELECT COUNT(*) FROM {name(table)}{where}")[0][0])


class _LookedAtError(Exception):
    """Ends a transaction of which nothing is to be kept."""


def _part_columns(history: EntityHistory) -> list[tuple[str, str]]:
    own = [(column, type_) for column, type_ in OWN_COLUMNS if column != "batch"]
    return [*own, *((column.name, sql_type(column.type)) for column in history.columns)]
