"""The gold mapping of real schemas to warehouse tables, as documents to suggest in.

Source: ../shared/real-schemas/iglu-central. The 15 pairs of com.mailchimp/unsubscribe are not asked for, because the
registry itself shifted them by one; its table stays among the entities. Rows and columns are shuffled by a seed: the
file lists both sides in one order, which no warehouse promises.
"""

from __future__ import annotations

import csv
import dataclasses
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from msgspec.structs import replace

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.core.trees.schema_names import label_order
from metl_gui.registry.files import sources as folders
from tests.benchmarks.perturbed_names import SEED, perturb
from tests.helpers.shared import ROOT

FOLDER = ROOT / "real-schemas" / "iglu-central"
LEFT_OUT = ("com.mailchimp", "unsubscribe")
_TYPES = (("TIMESTAMP", "string"), ("VARCHAR", "string"), ("CHAR", "string"), ("BOOL", "boolean"), ("DATE", "string"))
_NUMBERS = ("INT", "SMALLINT", "BIGINT", "DECIMAL", "DOUBLE", "FLOAT", "REAL", "NUMERIC")

TableName = tuple[str, str, str]
"""Vendor, schema, model."""


@dataclass(frozen=True, slots=True)
class Table:
    """One schema with the warehouse table it feeds.

    Args:
        name: vendor, schema and model.
        sources: attributes of the schema, those that feed no column too.
        targets: columns of the table.
        pairs: column by attribute path.
    """

    name: TableName
    sources: tuple[AttributeDeclaration, ...]
    targets: tuple[AttributeDeclaration, ...]
    pairs: Mapping[str, str]

    @property
    def schema(self) -> str:
        """Name of the schema."""
        return f"{self.name[0]}/{self.name[1]}"

    @property
    def entity(self) -> str:
        """Name of the table, as the registry's own loader writes it."""
        return re.sub(r"[^a-z0-9]+", "_", "_".join(self.name).lower())

    @property
    def is_asked(self) -> bool:
        """Whether its pairs are right."""
        return self.name[:2] != LEFT_OUT


def is_there() -> bool:
    """Say whether the shared data lies beside the project."""
    return (FOLDER / "gold-mapping.csv").exists()


@cache
def tables() -> tuple[Table, ...]:
    """Read all tables of the gold mapping, with all attributes that the newest version of the schema declares."""
    rows: dict[TableName, list[dict[str, str]]] = defaultdict(list)
    with (FOLDER / "gold-mapping.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[row["vendor"], row["schema"], row["model"]].append(row)
    declared = _declared()
    return tuple(_table(name, found, declared.get(name, ())) for name, found in rows.items())


def perturbed(seed: int = SEED, *, is_heavy: bool = False) -> tuple[Table, ...]:
    """Spell the attributes of every schema as another team might have, with a light or a heavy hand."""
    found = []
    for table in tables():
        new = perturb(table.schema, [a.path for a in table.sources], seed, is_heavy=is_heavy)
        sources = tuple(replace(a, path=new[a.path], doc="") for a in table.sources)
        found.append(
            dataclasses.replace(
                table, sources=sources, pairs={new[path]: column for path, column in table.pairs.items()}
            )
        )
    return tuple(found)


def document_of(asked: Iterable[Table], has_names: bool = True) -> Document:
    """Put tables into one document: a schema and an entity each.

    Args:
        asked: the tables.
        has_names: give schemas and entities their names; else letters that say nothing.
    """
    edits = []
    for at, table in enumerate(asked):
        label = table.name[2]
        schema, entity = (f"{table.schema}#{label}", table.entity) if has_names else (_blank(at, 1), _blank(at, 2))
        edits.append(AddVersion(Side.EXTRACTION, VersionDeclaration(schema, table.sources, label)))
        edits.append(AddVersion(Side.CDM, VersionDeclaration(entity, table.targets, label)))
    return perform(Document(), CompositeEdit("Add the tables", tuple(edits))).after


def versions_of(document: Document, at: int) -> tuple[Version, Version]:
    """Return the two versions of the table at a place."""
    return document.extraction.version(at + 1), document.cdm.version(at + 1)


def _blank(at: int, side: int) -> str:
    letters = random.Random(f"{SEED} {at} {side}")
    return "".join(letters.choice("bcdfghjklmnpqrstvwxz") for _ in range(9))


def _declared() -> dict[TableName, tuple[AttributeDeclaration, ...]]:
    versions: dict[TableName, VersionDeclaration] = {}
    for version in folders.read([FOLDER / "schemas"]).declarations:
        vendor, _, name = version.name.partition("/")
        table = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
        key = vendor, table, (version.label or "").split("-")[0]
        held = versions.get(key)
        if held is None or label_order(held.label or "") < label_order(version.label or ""):
            versions[key] = version
    return {key: version.attributes for key, version in versions.items()}


def _table(name: TableName, rows: list[dict[str, str]], declared: tuple[AttributeDeclaration, ...]) -> Table:
    known = {a.path: a for a in declared}
    asked = [known.get(row["attribute"], AttributeDeclaration(row["attribute"], "string")) for row in rows]
    others = [a for a in declared if a.path not in {one.path for one in asked}]
    sources, targets = [*asked, *others], [AttributeDeclaration(row["column"], _type(row["type"])) for row in rows]
    shuffle: Callable[[list[AttributeDeclaration]], None] = random.Random(f"{SEED} {name}").shuffle
    shuffle(sources)
    shuffle(targets)
    return Table(name, tuple(sources), tuple(targets), {row["attribute"]: row["column"] for row in rows})


def _type(text: str) -> str:
    upper = text.upper()
    if any(number in upper for number in _NUMBERS):
        return "number" if upper.startswith(("D", "F", "R", "N")) else "integer"
    return next((type_ for begin, type_ in _TYPES if upper.startswith(begin)), "string")
