"""Documents for tests of the window: made by edits only, so the rules of the matrix hold in them."""

from __future__ import annotations

import random

from metl_gui.core.changes.draft import Edit, EditContext, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side

WORDS = [
    "id",
    "amount",
    "currency",
    "created_at",
    "customer_ref",
    "channel",
    "legacy_code",
    "status",
    "country",
    "email",
    "given_name",
    "family_name",
    "rate",
    "valid_from",
    "valid_to",
    "account_no",
    "booking_text",
    "branch_id",
    "settled_on",
    "fee",
]
TYPES = ("int64", "string", "number", "boolean", "int32")
SERVICES = {
    "payments": ("orders", "refunds", "chargebacks"),
    "customers": ("person", "address", "consent"),
    "rates": ("daily", "spot"),
    "accounts": ("account", "holder"),
    "ledger": ("entry", "journal"),
}
ENTITIES = ("payment", "customer", "account", "rate", "ledger_entry", "refund")


def some_document(seed: int = 7, versions: int = 4) -> Document:
    """Return 12 schemas of several versions against 6 entities, mapped, with blocks that wait for review."""
    rng = random.Random(seed)
    document = Document()
    for entity in ENTITIES:
        paths = [f"{entity}_id", *rng.sample(WORDS, rng.randint(4, 8))]
        document = _do(document, _add(Side.CDM, entity, paths, rng))
    for service, tables in SERVICES.items():
        for table in tables:
            name = f"fx.{service}.{table}"
            paths = [f"{table}_id", *rng.sample(WORDS, rng.randint(5, 9))]
            document = _do(document, _add(Side.EXTRACTION, name, paths, rng))
            document = _map(document, name, rng)
            for _ in range(rng.randint(versions - 2, versions)):
                paths = _evolved(paths, rng)
                document = _do(document, _add(Side.EXTRACTION, name, paths, rng))
    return document


def _do(document: Document, edit: Edit) -> Document:
    return perform(document, edit, EditContext("Ada", 1_700_000_000_000)).after


def _add(side: Side, name: str, paths: list[str], rng: random.Random) -> AddVersion:
    kinds = {path: TYPES[sum(map(ord, path)) % len(TYPES)] for path in paths}
    optional = {path: rng.random() < 0.6 for path in paths}
    attributes = tuple(AttributeDeclaration(path, kinds[path], optional=optional[path]) for path in paths)
    return AddVersion(side, VersionDeclaration(name, attributes))


def _map(document: Document, name: str, rng: random.Random) -> Document:
    schema = document.extraction.named(name)
    assert schema is not None
    version = document.extraction.version(schema.version_ids[-1])
    for entity in rng.sample(document.cdm.schemas(), 2):
        target = document.cdm.version(entity.version_ids[-1])
        sources = {a.path: a for a in version.attributes}
        ones = [Element(a.id, sources[a.path].id) for a in target.attributes if a.path in sources]
        free = [a for a in version.attributes if a.id not in {e.p for e in ones}]
        if target.attributes[0].id not in {e.q for e in ones}:
            ones.append(Element(target.attributes[0].id, free[0].id))
        document = _do(document, SetElements((version.id, target.id), tuple(ones)))
    return document


def _evolved(paths: list[str], rng: random.Random) -> list[str]:
    left = list(paths)
    if rng.random() < 0.45:
        left.remove(rng.choice(left[1:]))
    fresh = [word for word in WORDS if word not in paths]
    left.insert(rng.randint(1, len(left)), rng.choice(fresh))
    return left
