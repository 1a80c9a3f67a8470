"""Watching a registry: what is new comes in at once and once, and a registry that goes away is waited for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.progress import Watch
from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side
from metl_gui.registry.remote import http as web_module
from metl_gui.workbench.importing.schema_import import ImportResult, UnchangedVersion
from metl_gui.workbench.importing.source_watch import (
    LONGEST_SECONDS,
    NotRead,
    SourceLost,
    SourceRestored,
    VersionsAdded,
    VersionsWait,
    Watcher,
    WatchEvent,
    WatchTarget,
    event_json,
    event_lines,
    into_file,
    into_project,
)
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.session import Workbench
from tests.helpers.small_registry import SmallRegistry, record
from tests.helpers.web_servers import Answer, Asked, WebServer, serving
from tests.unit.workbench.conftest import write_table

DOWN = Answer({"message": "no database"}, 503)


@pytest.fixture
def small() -> SmallRegistry:
    found = SmallRegistry()
    found.add("fx.pay.orders-value", record("Value", "id", "customer_id", "amount", "legacy"))
    return found


@pytest.fixture
def server(small: SmallRegistry, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    monkeypatch.setattr(web_module, "_TRIES", 1)

    def answers(asked: Asked) -> Any:
        return small.confluent(replace(asked, path=asked.path.removeprefix("/apis/ccompat/v7")))

    with serving(answers) as found:
        yield found


class Time:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def watcher_of(server: WebServer, take: Any, events: list[WatchEvent], **more: Any) -> Watcher:
    return Watcher(f"{server.url}/apis/ccompat/v7", take, events.append, chance=lambda: 0.5, **more)


def test_a_new_version_inherits_the_mapping_and_what_is_lost_waits_for_review(
    mapped: Workbench, small: SmallRegistry, server: WebServer
) -> None:
    events: list[WatchEvent] = []
    watcher = watcher_of(server, into_project(mapped, Side.EXTRACTION), events)
    assert watcher.look() == 10.0
    first = len(events)
    state = mapped.document.state
    watcher.look()
    assert (len(events), mapped.document.state) == (first, state)
    small.add("fx.pay.orders-value", record("Value", "id", "customer_id", "amount"))
    watcher.look()
    added = events[-1]
    assert isinstance(added, VersionsAdded)
    assert [one.name for one in added.result.added] == ["fx.pay.orders"]
    assert added.result.blocks["smaller"] == 1
    assert review_items(mapped.document)
    assert event_lines(added)[1:] == ["1 decision waits for review."]
    assert watcher.is_well


def test_a_registry_that_is_down_for_an_hour_is_told_once_and_once_that_it_is_back(
    workbench: Workbench, small: SmallRegistry, server: WebServer
) -> None:
    events: list[WatchEvent] = []
    clock = Time()
    watcher = watcher_of(server, into_project(workbench, Side.EXTRACTION), events, clock=clock)
    clock.now += watcher.look()
    events.clear()
    small.wrong["/subjects"] = DOWN
    waits = []
    while clock.now < 3600:
        waits.append(watcher.look())
        clock.now += waits[-1]
    assert [type(event) for event in events] == [SourceLost]
    assert watcher.is_away
    assert waits[:4] == [20.0, 40.0, 80.0, 160.0]
    assert max(waits) == LONGEST_SECONDS
    assert len(waits) < 20
    small.add("fx.pay.orders-value", record("Value", "id"))
    del small.wrong["/subjects"]
    assert watcher.look() == 10.0
    assert [type(event) for event in events] == [SourceLost, SourceRestored, VersionsAdded]
    back = events[1]
    assert isinstance(back, SourceRestored)
    assert back.seconds > 3590
    assert "60 minutes" in event_lines(back)[0]


def test_a_registry_that_says_when_to_come_again_is_left_alone_until_then(
    workbench: Workbench, small: SmallRegistry, server: WebServer
) -> None:
    small.wrong["/subjects"] = Answer({}, 429, {"Retry-After": "1800"})
    assert watcher_of(server, into_project(workbench, Side.EXTRACTION), []).look() == 1800


def test_what_cannot_be_read_is_told_once(workbench: Workbench, small: SmallRegistry, server: WebServer) -> None:
    small.add("broken-value", record("Value", "a:Nowhere"))
    events: list[WatchEvent] = []
    watcher = watcher_of(server, into_project(workbench, Side.EXTRACTION), events)
    for _ in range(3):
        watcher.look()
    small.wrong["/subjects"] = Answer({}, 401)
    for _ in range(3):
        watcher.look()
    told = [event for event in events if isinstance(event, NotRead)]
    assert len(told) == 2
    assert "Nowhere" in event_lines(told[0])[0]
    assert "asks who we are" in event_lines(told[1])[0]
    assert not watcher.is_well


def test_versions_that_the_project_refuses_are_told_once_and_tried_until_it_takes_them(
    workbench: Workbench, server: WebServer
) -> None:
    own, events, answers = into_project(workbench, Side.EXTRACTION), list[WatchEvent](), [True, True, False]

    def add(reading: ReaderResult, watch: Watch) -> ImportResult | None:
        refused = (SkippedSource("fx.pay.orders", "is there already with another content"),)
        return ImportResult(1, (), (), refused, {}, 0) if answers.pop(0) else own.add(reading, watch)

    watcher = watcher_of(server, WatchTarget(add, own.known), events)
    assert [watcher.look(), watcher.look()] == [20.0, 40.0]
    assert [type(event) for event in events] == [NotRead]
    assert not watcher.is_well
    assert watcher.look() == 10.0
    assert [type(event) for event in events] == [NotRead, VersionsAdded]
    assert watcher.is_well


def test_a_look_at_which_nothing_new_is_taken_is_not_well_though_other_versions_are_there_already(
    workbench: Workbench, server: WebServer
) -> None:
    refused = (SkippedSource("fx.pay.orders", "is there already with another content"),)
    known = (UnchangedVersion("fx.pay.refunds", "1", "db"),)
    own = into_project(workbench, Side.EXTRACTION)
    watcher = watcher_of(server, WatchTarget(lambda *_: ImportResult(1, (), known, refused, {}, 0), own.known), [])
    watcher.look()
    assert not watcher.is_well


def test_while_somebody_else_edits_the_project_new_versions_wait_and_then_come_in(
    tmp_path: Path, server: WebServer
) -> None:
    path = tmp_path / "watched.metl"
    Workbench.create(path).close()
    events: list[WatchEvent] = []
    watcher = watcher_of(server, into_file(path, Side.EXTRACTION), events)
    with Workbench.open(path, who="somebody else"):
        watcher.look()
        watcher.look()
        assert [type(event) for event in events] == [VersionsWait]
        assert "fx.pay.orders 1" in event_lines(events[0])[0]
        assert "somebody else" in event_lines(events[0])[0]
    watcher.look()
    assert [type(event) for event in events] == [VersionsWait, VersionsAdded]
    with Workbench.open(path, for_editing=False) as workbench:
        assert workbench.document.state == 1


def test_two_that_watch_the_same_add_each_version_once(tmp_path: Path, small: SmallRegistry, server: WebServer) -> None:
    path = tmp_path / "watched.metl"
    Workbench.create(path).close()
    for number in range(5):
        small.add(f"t{number}-value", record("Value", "a"))
    events: list[WatchEvent] = []
    watchers = [watcher_of(server, into_file(path, Side.EXTRACTION), events) for _ in range(2)]

    def look(watcher: Watcher) -> None:
        watcher.look()

    threads = [threading.Thread(target=look, args=(watcher,)) for watcher in watchers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for watcher in watchers:
        watcher.look()
    assert sum(watcher.added for watcher in watchers) == 6
    with Workbench.open(path, for_editing=False) as workbench:
        assert workbench.document.state == 6


def test_following_ends_when_somebody_stops_it_and_waits_in_between(workbench: Workbench, server: WebServer) -> None:
    clock, slept = Time(), []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.now += seconds

    watcher = watcher_of(server, into_project(workbench, Side.EXTRACTION), [], clock=clock)
    watcher.follow(Watch(is_cancelled=lambda: watcher.looks == 3), sleep)
    assert watcher.looks == 3
    assert 19.9 < sum(slept) < 20.1
    assert max(slept) <= 0.1


def test_the_pauses_of_many_watchers_are_spread(workbench: Workbench, server: WebServer) -> None:
    pauses = set()
    for chance in (0.0, 0.25, 1.0):
        take = into_project(workbench, Side.EXTRACTION)
        watcher = Watcher(f"{server.url}/apis/ccompat/v7", take, lambda _: None, chance=lambda: chance)  # noqa: B023 - called at once
        pauses.add(watcher.look())
    assert pauses == {8.0, 9.0, 12.0}


def test_an_event_is_a_document_of_its_kind(mapped: Workbench, server: WebServer, tmp_path: Path) -> None:
    import_mapping(mapped, write_table(tmp_path, "fx.pay.orders,1,id,payment,1,payment_id"))
    events: list[WatchEvent] = []
    watcher_of(server, into_project(mapped, Side.EXTRACTION), events).look()
    document = event_json(SourceLost("@reg", "a", "b", "c"))
    assert document == {"event": "went_away", "source": "@reg", "title": "a", "text": "b", "hint": "c"}
    added = next(event for event in events if isinstance(event, VersionsAdded))
    assert event_json(added)["result"] == added.result.as_json()
