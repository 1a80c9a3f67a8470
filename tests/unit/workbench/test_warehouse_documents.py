"""Commands on a target go by the state that its runs do, and say plainly where a model has changed since."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Model, Reference
from metl_gui.errors import EditError, UserError
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.epochs import LogFellError
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads import targets
from metl_gui.workbench.loads.compaction import compact_warehouse
from metl_gui.workbench.loads.epochs import begin_epoch
from metl_gui.workbench.loads.forgotten_keys import forget_key
from metl_gui.workbench.loads.key_histories import dimension_keys
from metl_gui.workbench.loads.target_documents import document_of
from metl_gui.workbench.loads.target_secrets import VARIABLE, target_secret
from metl_gui.workbench.loads.warehouse_loads import (
    audit_warehouse,
    close_snapshot,
    model_shapes,
    rebuild_warehouse,
    warehouse_status,
)
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import remove_model, set_model
from tests.unit.warehouse.worlds import at, part
from tests.unit.workbench.conftest import declare, write_table

SCHEMA = "fx.pay.orders"
PAYMENT = Dimension(
    name="payment",
    entity="payment",
    business_key=("payment_id",),
    columns=(Column(name="amount", path="amount"), Column(name="payer", path="payer_id")),
)
REFUND = Fact(
    name="refund",
    entity="refund",
    grain=("refund_id",),
    references=(
        Reference(dimension="payment", on=(("refund_id", "payment_id"),)),
        Reference(dimension="payment", on=(("refund_id", "payment_id"),), role="later", on_miss="wait"),
    ),
)
Command = Callable[[Workbench, str, str], object]

COMMANDS: dict[str, Command] = {
    "audit": lambda w, target, mode: audit_warehouse(w, target, mode=mode),
    "rebuild": lambda w, target, mode: rebuild_warehouse(w, target, mode=mode),
    "close-snapshot": lambda w, target, mode: close_snapshot(w, target, SCHEMA, mode=mode),
    "forget": lambda w, target, mode: forget_key(w, target, "payment", '{"id":1}', mode=mode),
    "epoch": lambda w, target, mode: begin_epoch(w, target, SCHEMA, ["log/0/9"], mode=mode),
    "compact": lambda w, target, mode: compact_warehouse(w, target, "2020-01-01", mode=mode),
    "status": lambda w, target, _mode: warehouse_status(w, target),
}


class Payments:
    """A target of one dimension, into which payments are loaded one by one."""

    def __init__(self, workbench: Workbench, folder: Path) -> None:
        self.workbench, self.folder, self.path = workbench, folder, folder / "pay.duckdb"
        self.target = f"duckdb:{self.path}"
        set_model(workbench, Model(name="pay", tables=(PAYMENT,)))

    def load(self, number: int, *, order: str = "", mode: str = "test") -> None:
        tables = model_shapes(document_of(self.workbench, mode))
        row = {"payment_id": f"P{number}", "payer_id": "C", "amount": "5", "legacy_code": "x"}
        message = Message(
            schema=SCHEMA,
            row_key=f'{{"id":{number}}}',
            order_key=order or f"{number:04}",
            op="c",
            values=row,
            position=Position("log", 0, number),
            committed_at=at(number),
            seen_at=at(number),
        )
        staged = part(self.folder, "payment", [message], tables.histories["payment"])
        with DuckDb(self.path) as opened:
            owner = Owner(project=self.workbench.project_id, mode=mode)
            loader = Loader(opened, tables, owner, secret=lambda: target_secret(owner.project))
            loader.load([staged], f"load {number}", Coverage(is_ordered=True))

    def map_a_fee(self) -> None:
        """Map an entity that nothing was mapped to."""
        self.workbench.do(AddVersion(Side.CDM, declare("fee", "1", "fee_id")))
        import_mapping(self.workbench, write_table(self.folder, f"{SCHEMA},1,id,fee,1,fee_id", name="more.csv"))

    def publish_and_go_on(self) -> None:
        """Publish, load a target of production, and give the draft another model."""
        publish(self.workbench)
        self.load(1, mode="production")
        set_model(self.workbench, Model(name="pay", tables=(PAYMENT, REFUND)))

    def ids(self) -> list[str]:
        with DuckDb(self.path, is_read_only=True) as opened:
            return [key for (key,) in opened.rows("SELECT payment_id FROM payment WHERE payment_key > 0 ORDER BY 1")]


@pytest.fixture
def payments(mapped: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Payments:
    monkeypatch.setenv(VARIABLE, "a secret for tests alone")
    return Payments(mapped, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_done_to_a_target_of_production_goes_by_the_published_state(command: str, payments: Payments) -> None:
    payments.publish_and_go_on()
    COMMANDS[command](payments.workbench, payments.target, "production")
    payments.load(2, mode="production")
    assert "P2" in payments.ids()
    assert audit_warehouse(payments.workbench, payments.target, mode="production").problems == ()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_target_of_tests_goes_by_the_draft(command: str, payments: Payments) -> None:
    publish(payments.workbench)
    set_model(payments.workbench, Model(name="pay", tables=(PAYMENT, REFUND)))
    payments.load(1)
    COMMANDS[command](payments.workbench, payments.target, "test")
    assert "refund" in warehouse_status(payments.workbench, payments.target).tables


def test_a_rebuild_for_production_leaves_what_only_the_draft_has_out(payments: Payments) -> None:
    payments.publish_and_go_on()
    rebuild_warehouse(payments.workbench, payments.target, mode="production")
    with DuckDb(payments.path, is_read_only=True) as opened:
        assert not opened.has_table("refund")


def test_where_nothing_is_published_a_command_for_production_says_so(payments: Payments) -> None:
    payments.load(1)
    with pytest.raises(UserError, match="is published yet"):
        audit_warehouse(payments.workbench, payments.target, mode="production")


def test_a_schema_of_the_draft_alone_is_none_of_production(payments: Payments) -> None:
    payments.publish_and_go_on()
    payments.workbench.do(AddVersion(Side.EXTRACTION, declare("fx.pay.new", "1", "id")))
    for act in (close_snapshot, lambda w, t, s, mode: begin_epoch(w, t, s, ["log/0/9"], mode=mode)):
        with pytest.raises(EditError, match=r"no schema fx\.pay\.new"):
            act(payments.workbench, payments.target, "fx.pay.new", mode="production")


def test_the_status_of_production_is_told_though_the_draft_has_the_model_no_more(payments: Payments) -> None:
    payments.publish_and_go_on()
    remove_model(payments.workbench)
    found = warehouse_status(payments.workbench, payments.target)
    assert (found.mode, found.tables, found.messages) == (
        "production",
        {"payment": 1},
        {"payment": 1, "refund": 0},
    )


def test_the_status_leaves_out_what_model_and_mapping_got_since_the_last_load(payments: Payments) -> None:
    payments.load(1)
    payments.map_a_fee()
    assert audit_warehouse(payments.workbench, payments.target).problems == ()
    other = Dimension(name="other", entity="refund", business_key=("refund_id",))
    set_model(payments.workbench, Model(name="pay", tables=(PAYMENT, REFUND, other)))
    found = warehouse_status(payments.workbench, payments.target)
    assert (found.tables, found.messages, found.missing, found.waiting) == (
        {"payment": 1},
        {"payment": 1, "refund": 0},
        (),
        0,
    )


def test_an_audit_says_that_the_model_has_changed(payments: Payments) -> None:
    payments.load(1)
    set_model(payments.workbench, Model(name="pay", tables=(PAYMENT, REFUND)))
    with pytest.raises(TargetError, match="The model has changed") as refused:
        audit_warehouse(payments.workbench, payments.target)
    assert "model pay: refund is new." in refused.value.text
    assert [one.words for one in warehouse_status(payments.workbench, payments.target).changes] == ["refund is new"]
    rebuild_warehouse(payments.workbench, payments.target)
    assert warehouse_status(payments.workbench, payments.target).changes == ()


@pytest.mark.parametrize("look", ["status", "keys"])
def test_who_looks_at_a_target_leaves_it_to_those_who_read_it(
    look: str, payments: Payments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "OPEN_WAIT", 0.0)
    payments.load(1)
    code = f"import duckdb, sys; held = duckdb.connect({str(payments.path)!r}, read_only=True)"
    code += "; print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "held\n"
        if look == "status":
            assert warehouse_status(payments.workbench, payments.target).tables == {"payment": 1}
        else:
            assert dimension_keys(payments.workbench.document, payments.target, "payment") == (("P1",),)


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"epoch"}))
@pytest.mark.parametrize("end", ["", "?swap"])
def test_a_file_that_is_not_there_is_refused_and_not_made(
    command: str, end: str, payments: Payments, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(TargetError, match=r"There is no file .*typo\.duckdb"):
        COMMANDS[command](payments.workbench, f"duckdb:{tmp_path}/typo.duckdb{end}", "test")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("mode", ["test", "production"])
def test_a_log_that_went_back_before_anything_was_loaded_goes_on_once_its_epoch_is_begun(
    mode: str, payments: Payments
) -> None:
    publish(payments.workbench)
    tables = model_shapes(payments.workbench.document)
    messages = [
        Message(
            schema=SCHEMA,
            row_key=f'{{"id":{number}}}',
            order_key=f"p{place:016x}",
            op="c",
            values={"payment_id": f"P{number}", "payer_id": "C", "amount": "5", "legacy_code": "x"},
            position=Position("log", 0, number),
            committed_at=at(number),
            seen_at=at(number),
        )
        for number, place in ((1, 10), (2, 3))
    ]
    staged = part(payments.folder, "payment", messages, tables.histories["payment"])
    owner = Owner(project=payments.workbench.project_id, mode=mode)

    def load() -> None:
        with DuckDb(payments.path) as opened:
            Loader(opened, tables, owner).load([staged], "first", Coverage(is_ordered=True))

    with pytest.raises(LogFellError) as asked:
        load()
    assert ("--mode production" in asked.value.hint) == (mode == "production")
    payments.path.unlink()
    assert begin_epoch(payments.workbench, payments.target, SCHEMA, ["log/0/2"], mode=mode).epoch == 1
    load()
    assert payments.ids() == ["P1", "P2"]
    assert audit_warehouse(payments.workbench, payments.target, mode=mode).problems == ()
