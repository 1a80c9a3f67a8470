"""Registries to readings: what is listed, what is fetched, what it refers to, and what goes wrong with a part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.errors import RunCancelled, SchemaError, ServiceUnavailableError
from metl_gui.registry.addresses import Api, RegistryPlace
from metl_gui.registry.remote import http as web_module
from metl_gui.registry.remote.client import Registry
from metl_gui.registry.remote.http import RegistryConnection
from metl_gui.registry.remote.registry_apis import open_registry
from metl_gui.registry.remote.registry_reader import new_in_registry, read_ids, read_registry
from tests.helpers.small_registry import SmallRegistry, record
from tests.helpers.web_servers import Answer, Asked, WebServer, serving

V3 = "/apis/registry/v3"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> SmallRegistry:
    monkeypatch.setattr(web_module, "_BACK_OFF_SECONDS", 0.001)
    return SmallRegistry()


@contextmanager
def opened(answers: Callable[[Asked], Any], path: str = "") -> Iterator[tuple[Registry, WebServer]]:
    with serving(answers) as server, RegistryConnection(RegistryPlace(url=server.url + path)) as web:
        yield open_registry(web), server


def read(answers: Callable[[Asked], Any], *patterns: str, path: str = "") -> ReaderResult:
    with opened(answers, path) as (registry, _):
        return read_registry(registry, patterns)


def paths(reading: ReaderResult) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for one in reading.declarations:
        found.setdefault(one.name, []).append([attribute.path for attribute in one.attributes])
    return found


@pytest.mark.parametrize("api", [Api.CONFLUENT, Api.APICURIO_3])
def test_what_a_registry_speaks_is_found_out_by_asking(small: SmallRegistry, api: Api) -> None:
    answers = small.confluent if api is Api.CONFLUENT else small.apicurio
    with opened(answers) as (registry, _):
        assert registry.api is api


def test_what_is_no_registry_is_told_and_a_refused_login_is_not_taken_for_that() -> None:
    with pytest.raises(SchemaError, match="There is no registry at"), opened(lambda _: None):
        pass
    with pytest.raises(SchemaError, match="asks who we are"), opened(lambda _: Answer({}, 401)):
        pass


def test_thousands_of_subjects_come_page_by_page_each_once(small: SmallRegistry) -> None:
    for number in range(1203):
        small.add(f"t{number}-value", record("R", "a"))
    with opened(small.apicurio, V3) as (registry, server):
        found = list(registry.subjects())
    assert len({one.name for one in found}) == len(found) == 1203
    assert len(server.asked) == 3


def test_pages_without_end_are_left_at_the_first_that_brings_nothing_new_or_at_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = {"artifacts": [{"artifactId": "a"}], "count": 10**9}
    with opened(lambda _: page, V3) as (registry, server):
        assert [one.name for one in registry.subjects()] == ["a"]
        assert len(server.asked) == 2
    monkeypatch.setattr("metl_gui.registry.remote.registry_apis.MAX_SUBJECTS", 5)
    with (
        opened(lambda asked: {"artifacts": [{"artifactId": asked.words["offset"]}], "count": 10**9}, V3) as (
            registry,
            _,
        ),
        pytest.raises(SchemaError, match="more than 5 members"),
    ):
        list(registry.subjects())


@pytest.mark.parametrize(
    ("api", "path", "answer"),
    [
        ("confluent", "/subjects", {"subjects": []}),
        ("confluent", "/subjects", ["a", 7]),
        ("apicurio", "/search/artifacts", {"artifacts": "none"}),
        ("apicurio", "/search/artifacts", [1]),
    ],
)
def test_a_list_of_another_shape_is_refused_in_words(small: SmallRegistry, api: str, path: str, answer: Any) -> None:
    small.wrong[path] = Answer(answer)
    place = V3 if api == "apicurio" else "/apis/ccompat/v7"
    answers = small.apicurio if api == "apicurio" else lambda _: answer
    with pytest.raises(SchemaError, match="answers strangely"):
        read(answers, path=place)


def test_all_versions_come_in_the_order_in_which_they_were_registered(small: SmallRegistry) -> None:
    for fields in (["a"], ["a", "b"], ["b"]):
        small.add("shop.orders-value", record("Value", *fields))
    assert paths(read(small.confluent)) == {"shop.orders": [["a"], ["a", "b"], ["b"]]}
    reading = read(small.apicurio, path=V3)
    assert paths(reading) == {"shop.orders": [["a"], ["a", "b"], ["b"]]}
    assert [one.label for one in reading.declarations] == ["1", "2", "3"]
    assert {one.id for one in reading.wire} == {
        f"{kind}:{number}" for kind in ("content", "global") for number in (1, 2, 3)
    }


@pytest.mark.parametrize("api", ["confluent", "apicurio"])
def test_a_reference_means_the_very_version_that_it_names(small: SmallRegistry, api: str) -> None:
    small.add("address", record("Address", "street"))
    small.add("address", record("Address", "street", "city"))
    for version in (1, 2):
        small.add(
            "customers-value",
            record("Customer", "name", "home:Address"),
            references=[{"name": "Address", "subject": "address", "version": version}],
        )
    is_confluent = api == "confluent"
    answers = small.confluent if is_confluent else small.apicurio
    reading = read(answers, "customers-value", path="" if is_confluent else V3)
    assert paths(reading) == {"customers": [["name", "home.street"], ["name", "home.street", "home.city"]]}
    assert all('"Address"' in one.text and "street" in one.text for one in reading.wire)


def test_json_schemas_refer_to_other_subjects_by_the_names_they_use(small: SmallRegistry) -> None:
    address = {
        "type": "object",
        "properties": {"city": {"$ref": "#/definitions/text"}},
        "definitions": {"text": {"type": "string"}},
    }
    small.add("address", address, schemaType="JSON")
    customer = {
        "type": "object",
        "properties": {"home": {"$ref": "address.json"}, "town": {"$ref": "address.json#/definitions/text"}},
    }
    references = [{"name": "address.json", "subject": "address", "version": 1}]
    small.add("customers-value", customer, schemaType="JSON", references=references)
    assert paths(read(small.confluent, "customers")) == {"customers": [["home.city", "town"]]}


def test_a_type_that_leads_back_to_itself_ends_in_a_leaf(small: SmallRegistry) -> None:
    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "id", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
    }
    small.add("nodes-value", node)
    assert paths(read(small.confluent)) == {"nodes": [["id", "next"]]}
    small.add("a", record("A", "b:B"), references=[{"name": "B", "subject": "b", "version": 1}])
    small.add("b", record("B", "a:A"), references=[{"name": "A", "subject": "a", "version": 1}])
    assert "a" in paths(read(small.confluent, "a"))


def test_the_key_of_a_topic_comes_with_its_value(small: SmallRegistry) -> None:
    small.add("shop.orders-key", record("Key", "id"))
    small.add("shop.orders-value", record("Value", "id", "total"))
    small.add("shop.items-value", record("Value", "id"))
    reading = read(small.confluent, "shop.orders")
    assert [(one.name, one.key) for one in reading.declarations] == [("shop.orders", ("id",))]
    assert len(reading.wire) == 2


def test_what_cannot_be_read_is_refused_by_name_and_the_rest_is_read(small: SmallRegistry) -> None:
    small.add("good-value", record("Value", "a"))
    small.add("broken-value", "{not json")
    small.add("proto-value", 'syntax = "proto3";', schemaType="PROTOBUF")
    small.add("lonely-value", record("Value", "a:Nowhere"))
    small.add("refused-value", record("Value", "a"))
    small.wrong["/subjects/refused-value/versions/1"] = Answer({"message": "not you"}, 403)
    reading = read(small.confluent)
    assert list(paths(reading)) == ["good"]
    reasons = {one.source.partition("(")[2].split("-")[0]: one.reason for one in reading.refused}
    assert set(reasons) == {"broken", "proto", "lonely", "refused"}
    assert "Protobuf" in reasons["proto"]
    assert "Nowhere" in reasons["lonely"]
    assert "not you" in reasons["refused"]


def test_drafts_and_disabled_versions_are_told_and_left_out(small: SmallRegistry) -> None:
    small.add("t-value", record("Value", "a"))
    small.add("t-value", record("Value", "a", "b"), state="DRAFT")
    small.add("t-value", record("Value", "c"), state="DISABLED")
    reading = read(small.apicurio, path=V3)
    assert [one.label for one in reading.declarations] == ["1"]
    reasons = {one.source.partition("(")[2]: one.reason for one in reading.refused}
    assert "It is a draft" in reasons["t-value 2)"]
    assert "It is disabled" in reasons["t-value 3)"]


def test_a_registry_that_goes_away_in_the_middle_stops_the_reading(small: SmallRegistry) -> None:
    small.add("a-value", record("Value", "a"))
    small.wrong["/subjects/a-value/versions/1"] = Answer({}, 503)
    with pytest.raises(ServiceUnavailableError):
        read(small.confluent)


def test_somebody_who_stops_stops_the_reading(small: SmallRegistry) -> None:
    for number in range(50):
        small.add(f"t{number}-value", record("Value", "a"))

    def told(text: str, done: int, _total: int) -> None:
        if done > 3:
            raise RunCancelled(text)

    with opened(small.confluent) as (registry, _), pytest.raises(RunCancelled):
        read_registry(registry, (), told)


def test_no_subject_that_fits_is_told_with_the_pattern(small: SmallRegistry) -> None:
    assert "It holds no schemas yet." in read(small.confluent).refused[0].reason
    small.add("a", record("A", "a"))
    assert "No subject fits b*." in read(small.confluent, "b*").refused[0].reason


@pytest.mark.parametrize("api", ["confluent", "apicurio"])
def test_ids_bring_the_very_versions_that_have_them_with_what_they_refer_to(small: SmallRegistry, api: str) -> None:
    small.add("address", record("Address", "street"))
    references = [{"name": "Address", "subject": "address", "version": 1}]
    for fields in (["home:Address"], ["home:Address", "name"], ["name"]):
        small.add("customers-value", record("Customer", *fields), references=references)
    small.add("orders-value", record("Order", "id"))
    with opened(small.confluent if api == "confluent" else small.apicurio, "" if api == "confluent" else V3) as (it, _):
        reading = read_ids(it, ["5", "3", "content:2", "2"])
    assert paths(reading) == {"orders": [["id"]], "customers": [["home.street"], ["home.street", "name"]]}
    assert [one.label for one in reading.declarations] == ["1", "1", "2"]
    kinds = ("",) if api == "confluent" else ("content:", "global:")
    assert {one.id for one in reading.wire} == {f"{kind}{number}" for kind in kinds for number in (2, 3, 5)}
    assert not reading.refused


def test_an_id_that_no_version_is_told_to_have_brings_the_bare_schema_under_the_name_of_its_record(
    small: SmallRegistry,
) -> None:
    small.add("orders-value", record("Order", "id", namespace="shop"))
    small.wrong["/search/versions"] = Answer({"versions": [], "count": 0})
    with opened(small.apicurio, V3) as (registry, _):
        reading = read_ids(registry, ["1"])
    assert paths(reading) == {"shop.Order": [["id"]]}
    assert [(one.id, one.schema) for one in reading.wire] == [("content:1", "shop.Order")]


@pytest.mark.parametrize("api", ["confluent", "apicurio"])
def test_an_id_that_nothing_has_or_that_is_refused_is_told_and_the_others_come(small: SmallRegistry, api: str) -> None:
    small.add("orders-value", record("Order", "id"))
    small.add("secret-value", record("Secret", "id"))
    small.wrong["/schemas/ids/2/versions"] = Answer({"message": "not you"}, 403)
    with opened(small.confluent if api == "confluent" else small.apicurio, "" if api == "confluent" else V3) as (it, _):
        reading = read_ids(it, ["1", "99", "../../etc", *(["2"] if api == "confluent" else [])])
        shown = it.place.shown
    assert paths(reading) == {"orders": [["id"]]}
    reasons = {one.source: one.reason for one in reading.refused}
    assert "Nothing in it has this id" in reasons.pop(f"{shown} (id 99)")
    assert "Nothing in it has this id" in reasons.pop(f"{shown} (id ../../etc)")
    assert ["not you" in reason for reason in reasons.values()] == ([True] if api == "confluent" else [])


def test_a_registry_that_lists_other_versions_than_those_of_an_id_is_not_believed(small: SmallRegistry) -> None:
    small.add("orders-value", record("Order", "id"))
    small.add("items-value", record("Item", "id"))
    every = [small._listed(name, 1, ones[0]) for name, ones in small.subjects.items()]
    small.wrong["/search/versions"] = Answer({"versions": every, "count": 2})
    with opened(small.apicurio, V3) as (registry, _):
        assert paths(read_ids(registry, ["2"])) == {"items": [["id"]]}


@pytest.mark.parametrize("api", ["confluent", "apicurio"])
def test_only_what_is_new_since_a_mark_is_read(small: SmallRegistry, api: str) -> None:
    answers = small.confluent if api == "confluent" else small.apicurio
    for name in ("a", "b", "c"):
        small.add(f"{name}-value", record("Value", "x"))
    with opened(answers, V3 if api == "apicurio" else "") as (registry, server):
        reading, mark = new_in_registry(registry, (), None)
        assert len(reading.declarations) == 3
        before = len(server.asked)
        again, mark = new_in_registry(registry, (), mark)
        assert not again.declarations
        # Apicurio tells in one answer that nothing is new; Confluent's API has to be asked subject by subject.
        assert len(server.asked) - before == (1 if api == "apicurio" else 4)
        small.add("b-value", record("Value", "x", "y"))
        small.add("d-value", record("Value", "z"))
        changed, mark = new_in_registry(registry, (), mark)
        assert paths(changed) == {"b": [["x"], ["x", "y"]], "d": [["z"]]}
        assert not new_in_registry(registry, (), mark)[0].declarations


def test_a_subject_whose_versions_are_not_listed_is_told_once_and_stops_no_other(small: SmallRegistry) -> None:
    small.add("good-value", record("Value", "x"))
    small.add("secret-value", record("Value", "x"))
    small.wrong["/subjects/secret-value/versions"] = Answer({"message": "not you"}, 403)
    with opened(small.confluent) as (registry, _):
        reading, mark = new_in_registry(registry, (), None)
        assert list(paths(reading)) == ["good"]
        assert ["not you" in one.reason for one in reading.refused] == [True]
        again, mark = new_in_registry(registry, (), mark)
        assert not again.refused
        del small.wrong["/subjects/secret-value/versions"]
        assert list(paths(new_in_registry(registry, (), mark)[0])) == ["secret"]


def test_what_is_known_by_its_ids_is_not_read_again_without_a_mark(small: SmallRegistry) -> None:
    for name in ("a", "b"):
        small.add(f"{name}-value", record("Value", "x"))
    with opened(small.apicurio, V3) as (registry, server):
        reading, _ = new_in_registry(registry, (), None, known=frozenset({"content:1"}))
        assert paths(reading) == {"b": [["x"]]}
        server.asked.clear()
        assert not new_in_registry(registry, (), None, known=frozenset({"content:1", "global:2"}))[0].declarations
        assert len(server.asked) == 2
