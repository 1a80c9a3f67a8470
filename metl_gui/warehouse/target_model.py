"""Whose a target is and by which model it was made: kept in it, and held against each load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.models.model_changes import DeclarationChange, change_words, model_changes
from metl_gui.core.dimensional.models.wider_types import widened_entities
from metl_gui.core.warehouse_model import Model
from metl_gui.warehouse.attribute_changes import (
    FollowedAttributes,
    fit_tables,
    follow_attributes,
    remember,
    remember_tables,
)
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.plans.access_plan import declared
from metl_gui.warehouse.plans.dimensions.dimension_tables import members_table, versions_table
from metl_gui.warehouse.plans.facts.junk_plan import combinations_table
from metl_gui.warehouse.plans.load_plan import create_own, create_tables, drop_tables
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, TableShapes
from metl_gui.warehouse.plans.statements import Step, name
from metl_gui.warehouse.target_masks import check_masks, remember_masks

FORMAT = 1
"""Of what stands in a target beside the tables of the model."""


_WIDENED = "widened"


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Whose a target is, fixed by its first load.

    Args:
        project: id of the project.
        mode: ``test`` or ``production``: it takes runs of one kind alone.
        format: see ``FORMAT``.
    """

    project: str
    mode: str
    format: int = FORMAT


def check_loaded(target: WarehouseTarget) -> None:
    """Refuse a target that no load made: a name that is mistyped is none of a warehouse.

    Raises:
        TargetError: it is so.
    """
    if not target.has_table("metl_loads"):
        text = f"{target.title} has no ledger of loads."
        raise TargetError("Nothing was loaded into this target yet", text, "Look at its name, or load it first.")


def check_declared(target: WarehouseTarget, shapes: TableShapes, shape: DimensionShape | FactShape) -> None:
    """Refuse a table that the target holds by another declaration than the model has now.

    A column of what is masked by now is missed in what is told, and no other declaration.

    Raises:
        TargetError: its rows are not those that would be told of.
    """
    ((stored,),) = target.rows("SELECT value FROM metl_target WHERE name = 'model'")
    made_by = msgspec.json.decode(stored, type=Model)
    history = shapes.histories[shape.entity]
    changes = tuple(
        one
        for one in model_changes(made_by, shapes.model)
        if one.table == shape.table and not _is_left_out(one, history)
    )
    if changes and widened_entities(made_by, shapes.model) is None:
        raise _other_model(target, made_by, changes)


def _is_left_out(change: DeclarationChange, history: EntityHistory) -> bool:
    """Return whether a column is gone because the history has its attribute no more."""
    before = change.before if change.after is None else None
    return isinstance(before, dict) and "from" in before and history.at_path(before["from"]) is None


def _other_model(target: WarehouseTarget, made_by: Model, changes: tuple[DeclarationChange, ...]) -> TargetError:
    """Return the error that a target was made by another state of its model."""
    made = f"{target.title} was made by another state of the warehouse model {made_by.name}"
    hint = "Run “metl warehouse rebuild” first, or undo what was changed."
    return TargetError("The model has changed", f"{made}: {change_words(changes)}.", hint)


def widened_before(target: WarehouseTarget) -> frozenset[str]:
    """Return the entities whose tables got wider columns since what was set aside of them was taken up last."""
    found = target.rows("SELECT value FROM metl_target WHERE name = ?", [_WIDENED])
    return frozenset(msgspec.json.decode(found[0][0], type=list[str])) if found else frozenset()


def remember_widened(target: WarehouseTarget, entities: Iterable[str]) -> None:
    """Keep of which entities what was set aside is to be taken up by the next load."""
    remember(target, _WIDENED, msgspec.json.encode(sorted(entities)).decode())


class TargetModel:
    """The tables of a model in a target.

    Args:
        target: within a transaction.
        shapes: the tables of the model.
        owner: whose the target must be.
        steps: runs steps.
    """

    def __init__(
        self, target: WarehouseTarget, shapes: TableShapes, owner: Owner, steps: Callable[[Iterable[Step]], object]
    ) -> None:
        self.target, self.shapes, self.owner, self.steps = target, shapes, owner, steps

    def prepare(self) -> Mapping[str, FollowedAttributes]:
        """Make what is missing in the target, and return what became of the attributes of its entities.

        Raises:
            TargetError: it is somebody else's, or made by another model.
        """
        if not self.target.has_table("metl_loads"):
            self.steps([*create_own(), *create_tables(self.shapes)])
            self._remember()
            # Which makes the histories, too.
            return follow_attributes(self.target, self.shapes.histories.values(), {})
        known, model = self._known(is_rebuilt=False)
        widened = widened_entities(model, self.shapes.model)
        if widened is None:
            raise _other_model(self.target, model, model_changes(model, self.shapes.model))
        followed = follow_attributes(self.target, self.shapes.histories.values(), known)
        fit_tables(self.target, self.shapes, known, followed)
        if widened:
            self._remember()
            remember_widened(self.target, widened | widened_before(self.target))
        return followed

    def remake(self) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Make the tables of the model anew and empty.

        Returns:
            What people had added to those of before, and the views that they had made of them.

        Raises:
            TargetError: the target is somebody else's.
        """
        known, model = self._known(is_rebuilt=True)
        follow_attributes(self.target, self.shapes.histories.values(), known)
        additions = self.target.additions(declared(model))
        renamed = self._renamed()
        before = {
            one.table: list(self.target.columns(renamed.get(one.table, one.table))) for one in self.shapes.dimensions
        }
        views = self.target.set_views_aside(declared(model))
        self.steps(drop_tables(model))
        self._rename_keys(renamed)
        self._forget_other_keys(before)
        self.steps(create_tables(self.shapes))
        self._remember()
        if widened_before(self.target):
            remember_widened(self.target, ())  # a rebuild takes up whatever fits
        return additions, views

    def _known(self, *, is_rebuilt: bool) -> tuple[dict[str, str], Model]:
        """Return what the target remembers, and the model by which it was made, once it is found to be ours."""
        known = dict(self.target.rows("SELECT name, value FROM metl_target"))
        self._check_owner(known)
        check_masks(self.target, self.shapes, known, is_rebuilt=is_rebuilt)
        return known, msgspec.json.decode(known["model"], type=Model)

    def _renamed(self) -> dict[str, str]:
        """Return what numbered tables were called that have other capitals now, by the name that they have.

        A file takes both for one name, so that the keys that were given stand there already.
        """
        known = [table for (table,) in self.target.rows("SELECT dimension FROM metl_numbers")]
        numbered = [one.table for one in self.shapes.dimensions]
        numbered += [junk.table for fact in self.shapes.facts for junk in fact.junk]
        before = {one.lower(): one for one in known}
        return {one: before[one.lower()] for one in numbered if one not in known and one.lower() in before}

    def _rename_keys(self, renamed: Mapping[str, str]) -> None:
        """Let tables that have other capitals now go on with the keys and the numbers that they had.

        Args:
            renamed: see ``_renamed``.
        """
        for now, before in renamed.items():
            for kept in (members_table, versions_table, combinations_table):
                if self.target.has_table(kept(before)):
                    moved = f"ALTER TABLE {name(kept(before))} RENAME TO {name(kept(now))}"
                    self.steps([Step(f"Keep the keys of {now}", moved)])
            self.target.run("UPDATE metl_numbers SET dimension = ? WHERE dimension = ?", [now, before])

    def _forget_other_keys(self, before: Mapping[str, Sequence[str]]) -> None:
        """Drop the keys of business keys that have other columns now; their numbers are not given again.

        Args:
            before: the columns that the dimensions had.
        """
        for shape in self.shapes.dimensions:
            columns = self.target.columns(table := members_table(shape.table))
            known = [type_.replace(" ", "") for column, type_ in columns.items() if column != "durable_key"]
            # The business key stands behind the two keys of a dimension.
            named = before[shape.table][2 : 2 + len(known)]
            is_other = bool(named) and named != [part.name for part in shape.key]
            if known and (is_other or known != [part.type.replace(" ", "") for part in shape.key]):
                for name_ in (table, versions_table(shape.table)):
                    self.target.run(f"DROP TABLE {name(name_)}")

    def _remember(self) -> None:
        values = msgspec.to_builtins(self.owner) | {"model": msgspec.json.encode(self.shapes.model).decode()}
        for key, value in values.items():
            remember(self.target, key, str(value))
        remember_tables(self.target, self.shapes)
        remember_masks(self.target, self.shapes)

    def _check_owner(self, known: dict[str, str]) -> None:
        if int(known["format"]) > FORMAT:
            text = f"{self.target.title} has format {known['format']}; this program knows up to {FORMAT}."
            raise TargetError("A newer program made this warehouse", text, "Use that program, or another target.")
        if known["project"] != self.owner.project:
            text = f"{self.target.title} is fed by another project."
            raise TargetError("This warehouse is another project's", text, "Name another target.")
        if known["mode"] != self.owner.mode:
            text = f"{self.target.title} takes {known['mode']} runs, as its first load was one."
            raise TargetError("A target takes test runs or production runs", text, "Name another target.")
