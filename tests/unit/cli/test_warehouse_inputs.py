"""Keys are forgotten and epochs begun by commands, which say what they did and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.epochs import LogFellError
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.target_secrets import VARIABLE, target_secret
from metl_gui.workbench.loads.warehouse_loads import model_shapes
from metl_gui.workbench.session import Workbench
from tests.unit.cli.test_commands import Metl, metl

__all__ = ["metl"]
SAMPLE = packaged.sample_projects() / "fx" / "warehouse.yaml"
SCHEMA = "fx.payments.orders"
KEY = '{"customer_id":5}'


class Customers:
    """A target into which customers are loaded, one message each."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.project, self.folder, self.path = project, folder, folder / "fx.duckdb"
        self.target = f"duckdb:{self.path}"
        self.loads = 0
        with Workbench.open(project, for_editing=False) as workbench:
            self.owner = Owner(project=workbench.project_id, mode="test")
            self.tables = model_shapes(workbench.document)

    def load(self, number: int, place: int, offset: int) -> None:
        self.loads += 1
        says = {"schema": SCHEMA, "row_key": f'{{"customer_id":{number}}}', "order_key": f"p{place:016x}", "op": "c"}
        says |= {"position_log": "customers", "customer_id": str(number)}
        numbers = {"publication": 0, "position_partition": 0, "position_offset": offset}
        columns: dict[str, Any] = {**says, **numbers}
        table = pa.table({name: pa.array([value]) for name, value in columns.items()})
        path = self.folder / f"{self.loads}.parquet"
        pq.write_table(table.append_column("seen_at", pa.array([offset * 1_000_000], pa.timestamp("us", "UTC"))), path)
        with DuckDb(self.path) as opened:
            loader = Loader(opened, self.tables, self.owner, secret=lambda: target_secret(self.owner.project))
            loader.load([StagedPart("customer", str(path), 1)], f"load {self.loads}", Coverage(is_ordered=True))

    def ids(self) -> list[int]:
        with DuckDb(self.path, is_read_only=True) as opened:
            query = "SELECT customer_id FROM customer WHERE customer_key > 0 ORDER BY 1"
            return [int(number) for (number,) in opened.rows(query)]


@pytest.fixture
def customers(metl: Metl, mapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Customers:
    monkeypatch.setenv(VARIABLE, "a secret for tests alone")
    assert metl("warehouse", "import", mapped, SAMPLE)[0] == 0
    found = Customers(mapped, tmp_path)
    found.load(5, 10, 1)
    found.load(6, 11, 2)
    return found


def test_a_key_is_forgotten_however_it_is_written_and_what_is_left_is_told(
    metl: Metl, customers: Customers, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("warehouse", "forget", customers.project, "customer", "--target", customers.target)
    code, document, _ = metl(*words, "--key", '{ "customer_id": 5.0 }')
    assert code == 0
    assert (document["entity"], document["messages"], document["set_aside"], document["linked"]) == (
        "customer",
        1,
        0,
        [],
    )
    assert document["tables"]["customer"]["removed"] == 1
    assert any("freed blocks" in one["place"] for one in document["expires"])
    assert customers.ids() == [6]
    customers.load(5, 9, 0)
    assert customers.ids() == [6]
    assert main([str(word) for word in (*words, "--key", '{"customer_id":6}')]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("customer, taken out: messages: 1, ")


@pytest.mark.parametrize(
    ("entity", "key", "said"),
    [
        ("customer", "{", "cannot be read"),
        ("customer", "5", "cannot be read"),
        pytest.param("customer", f'{{"customer_id":{"[" * 9_000}1{"]" * 9_000}}}', "nested too deeply", id="deep"),
        ("customer", '{"customer_id":7}', "not known"),
        ("custmer", KEY, "custmer"),
    ],
)
def test_what_is_no_key_of_the_target_is_refused_and_changes_nothing(
    entity: str, key: str, said: str, metl: Metl, customers: Customers
) -> None:
    code, document, told = metl(
        "warehouse", "forget", customers.project, entity, "--target", customers.target, "--key", key
    )
    assert code == 1
    assert said in f"{document}{told}"
    assert customers.ids() == [5, 6]


def test_a_secret_that_can_be_guessed_is_refused(
    metl: Metl, customers: Customers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "short")
    words = ("warehouse", "forget", customers.project, "customer", "--target", customers.target, "--key", KEY)
    code, document, told = metl(*words)
    assert (code, "too short" in f"{document}{told}") == (1, True)
    assert customers.ids() == [5, 6]


def test_a_log_that_went_back_goes_on_once_its_epoch_is_begun(metl: Metl, customers: Customers) -> None:
    with pytest.raises(LogFellError) as asked:
        customers.load(7, 3, 3)
    assert f"metl warehouse epoch PROJECT {SCHEMA} --target T --from 'customers/0/3'" in asked.value.hint
    words = ("warehouse", "epoch", customers.project, SCHEMA, "--target", customers.target)
    assert metl(*words, "--from", "customers")[0] == 1
    assert metl(*words, "--from", "customers/0/3", "--from", "customers/0/4")[0] == 1
    code, document, _ = metl(*words, "--from", "customers/0/3")
    assert (code, document["schema"], document["epoch"]) == (0, SCHEMA, 1)
    customers.load(7, 3, 3)
    assert customers.ids() == [5, 6, 7]
    assert metl(*words, "--from", "customers/0/9", "--same")[1]["epoch"] == 0
    assert metl("warehouse", "epoch", customers.project, "fx.customer", *words[4:], "--from", "customers/0/12")[0] == 1


def test_a_target_is_compacted_up_to_a_time_that_has_come(metl: Metl, customers: Customers) -> None:
    words = ("warehouse", "compact", customers.project, "--target", customers.target, "--before")
    for wrong in ("yesterday", "9999-01-01", "0001-01-01T00:00:00+14:00"):
        code, document, told = metl(*words, wrong)
        assert (code, "The time " in f"{document}{told}") == (1, True)
    code, document, _ = metl(*words, "2020-01-01T01:00:00+01:00")
    assert (code, document["purged"]) == (0, 0)
    customers.load(7, 12, 3)
    assert customers.ids() == [5, 6]
    assert metl(*words, "2019-12-31")[0] == 1


@pytest.mark.parametrize(
    ("key", "said"),
    [
        pytest.param(f'{{"customer_id":{"[" * 9_000}1{"]" * 9_000}}}', "nested too deeply", id="deep"),
        (r'{"customer_id":"\ud800"}', "half of a pair of surrogates"),
    ],
)
def test_a_key_that_no_row_can_have_is_refused_as_one(key: str, said: str, metl: Metl, customers: Customers) -> None:
    words = ("warehouse", "why", customers.project, "customer", "--target", customers.target, "--key", key)
    code, document, told = metl(*words)
    assert (code, said in f"{document}{told}") == (1, True)
    assert "load was kept" not in f"{document}{told}"
