"""Exports for pipelines where they are used, beside the messages that a run makes of the same records."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlglot import exp

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.sessions.local import QUICK_START
from metl_gui.engine.spark.class_archive import archive_options, find_archive
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import SetupError
from metl_gui.packaged import sample_projects
from metl_gui.stack.component import HOST
from metl_gui.stack.jars import fetch
from metl_gui.stack.kafka import KAFKA_JARS
from metl_gui.stack.postgres import OWNER, PostgresServer
from metl_gui.workbench.demo.sample import FX, SampleFolder, build_project
from metl_gui.workbench.exports.files import export, export_published
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.session import Workbench
from tests.helpers.odd_documents import one_to_one
from tests.helpers.odd_names import HOSTILE
from tests.helpers.outside import dbt
from tests.helpers.run_requests import run_request
from tests.live.conftest import need, need_jars

pytestmark = [pytest.mark.live, pytest.mark.spark]

FILES = ("accounts.jsonl", "customers.jsonl", "payments.jsonl", "payments.refunds.with-schemas.jsonl")
ON_SPARK = "fx.payments."
Block = tuple[str, str, str]
Sent = dict[Block, Counter[tuple[Any, ...]]]
Messages = list[dict[str, Any]]


@pytest.fixture(scope="module")
def fx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """The sample, published, with some of its messages beside it."""
    sample = SampleFolder(tmp_path_factory.mktemp("sql") / "fx")
    shutil.copytree(sample_projects() / FX, sample.path)
    with build_project(sample) as workbench:
        yield workbench


@pytest.fixture(scope="module")
def messages(fx: Workbench, spark: SparkProcess, tmp_path_factory: pytest.TempPathFactory) -> Messages:
    """What production makes of the records."""
    folder = tmp_path_factory.mktemp("run")
    source = folder / "source"
    source.mkdir()
    for name in FILES:
        shutil.copyfile(fx.path.parent / "cdc" / name, source / name)
    run_mapping(
        fx,
        run_request(str(source), sink=str(folder / "out"), errors=str(folder / "errors"), mode="production"),
        spark,
    )
    return [
        json.loads(line, parse_float=Decimal, parse_int=Decimal)
        for path in sorted((folder / "out").rglob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="module")
def sent(messages: Messages) -> Sent:
    """Kind and payload of each message by schema, version and entity."""
    found: Sent = {}
    for message in messages:
        block = message["source"]["schema"], message["source"]["version"], message["entity"]
        if message["op"] != "t":
            found.setdefault(block, Counter())[message["op"], comparable(message["payload"])] += 1
    return found


def comparable(payload: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Flatten a payload to texts by dotted path; nulls and unavailable values say nothing in a table."""
    flat: dict[str, str] = {}

    def walk(value: Any, path: tuple[str, ...]) -> None:
        if isinstance(value, dict):
            for name, below in value.items():
                walk(below, (*path, name))
        elif value is not None and value != "__debezium_unavailable_value":
            flat["_".join(path)] = plain(value)

    walk(payload, ())
    return tuple(sorted(flat.items()))


def plain(value: Any) -> str:
    """Write a value so that the same one is the same text in a message and in a table."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return json.dumps([plain(each) for each in value])
    if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", value):
        value = Decimal(value)
    return format(value.normalize(), "f") if isinstance(value, Decimal) else str(value)


def statements(path: Path) -> Iterator[tuple[Block, str]]:
    """Yield schema, version and entity of each statement of an export, and the statement."""
    for part in path.read_bytes().decode().split("\n-- metl ")[1:]:
        line, _, statement = part.partition("\n")
        block = json.loads(line)
        if statement.strip():
            yield (block["schema"], block["version"], block["entity"]), statement.strip().rstrip(";")


def messages_by_topic(workbench: Workbench) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in FILES:
        for line in (workbench.path.parent / "cdc" / name).read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["value"] is not None and workbench.document.extraction.named(record["topic"]):
                found.setdefault(record["topic"], []).append(record["value"])
    return found


def by_entity(sent: Sent) -> dict[tuple[str, str], Counter[tuple[Any, ...]]]:
    """Put versions together: what a schema in the message tells, a query tells by the newest version that fits."""
    found: dict[tuple[str, str], Counter[tuple[Any, ...]]] = {}
    for (schema, _, entity), messages in sent.items():
        found.setdefault((schema, entity), Counter()).update(messages)
    return found


def counted(rows: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """Count rows that are given as JSON objects."""
    found: Counter[tuple[Any, ...]] = Counter()
    for text in rows:
        row = json.loads(text, parse_float=Decimal, parse_int=Decimal)
        payload = {name: value for name, value in row.items() if not name.startswith("metl_")}
        found[row.get("metl_op"), comparable(payload)] += 1
    return found


@pytest.fixture(scope="module")
def landed(fx: Workbench, postgres: PostgresServer) -> PostgresServer:
    """A database with a table for each topic, named as the topic, its messages as text in the column ``value``."""
    messages = messages_by_topic(fx)
    for schema in fx.document.extraction.schemas():
        table = exp.to_identifier(schema.name, quoted=True).sql(dialect="postgres")
        values = (exp.Literal.string(value).sql(dialect="postgres") for value in messages.get(schema.name, []))
        rows = ",".join(f"({value})" for value in values)
        postgres.execute(
            f"CREATE TABLE {table} (value text);" + (f"INSERT INTO {table} VALUES {rows};" if rows else "")
        )
    return postgres


def test_queries_over_messages_on_postgresql_return_what_production_sends(
    fx: Workbench, sent: Sent, landed: PostgresServer, tmp_path: Path
) -> None:
    options = {"dialect": "postgres", "source": "debezium", "tables": "topic"}
    export_published(fx, EXPORTS["sql"], tmp_path / "q.sql", choices=Choices(options=options))
    found = {block: rows_of(landed, query) for block, query in statements(tmp_path / "q.sql")}
    check_same(by_entity(found), sent)


def test_hostile_names_reach_postgresql_as_they_are(postgres: PostgresServer, tmp_path: Path, own_name: str) -> None:
    names = [name for name in HOSTILE if "\ud800" not in name and len(name.encode()) < 64]
    document, values = one_to_one([own_name, *names]), [f"value of {name}" for name in (own_name, *names)]
    row = dict(zip((own_name, *names), values, strict=True))
    table, columns = (
        exp.to_identifier(own_name, quoted=True).sql(dialect="postgres"),
        ", ".join(exp.to_identifier(name, quoted=True).sql(dialect="postgres") + " text" for name in row),
    )
    told = [exp.Literal.string(value).sql(dialect="postgres") for value in (*values, message_of(row))]
    postgres.execute(f"CREATE TABLE {table} ({columns}); INSERT INTO {table} VALUES ({', '.join(told[:-1])});")
    for source, column in (("rows", "value"), ("debezium", "mess'age\"")):
        if source == "debezium":
            quoted = exp.to_identifier(column, quoted=True).sql(dialect="postgres")
            postgres.execute(f"DROP TABLE {table}; CREATE TABLE {table} ({quoted} json);")
            postgres.execute(f"INSERT INTO {table} VALUES ({told[-1]});")
        options = {"source": source, "column": column}
        export(document, EXPORTS["sql"], tmp_path / "q.sql", Choices(options=options))
        ((_, query),) = statements(tmp_path / "q.sql")
        ((text,),) = postgres.execute(f"SELECT row_to_json(q)::text FROM ({query}) AS q;")
        found = {name: value for name, value in json.loads(text or "").items() if not name.startswith("metl_")}
        assert found == row


def message_of(row: dict[str, str]) -> str:
    return json.dumps({"before": None, "after": row, "op": "c", "ts_ms": 1, "source": {}})


def rows_of(postgres: PostgresServer, query: str) -> Counter[tuple[Any, ...]]:
    told = postgres.execute(f"SELECT row_to_json(q)::text FROM ({query}) AS q;")
    return counted([row[0] or "" for row in told])


def test_dbt_builds_models_that_hold_what_production_sends_and_its_tests_pass(
    fx: Workbench, sent: Sent, landed: PostgresServer, tmp_path: Path
) -> None:
    options = {"source": "debezium", "tables": "topic"}
    export_published(fx, EXPORTS["dbt"], tmp_path / "project", choices=Choices(options=options))
    (tmp_path / "profiles.yml").write_text(connection(landed), encoding="utf-8")
    said = dbt(tmp_path / "project", "build", "--profiles-dir", str(tmp_path), "--vars", "{metl_schema: public}")
    assert re.search(r"PASS=\d+ WARN=0 ERROR=0 SKIP=0", said)
    told = (yaml.safe_load(path.read_text()) for path in (tmp_path / "project" / "models").rglob("_models.yml"))
    found: dict[tuple[str, str], Counter[tuple[Any, ...]]] = {}
    for model in (model for content in told for model in content["models"]):
        meta = model["config"]["meta"]["metl"]
        found[meta["schema"], meta["entity"]] = rows_of(landed, f"SELECT * FROM canonical.{model['name']}")
    check_same(found, sent)


def connection(postgres: PostgresServer) -> str:
    place = {"type": "postgres", "host": HOST, "port": postgres.port, "user": OWNER, "password": postgres.password}
    output = place | {"dbname": postgres.database, "schema": "canonical", "threads": 1}
    return yaml.safe_dump({"metl": {"target": "test", "outputs": {"test": output}}})


_ON_SPARK = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
folder = Path(sys.argv[1])
for path in folder.glob("*.txt"):
    spark.read.text(str(path)).createOrReplaceTempView(path.stem)
asked = json.loads((folder / "queries.json").read_text())
answers = [(block, spark.sql(query).toJSON().collect()) for block, query in asked]
table = spark.read.parquet(str(folder / "mapping.parquet"))
mapping = [table.columns, *map(list, table.collect())]
(folder / "answers.json").write_text(json.dumps({"answers": answers, "mapping": mapping}))
spark.stop()
"""


@pytest.fixture(scope="module")
def on_spark(fx: Workbench, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a Spark that knows nothing of us makes of two exports: answers to queries, and the table of the mapping.

    Its Java maps the archive of Spark's classes, with which it does the same in less time.
    """
    folder = tmp_path_factory.mktemp("spark")
    options = {"dialect": "spark", "source": "debezium", "tables": "topic_"}
    export_published(fx, EXPORTS["sql"], folder / "q.sql", choices=Choices(options=options))
    export_published(fx, EXPORTS["parquet"], folder / "mapping.parquet")
    for topic, values in messages_by_topic(fx).items():
        if topic.startswith(ON_SPARK):
            (folder / f"{topic.replace('.', '_')}.txt").write_text("\n".join(values), encoding="utf-8")
    asked = [(block, query) for block, query in statements(folder / "q.sql") if block[0].startswith(ON_SPARK)]
    (folder / "queries.json").write_text(json.dumps(asked), encoding="utf-8")
    java = find_java()
    quick = {"JAVA_TOOL_OPTIONS": f"{archive_options(find_archive(java))} {QUICK_START}"}
    done = subprocess.run(
        [sys.executable, "-c", _ON_SPARK, folder],
        env=os.environ | {"JAVA_HOME": str(java.path), "SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(folder)} | quick,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads((folder / "answers.json").read_text()))


def test_queries_over_messages_on_spark_return_what_production_sends(on_spark: dict[str, Any], sent: Sent) -> None:
    wanted = {block: rows for block, rows in sent.items() if block[0].startswith(ON_SPARK)}
    check_same(by_entity({tuple(block): counted(rows) for block, rows in on_spark["answers"]}), wanted)


def test_the_table_of_the_mapping_is_the_same_to_spark_as_in_csv(
    fx: Workbench, on_spark: dict[str, Any], tmp_path: Path
) -> None:
    export_published(fx, EXPORTS["csv"], tmp_path / "mapping.csv")
    with (tmp_path / "mapping.csv").open(encoding="utf-8", newline="") as file:
        columns, *rows = csv.reader(file)
    assert on_spark["mapping"][0] == columns
    assert sorted(on_spark["mapping"][1:]) == sorted(rows) != []


def test_what_queries_over_messages_are_said_to_leave_as_it_is_or_to_miss_they_do(
    postgres: PostgresServer, tmp_path: Path, own_name: str
) -> None:
    document = Document()
    attributes = AttributeDeclaration("id", "int32", optional=False), AttributeDeclaration("note", "string")
    for side in Side:
        edit = AddVersion(side, VersionDeclaration(own_name, attributes, "1", key=("id",)))
        document = perform(document, edit).after
    (v,), (w,) = (list(document.tree(side).all_versions()) for side in Side)
    ones = tuple(Element(q.id, p.id) for q, p in zip(w.attributes, v.attributes, strict=True))
    done = export(
        perform(document, SetElements((v.id, w.id), ones)).after,
        EXPORTS["sql"],
        tmp_path / "q.sql",
        Choices(options={"source": "debezium", "tables": "topic"}),
    )
    ((_, query),) = statements(tmp_path / "q.sql")
    lost = {"id": 1, "note": "__debezium_unavailable_value"}
    messages: list[dict[str, Any]] = [
        {"op": "u", "before": None, "after": lost, "ts_ms": 1, "source": {}},
        {"op": "u", "before": {"id": 1, "note": None}, "after": {"id": 2, "note": "moved"}, "ts_ms": 2, "source": {}},
        {"op": "t", "before": None, "after": None, "ts_ms": 3, "source": {}},
        {"op": "d", "before": None, "after": None, "ts_ms": 4, "source": {}},
    ]
    table = exp.to_identifier(own_name, quoted=True).sql(dialect="postgres")
    postgres.execute(f"CREATE TABLE {table} (value text);")
    insert = f"INSERT INTO {table} VALUES (:'message');"
    for message in messages:
        postgres.execute(insert, {"message": json.dumps(message)})
    assert "a text that stands for an unavailable value stays" in done.says[0]
    assert (
        "truncates and deletes whose key is in the message key alone are missing; a new key is one row" in done.says[2]
    )
    told = postgres.execute(f"SELECT metl_op, id, note FROM ({query}) AS q ORDER BY id;")
    assert told == [("u", "1", lost["note"]), ("u", "2", "moved")]
    assert "a value that is not of its attribute's type ends the query" in done.says[3]
    wrong = {"op": "c", "before": None, "after": {"id": "one", "note": None}, "ts_ms": 5, "source": {}}
    postgres.execute(insert, {"message": json.dumps(wrong)})
    with pytest.raises(SetupError, match="invalid input syntax"):
        postgres.execute(f"SELECT * FROM ({query}) AS q;")


def check_same(there: dict[tuple[str, str], Counter[tuple[Any, ...]]], sent: Sent) -> None:
    here = by_entity(sent)
    assert {key for key, rows in there.items() if rows} == set(here)
    for key, messages in here.items():
        assert (there[key] - messages, messages - there[key]) == (Counter(), Counter()), key


def test_queries_over_rows_on_postgresql_return_the_payloads_of_the_rows(
    fx: Workbench, sent: Sent, postgres: PostgresServer, tmp_path: Path
) -> None:
    export_published(fx, EXPORTS["sql"], tmp_path / "q.sql", choices=Choices(options={"tables": "topic_"}))
    topic = "fx.accounts.account"
    schema = fx.document.extraction.named(topic)
    assert schema is not None
    mapped = {version for name, version, _ in sent if name == topic}
    version = [one for one in fx.document.extraction.versions(schema.id) if one.label in mapped][-1]
    names = [attribute.path for attribute in version.attributes]
    required = {attribute.path for attribute in version.attributes if not attribute.optional}
    rows = [json.loads(value)["after"] for value in messages_by_topic(fx)[topic]]
    fitting = [row for row in rows if row is not None and required <= set(row) <= set(names)]
    kept = exp.Literal.string(json.dumps(fitting))
    columns = ", ".join(f"{exp.to_identifier(name, quoted=True).sql(dialect='postgres')} text" for name in names)
    read = f"json_populate_recordset(NULL::fx_accounts_account, {kept.sql(dialect='postgres')})"
    postgres.execute(
        f"CREATE TABLE fx_accounts_account ({columns}); INSERT INTO fx_accounts_account SELECT * FROM {read};"
    )
    checked = 0
    for block, query in statements(tmp_path / "q.sql"):
        if block[:2] == (topic, version.label):
            payloads = Counter(payload for _, payload in rows_of(postgres, query).elements())
            assert payloads == Counter(payload for op, payload in sent[block].elements() if op != "d")
            checked += sum(payloads.values())
    assert checked > 100


def test_a_chain_of_connects_own_transforms_makes_the_payloads_and_keys_of_a_run(
    fx: Workbench, messages: Messages, tmp_path: Path
) -> None:
    need(find_java)
    need_jars(KAFKA_JARS)
    done = export_published(
        fx, EXPORTS["kafka-connect"], tmp_path / "out", choices=Choices(options={"versions": "newest"})
    )
    assert any("balance.amount is nested" in sentence for sentence in done.says)
    told = json.loads((tmp_path / "out" / "chains.json").read_text(encoding="utf-8"))
    (chain,) = (each for each in told["chains"] if each["reads"] == ["fx.payments.refunds"])
    wanted = {
        message["source"]["position"]: message
        for message in messages
        if (message["source"]["schema"], message["entity"]) == ("fx.payments.refunds", "refund")
        and [message["source"]["version"]] == chain["versions"]
    }
    text = (fx.path.parent / "cdc" / "payments.refunds.with-schemas.jsonl").read_text(encoding="utf-8")
    records = {f"{r['topic']}/{r['partition']}/{r['offset']}": r for r in map(json.loads, text.splitlines())}
    asked = tmp_path / "records.jsonl"
    asked.write_text("\n".join(json.dumps(records[position]) for position in wanted), encoding="utf-8")
    jars = f"{fetch(KAFKA_JARS)}/*"
    program = Path(__file__).with_name("ApplyChain.java")
    java = find_java().path / "bin" / "java"
    made = subprocess.run(
        [java, "-XX:TieredStopAtLevel=1", "-cp", jars, program, tmp_path / "out" / chain["file"], asked],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr[-3000:]
    came = [json.loads(line, parse_float=Decimal, parse_int=Decimal) for line in made.stdout.splitlines()]
    expected = [
        {
            "topic": "refund",
            "key": message["key"],
            "value": None if message["op"] == "d" else message["payload"],
            "headers": {"metl.state": str(message["state"]), "metl.schema": "fx.payments.refunds"},
        }
        for message in wanted.values()
    ]
    assert came == expected != []
    assert {message["op"] for message in wanted.values()} > {"c", "d"}
