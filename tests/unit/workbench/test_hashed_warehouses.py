"""A target that holds hashes of masked values: no plain one gets into it, and nobody needs one to join or to forget."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.runs.run_spec import SinkSpec, SourceSpec
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Model, Reference
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.plan_compiler import staging_plan
from metl_gui.engine.staging.messages import MessageStager
from metl_gui.engine.staging.sink import stage_parts, staged_parts
from metl_gui.errors import EditError, RunError
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.forgotten_keys import forget_key
from metl_gui.workbench.loads.target_secrets import VARIABLE, mask_key_of, target_secret
from metl_gui.workbench.loads.warehouse_loads import audit_warehouse, rebuild_warehouse, staging_request, target_tables
from metl_gui.workbench.runs.mapping_run import RunRequest, prepare_run
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import set_model
from tests.helpers.keyrings import keyring_in_memory

SCHEMA = "fx.pay.orders"
PAYMENT = Dimension(
    name="payment",
    entity="payment",
    business_key=("payment_id",),
    columns=(Column(name="amount", path="amount"), Column(name="payer", path="payer_id", history=2)),
)
REFUND = Fact(
    name="refund",
    entity="refund",
    grain=("refund_id",),
    references=(Reference(dimension="payment", on=(("refund_id", "payment_id"),)),),
    degenerate=(Column(name="amount", path="amount"),),
)
PLAIN = ("SECRET-17", "SECRET-18", "Clara Klarname", "Paul Plain")


class Hashed:
    """A target of hashes, loaded with messages that are staged as tasks stage them."""

    def __init__(self, workbench: Workbench, folder: Path) -> None:
        self.workbench, self.folder, self.path = workbench, folder, folder / "pay.duckdb"
        self.target = f"duckdb:{self.path}?masked=hash"
        set_model(workbench, Model(name="pay", tables=(PAYMENT, REFUND)))
        schema = workbench.document.extraction.named(SCHEMA)
        assert schema is not None
        workbench.do(SetSettings(Side.EXTRACTION, schema.id, (("mask", "customer_id,id"),)))

    def load(self, number: int, messages: Iterable[bytes]) -> LoadReport:
        found, tables = target_tables(self.workbench.document, self.target)
        request, tables = staging_request(self.workbench, RunRequest(SourceSpec(address="m")), found, tables)
        spec = prepare_run(self.workbench, request)
        assert spec.mask_key is not None
        assert spec.policy.samples == 0
        stager = MessageStager(staging_plan(self.workbench.document), spec.sink.histories or (), mask_key=spec.mask_key)
        folder = self.folder / f"stage-{number}"
        folder.mkdir()
        parts = stage_parts(folder, "part")
        staged = stager.stage(Records.of(list(messages), "m"))
        assert staged.set_aside == []
        for entity, table in staged.tables:
            parts.hold(entity, table)
        parts.close()
        with found.open() as opened:
            owner = Owner(project=self.workbench.project_id, mode="test")
            loader = Loader(opened, tables, owner, secret=lambda: target_secret(owner.project))
            return loader.load(staged_parts(folder), f"load {number}")

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with DuckDb(self.path, is_read_only=True) as opened:
            return opened.rows(query)

    def texts(self) -> str:
        """Return all that tables hold, and the bytes of all files."""
        tables = [name for (name,) in self.rows("SELECT table_name FROM information_schema.tables")]
        held = [str(self.rows(f'SELECT * FROM "{table}"')) for table in tables]
        files = [path.read_bytes().decode(errors="replace") for path in self.folder.rglob("*") if path.is_file()]
        return "\n".join((*held, *files))


def message(entity: str, number: int, payload: dict[str, str], op: str = "c") -> bytes:
    key = {"id": f"SECRET-{number}"}
    source = {"schema": SCHEMA, "version": "1", "position": f"log/0/{number}", "origin": None}
    made = {"entity": entity, "version": "1", "state": 1, "op": op, "key": key, "ts_ms": number, "source": source}
    return json.dumps({**made, "payload": payload}).encode()


MESSAGES = [
    *(
        message("payment", number, {"payment_id": f"SECRET-{number}", "payer_id": payer, "amount": "5"})
        for number, payer in ((17, "Clara Klarname"), (18, "Paul Plain"))
    ),
    message("refund", 17, {"refund_id": "SECRET-17", "amount": "5"}),
]


@pytest.fixture
def hashed(mapped: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hashed:
    monkeypatch.setenv(VARIABLE, "a secret for tests alone")
    folder = tmp_path / "warehouse"
    folder.mkdir()
    return Hashed(mapped, folder)


def test_no_plain_value_gets_into_the_target_or_its_staging_and_hashes_still_join(hashed: Hashed) -> None:
    report = hashed.load(1, MESSAGES)
    assert (report.appended, report.tables["refund"].inserted) == (3, 1)
    found = hashed.texts()
    assert [value for value in PLAIN if value in found] == []
    key = mask_key_of(hashed.workbench.project_id, makes=False)
    joined = "SELECT p.payment_id, p.payer, r.amount FROM refund AS r JOIN payment AS p USING (payment_key)"
    assert hashed.rows(joined) == [(key.hashed("SECRET-17"), key.hashed("Clara Klarname"), "5")]
    assert hashed.load(2, MESSAGES).repeated == 3
    assert rebuild_warehouse(hashed.workbench, hashed.target).tables["refund"].inserted == 1
    assert audit_warehouse(hashed.workbench, hashed.target).problems == ()


def test_a_key_is_forgotten_by_its_plain_form_and_stays_so(hashed: Hashed) -> None:
    hashed.load(1, MESSAGES)
    assert forget_key(hashed.workbench, hashed.target, "payment", '{"id": "SECRET-18"}').purge.messages == 1
    again = hashed.load(2, MESSAGES)
    assert (again.forgotten, again.repeated) == (1, 2)
    assert hashed.rows("SELECT COUNT(*) FROM payment WHERE payment_key > 0") == [(1,)]


def test_a_hashed_key_of_an_entity_that_the_model_has_no_more_is_forgotten_too(hashed: Hashed) -> None:
    hashed.load(1, MESSAGES)
    set_model(hashed.workbench, Model(name="pay", tables=(PAYMENT,)))
    rebuild_warehouse(hashed.workbench, hashed.target)
    with pytest.raises(TargetError, match="has no message of refund with it"):
        forget_key(hashed.workbench, hashed.target, "refund", '{"id": "SECRET-99"}')
    assert forget_key(hashed.workbench, hashed.target, "refund", '{"id": "SECRET-17"}').purge.messages == 1
    assert hashed.rows("SELECT COUNT(*) FROM metl_history_refund") == [(0,)]
    with pytest.raises(EditError, match="keeps no messages of refunds"):
        forget_key(hashed.workbench, hashed.target, "refunds", '{"id": "SECRET-17"}')
    set_model(hashed.workbench, Model(name="pay", tables=(PAYMENT, REFUND)))
    rebuild_warehouse(hashed.workbench, hashed.target)
    assert hashed.load(2, MESSAGES).forgotten == 1


def test_a_secret_is_made_once_and_another_is_refused(hashed: Hashed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    with keyring_in_memory() as keyring:
        hashed.load(1, MESSAGES)
        (made,) = keyring.kept.values()
        assert len(bytes.fromhex(made)) == 32
        assert made not in hashed.texts()
        hashed.load(2, MESSAGES)
        assert list(keyring.kept.values()) == [made]
        keyring.kept.clear()
        with pytest.raises(RunError, match="secret of the warehouse is missing"):
            hashed.load(3, MESSAGES)
        assert keyring.kept == {}
        monkeypatch.setenv(VARIABLE, "quite another secret")
        with pytest.raises(TargetError, match="made with another secret"):
            hashed.load(4, MESSAGES)


def test_without_a_keyring_the_variable_of_the_secret_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with keyring_in_memory() as keyring:
        keyring.is_locked = True
        with pytest.raises(RunError, match="can neither be read nor kept") as refused:
            target_secret("a project", makes=True)
    assert f"Give it as {VARIABLE}" in refused.value.hint


@pytest.mark.parametrize("masking", ["omit", "hash"])
@pytest.mark.parametrize(
    ("side", "name", "path"), [(Side.EXTRACTION, SCHEMA, "amount"), (Side.CDM, "payment", "amount")]
)
def test_a_run_for_a_target_without_masked_values_keeps_none_of_them_elsewhere(
    mapped: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, masking: str, side: Side, name: str, path: str
) -> None:
    monkeypatch.setenv(VARIABLE, "a secret for tests alone")
    keyed = msgspec.structs.replace(PAYMENT, columns=(Column(name="payer", path="payer_id"),))
    set_model(mapped, Model(name="pay", tables=(keyed,)))
    source = mapped.document.extraction.named(SCHEMA)
    assert source is not None
    mapped.do(SetSettings(Side.EXTRACTION, source.id, (("key", "id"),)))
    plain = replace(RunRequest(SourceSpec(address="m")), state=mapped.document.state)
    target = f"duckdb:{tmp_path}/new.duckdb?masked={masking}"
    found, tables = target_tables(mapped.document, target)
    assert staging_request(mapped, plain, found, tables)[0].sink.hidden is msgspec.UNSET
    schema = mapped.document.tree(side).named(name)
    assert schema is not None
    mapped.do(SetSettings(side, schema.id, (("mask", path),)))
    asked = replace(plain, state=mapped.document.state)
    found, tables = target_tables(mapped.document, target)
    request, _ = staging_request(mapped, asked, found, tables)
    assert isinstance(request.sink.hidden, tuple)
    assert {("amount",), ("@source.amount",), ("source", "old_key", "amount")} <= set(request.sink.hidden)
    assert request.policy.samples == 0
    topic = replace(asked, sink=SinkSpec(errors="kafka://localhost:9/errors"))
    with pytest.raises(RunError, match="set aside would be plain"):
        staging_request(mapped, topic, found, tables)
    whole = target_tables(mapped.document, f"duckdb:{tmp_path}/new.duckdb?masked=plain")
    assert staging_request(mapped, topic, *whole)[0].sink.hidden is msgspec.UNSET


def test_what_an_audit_finds_names_no_masked_key(hashed: Hashed) -> None:
    hashed.load(1, MESSAGES)
    with DuckDb(hashed.path) as opened:
        opened.run("UPDATE payment SET payer = 'somebody'")
        opened.run("UPDATE refund SET amount = '6'")
    found = audit_warehouse(hashed.workbench, hashed.target).problems
    assert {one.table for one in found} == {"payment", "refund"}
    assert [key for one in found for key in one.keys] == []
