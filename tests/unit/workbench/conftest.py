"""Real projects in real files: one schema of three versions, two entities, a mapping."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.session import Workbench

HEADER = "schema,schema_version,attribute,entity,entity_version,cdm_attribute\n"


def declare(name: str, label: str, *paths: str, key: tuple[str, ...] | None = None) -> VersionDeclaration:
    """Declare a version whose attributes are all optional strings, ``path:type`` for another type."""
    attributes = tuple(
        AttributeDeclaration(path.partition(":")[0], path.partition(":")[2] or "string") for path in paths
    )
    return VersionDeclaration(name, attributes, label, key=key, source=f"{name}.{label}.json")


def fill(workbench: Workbench) -> None:
    """Add the versions every test starts from."""
    for side, declaration in (
        (Side.CDM, declare("payment", "1", "payment_id", "payer_id", "amount", "legacy_code")),
        (Side.CDM, declare("refund", "1", "refund_id", "amount")),
        (Side.EXTRACTION, declare("fx.pay.orders", "1", "id", "customer_id", "amount", "legacy")),
        (Side.EXTRACTION, declare("fx.pay", "1", "orders", "id")),
    ):
        workbench.do(AddVersion(side, declaration))


@pytest.fixture
def workbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """An open project with trees and no mapping."""
    monkeypatch.setenv("METL_USER", "tess")
    with Workbench.create(tmp_path / "pay.metl") as opened:
        fill(opened)
        yield opened


@pytest.fixture
def mapped(workbench: Workbench, tmp_path: Path) -> Workbench:
    """The same with ``fx.pay.orders`` mapped to ``payment`` and ``refund``."""
    table = write_table(
        tmp_path,
        "fx.pay.orders,1,id,payment,1,payment_id",
        "fx.pay.orders,1,customer_id,payment,1,payer_id",
        "fx.pay.orders,1,amount,payment,1,amount",
        "fx.pay.orders,1,legacy,payment,1,legacy_code",
        "fx.pay.orders,1,id,refund,1,refund_id",
        "fx.pay.orders,1,amount,refund,1,amount",
    )
    import_mapping(workbench, table)
    return workbench


def write_table(folder: Path, *lines: str, name: str = "mapping.csv") -> Path:
    """Write a mapping CSV."""
    path = folder / name
    path.write_text(HEADER + "".join(line + "\n" for line in lines), encoding="utf-8")
    return path
