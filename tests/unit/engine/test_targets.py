"""Targets: what people write, what Spark is given, and what is never shown."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from metl_gui.core.runs.target import Target, TargetKind, parse_target
from metl_gui.engine.spark.target_check import check_target
from metl_gui.errors import RunError


@pytest.mark.parametrize(
    ("text", "kind", "places"),
    [
        ("local", TargetKind.LOCAL, ()),
        (" local[*] ", TargetKind.LOCAL, ()),
        ("local[12]", TargetKind.LOCAL, ()),
        ("sc://spark.example.com", TargetKind.CONNECT, (("spark.example.com", 15002),)),
        ("sc://[::1]:1234/;use_ssl=true", TargetKind.CONNECT, (("::1", 1234),)),
        ("spark://a:7077,b:7078", TargetKind.CLUSTER, (("a", 7077), ("b", 7078))),
        ("yarn", TargetKind.CLUSTER, ()),
        ("k8s://https://api.example.com:6443", TargetKind.CLUSTER, ()),
        ("local-cluster[2,1,1024]", TargetKind.CLUSTER, ()),
        ("other://host:1", TargetKind.CLUSTER, ()),
    ],
)
def test_each_target_gets_the_session_it_needs(
    text: str, kind: TargetKind, places: tuple[tuple[str, int], ...]
) -> None:
    target = parse_target(text)
    assert (target.kind, target.places) == (kind, places)


@pytest.mark.parametrize(
    "text", ["", "locale", "local[0]", "local[1000]", "spark://host", "sc://", "sc://h:0", "sc://h/;use_ssl", "@lab"]
)
def test_what_is_no_target_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(RunError) as caught:
        parse_target(text)
    assert caught.value.hint


def test_the_token_of_a_connect_address_reaches_spark_and_nothing_that_is_shown() -> None:
    target = parse_target("sc://h:1/;use_ssl=true;token=a%3Bb;x-api-key=k1")
    assert target.secrets == (("token", "a;b"), ("x-api-key", "k1"))
    assert target.connect_url == "sc://h:1/;use_ssl=true;token=a%3Bb;x-api-key=k1"
    for shown in (target.master, target.shown, repr(target), str(target), f"{[target]}"):
        assert "a;b" not in shown
        assert "a%3Bb" not in shown
        assert "k1" not in shown


def test_a_wrong_parameter_is_refused_without_being_quoted() -> None:
    with pytest.raises(RunError) as caught:
        parse_target("sc://host:1/;token=abc;hunter2")
    assert "hunter2" not in str(caught.value)
    assert "abc" not in str(caught.value)


def test_a_secret_setting_is_no_part_of_the_address() -> None:
    target = Target(master="sc://h:1", secrets=(("spark.hadoop.fs.s3a.secret.key", "k1"), ("token", "t")))
    assert target.connect_url == "sc://h:1/;token=t"
    assert target.secret_settings == (("spark.hadoop.fs.s3a.secret.key", "k1"),)


@pytest.fixture
def ports() -> Iterator[tuple[int, int]]:
    """A port that somebody listens at, and one that nobody does."""
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        yield listening.getsockname()[1], silent.getsockname()[1]


def test_a_cluster_is_there_when_one_of_its_masters_answers(ports: tuple[int, int]) -> None:
    open_, closed = ports
    check_target(f"spark://127.0.0.1:{closed},127.0.0.1:{open_}")
    with pytest.raises(RunError, match="master does not answer"):
        check_target(f"spark://127.0.0.1:{closed}")


def test_a_profile_is_named_beside_where_it_leads() -> None:
    assert Target(master="yarn", profile="lab").shown == "@lab (yarn)"


@pytest.mark.parametrize(
    "text",
    [
        "sc://me:hunter2@h:1",
        "spark://me:hunter2@h:1",
        "k8s://https://me:hunter2@h:1",
        "mesos://me:hunter2@h",
        "sc://h:1/?token=hunter2",
        "yarn;token=hunter2",
        "local[*];token=hunter2",
    ],
)
def test_a_secret_in_an_address_that_takes_none_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(RunError) as refused:
        parse_target(text)
    assert "hunter2" not in str(refused.value)
