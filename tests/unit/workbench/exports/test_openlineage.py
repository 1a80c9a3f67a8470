"""Column lineage for catalogues, read into the classes of the standard's own client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.exports.files import export, export_published
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench
from tests.helpers.odd_names import HOSTILE
from tests.helpers.outside import python_with, said_by
from tests.unit.workbench.conftest import declare
from tests.unit.workbench.exports.odd_document import odd_document
from tests.unit.workbench.exports.openlineage_schema import JOB_EVENT

OPENLINEAGE = EXPORTS["openlineage"]
NAMESPACES = {"sources": "kafka://broker:9092", "targets": "kafka://broker:9093", "jobs": "pay"}

_READ = """
import json, re, sys
import attr
from datetime import datetime
from openlineage.client import facet_v2 as f, event_v2 as e
from openlineage.client.serde import Serde

FACETS = {
    "jobType": f.job_type_job.JobTypeJobFacet,
    "documentation": f.documentation_job.DocumentationJobFacet,
    "schema": f.schema_dataset.SchemaDatasetFacet,
    "version": f.dataset_version_dataset.DatasetVersionDatasetFacet,
    "columnLineage": f.column_lineage_dataset.ColumnLineageDatasetFacet,
}

def facets(found):
    made = {}
    for name, content in found.items():
        content = dict(content)
        kind = FACETS[name]
        assert content.pop("_schemaURL") == kind._get_schema(), name
        producer = content.pop("_producer")
        if name == "columnLineage":
            lines = f.column_lineage_dataset
            content["fields"] = {
                column: lines.Fields(inputFields=[
                    lines.InputField(**{**one, "transformations": [
                        lines.Transformation(**each) for each in one["transformations"]]})
                    for one in told.pop("inputFields")], **told)
                for column, told in content["fields"].items()}
        if name == "schema":
            content["fields"] = [f.schema_dataset.SchemaDatasetFacetFields(**each) for each in content["fields"]]
        made[name] = kind(**content, producer=producer)
    return made

count = 0
for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    wanted = json.loads(line)
    job = event.pop("job")
    assert event.pop("schemaURL") == e.JobEvent._get_schema()
    made = e.JobEvent(
        eventTime=event.pop("eventTime"),
        producer=event.pop("producer"),
        job=e.Job(namespace=job.pop("namespace"), name=job.pop("name"), facets=facets(job.pop("facets"))),
        inputs=[e.InputDataset(namespace=x["namespace"], name=x["name"], facets=facets(x["facets"]))
                for x in event.pop("inputs")],
        outputs=[e.OutputDataset(namespace=x["namespace"], name=x["name"], facets=facets(x["facets"]))
                 for x in event.pop("outputs")],
    )
    assert not event and not job, (event, job)
    again = json.loads(Serde.to_json(made))

    def is_within(part, whole, at="$"):
        if isinstance(part, dict):
            assert part.keys() <= whole.keys(), (at, part.keys() - whole.keys())
            return all(is_within(value, whole[key], f"{at}.{key}") for key, value in part.items())
        if isinstance(part, list):
            assert len(part) == len(whole), at
            return all(is_within(a, b, f"{at}[]") for a, b in zip(part, whole))
        assert part == whole, (at, part, whole)
        return True

    assert is_within(wanted, again)
    count += 1
print(count)
"""


_CHECK = """
import json, sys
from jsonschema import Draft202012Validator, FormatChecker

schema = json.loads(sys.argv[2])
Draft202012Validator.check_schema(schema)
check = Draft202012Validator(schema, format_checker=FormatChecker())
for line in open(sys.argv[1], encoding="utf-8"):
    print(json.dumps([str(error.message)[:300] for error in check.iter_errors(json.loads(line))]))
"""


def broken(path: Path) -> list[list[str]]:
    """Return what the schema of the standard holds against each event of a file."""
    python = python_with("jsonschema[format-nongpl]==4.25.1")
    return [json.loads(line) for line in said_by(python, _CHECK, path, json.dumps(JOB_EVENT)).splitlines()]


def read_by_client(path: Path) -> int:
    return int(said_by(python_with("openlineage-python==1.39.0"), _READ, path))


@pytest.mark.slow
def test_the_client_of_the_standard_takes_every_event_with_all_that_is_in_it(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount", "legacy", "x")))
    publish(mapped)
    path = tmp_path / "a.jsonl"
    export_published(mapped, OPENLINEAGE, path, choices=Choices(options=NAMESPACES))
    assert read_by_client(path) == 2


@pytest.mark.slow
def test_the_client_of_the_standard_takes_names_that_broke_programs(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    export(odd_document(), OPENLINEAGE, path, Choices(include_unconfirmed=True))
    assert read_by_client(path) == len(HOSTILE)


@pytest.mark.slow
def test_every_event_keeps_to_the_schema_of_the_standard(mapped: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    export(mapped.document, OPENLINEAGE, path, Choices(options=NAMESPACES))
    assert broken(path) == [[], []]
    export(odd_document(), OPENLINEAGE, path, Choices(include_unconfirmed=True))
    assert broken(path) == [[]] * len(HOSTILE)


@pytest.mark.slow
def test_an_event_that_breaks_the_schema_of_the_standard_is_found(mapped: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    export(mapped.document, OPENLINEAGE, path)
    event = path.read_text(encoding="utf-8").splitlines()[0]
    breaks = [
        ('"eventTime":"', '"eventTime":"about '),
        ('"producer":"urn:', '"producer":"a '),
        ('"_schemaURL":', '"_schema":'),
        ('"inputFields":', '"inputs":'),
        ('"type":"DIRECT"', '"type":"COPIED"'),
        ('"masking":false', '"masking":"no"'),
        ('"job":{', '"run":{},"job":{'),
    ]
    assert all(old in event for old, _ in breaks)
    path.write_text("".join(event.replace(*one) + "\n" for one in breaks), encoding="utf-8")
    assert [bool(found) for found in broken(path)] == [True] * len(breaks)


def test_a_column_names_each_column_that_feeds_it_once_whatever_the_versions(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount", "legacy", "x")))
    path = tmp_path / "a.jsonl"
    export(mapped.document, OPENLINEAGE, path, Choices(options=NAMESPACES))
    payment, refund = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    (output,) = payment["outputs"]
    columns = output["facets"]["columnLineage"]["fields"]
    assert {name: [one["field"] for one in told["inputFields"]] for name, told in columns.items()} == {
        "amount": ["amount"],
        "legacy_code": ["legacy"],
        "payer_id": ["customer_id"],
        "payment_id": ["id"],
    }
    assert (payment["job"]["name"], refund["job"]["name"]) == ("payment@1", "refund@1")
    assert {one["namespace"] for one in (output, *payment["inputs"])} == {NAMESPACES["sources"], NAMESPACES["targets"]}
    (source,) = payment["inputs"]
    assert [field["name"] for field in source["facets"]["schema"]["fields"]][-1] == "x"


def test_held_blocks_are_left_out_and_said_to_be(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id")))
    done = export(mapped.document, OPENLINEAGE, tmp_path / "a.jsonl")
    assert "2 blocks held for review are left out." in done.says


def test_one_published_state_gives_one_file(mapped: Workbench, tmp_path: Path) -> None:
    publish(mapped)
    for name in "ab":
        export_published(mapped, OPENLINEAGE, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert not json.loads((tmp_path / "a").read_text(encoding="utf-8").splitlines()[0])["eventTime"].startswith("1970")
