"""The parts of a business key or grain: their attributes, and the columns in which they stand in a target.

Source: docs/reference/warehouse-model.md, "Reference" and "What stands in the target".
"""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import Dimension, Fact
from metl_gui.values import Value

SCHEMA = "schema"
"""The column of a key that takes in the schema; references name that part so."""


class KeyPart(Value):
    """An attribute in a key.

    Args:
        path: as it is declared.
        name: of the column in the target.
        column: of the history; ``None`` where the entity has no such attribute.
    """

    path: str
    name: str
    column: HistoryColumn | None = None

    @property
    def paths(self) -> frozenset[str]:
        """Return all paths that the attribute has."""
        own = (self.column.path, *self.column.paths.values()) if self.column is not None else ()
        return frozenset((self.path, *own))


def key_parts(table: Dimension | Fact, history: EntityHistory | None) -> tuple[KeyPart, ...]:
    """Return the attributes of a key, without the schema; of a fact of each source row, none.

    A column of a dimension that holds a part as it is gives it its name, the last of several.

    Args:
        table: whose key it is.
        history: of its entity; ``None`` where there is none.
    """
    declared = table.business_key if isinstance(table, Dimension) else table.grain
    if declared == "row":
        return ()
    columns = table.columns if isinstance(table, Dimension) and table.columns != "all" else ()
    named = {column.path: column.name for column in columns if column.path and not column.type}
    found = []
    for path in declared or (history.key if history is not None else ()):
        part = KeyPart(path, split(path)[-1], history.at_path(path) if history is not None else None)
        names = [name for source, name in named.items() if source in part.paths]
        found.append(KeyPart(path, names[-1], part.column) if names else part)
    return tuple(found)


def parts_named(right: str, parts: Sequence[KeyPart]) -> tuple[KeyPart, ...]:
    """Return the parts of a key that the right side of a reference may mean: one, or it is none or ambiguous.

    It is the path of a part, else the name of its column, else the last name of its path.

    Args:
        right: as the reference has it.
        parts: of the key.
    """
    ways = (
        [part for part in parts if right in part.paths],
        [part for part in parts if right == part.name],
        [part for part in parts if split(right)[-1] == split(part.path)[-1]],
    )
    return tuple(next((found for found in ways if found), ()))
