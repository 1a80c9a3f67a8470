"""What schemas that are not live yet would do to the warehouse models of a project, by names.

Source: docs/guide/change.md, "Before it is deployed".
"""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.core.dimensional.models.schema_effects import WarehouseEffect, effect_words, warehouse_effects
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.workbench.json_results import JsonResult


class BrokenPart(JsonResult):
    """A part of a table that would not be what it is.

    Args:
        model, table: by name.
        part: as what an attribute is used: key, column, measure, reference, time, ...
        name: of the column or the role.
        entity, attribute: which attribute.
        effect: what becomes of it: last-source, source, source-type, type.
        schemas: those that change; none where the entity does.
        before, after: types; empty where a source is lost.
        breaks_table: no more rows of the table would be made.
        words: what follows, for people.
    """

    model: str
    table: str
    part: str
    name: str
    entity: str
    attribute: str
    effect: str
    schemas: tuple[str, ...]
    before: str
    after: str
    breaks_table: bool
    words: str

    @property
    def place(self) -> str:
        """Where it is, as checks write it."""
        return f"{self.model}: {self.table}.{self.name}"


def broken_parts(before: Document, after: Document) -> tuple[BrokenPart, ...]:
    """Return what of the warehouse models of a document would break if it became another one."""
    if not before.models:
        return ()
    # Reads SQL, and few projects have a model.
    from metl_gui.formats.row_expressions import named_attributes

    effects = warehouse_effects(before, after, named_attributes)
    return tuple(_named(effect) for effect in effects)


def _named(effect: WarehouseEffect) -> BrokenPart:
    use = effect.use
    return BrokenPart(
        effect.model,
        use.table,
        use.part.value,
        use.name,
        use.entity,
        use.path,
        effect.kind.value,
        effect.schemas,
        effect.before,
        effect.after,
        effect.breaks_table,
        effect_words(effect),
    )


def warehouse_problems(parts: Sequence[BrokenPart]) -> list[Problem]:
    """Return what would break as a check would say it."""
    found = []
    for one in parts:
        severity = Severity.ERROR if one.breaks_table else Severity.WARNING
        code = "trial.warehouse-key" if one.part == "key" else "trial.warehouse-column"
        hint = "Map what takes its place before it is live, or change the table."
        found.append(Problem(severity, code, one.place, one.words, hint))
    return found
