"""Marks of replays hold for the topic that they were made for, and where topics have ids."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.run_spec import ReplayOrder, RunSpec
from metl_gui.engine.kafka import replay_marks
from metl_gui.engine.kafka.consumer import OffsetRange
from metl_gui.engine.kafka.replay_marks import ReasonMark
from metl_gui.engine.sources import topic_source
from metl_gui.engine.sources.topic_source import ErrorTopicSource, TopicSource
from tests.helpers.run_specs import run_spec


def replay_of(monkeypatch: pytest.MonkeyPatch, ids: dict[str, str], kept: list[ReasonMark]) -> ErrorTopicSource:
    """Return a replay in production of a topic with 100 records, whose groups were forgotten."""

    def listed(source: TopicSource, _spec: RunSpec) -> None:
        source.servers, source.notes, source.topic_ids = KafkaServers(bootstrap="127.0.0.1:1"), (), ids
        source.wanted = [OffsetRange("errors", 0, 0, 100)]

    monkeypatch.setattr(TopicSource, "__init__", listed)
    monkeypatch.setattr(ErrorTopicSource, "_known_reasons", lambda _self: [])
    monkeypatch.setattr(ErrorTopicSource, "_committed", lambda *_: {})
    monkeypatch.setattr(ErrorTopicSource, "_commit", lambda *_: None)
    monkeypatch.setattr(topic_source, "kept_marks", lambda *_: kept)
    spec = run_spec(source="kafka://127.0.0.1:1/errors", mode="production")
    source = msgspec.structs.replace(spec.source, replay=ReplayOrder())
    return ErrorTopicSource(msgspec.structs.replace(spec, source=source), is_marked=True)


@pytest.mark.parametrize(
    ("ids", "marked", "start"),
    [({"errors": "x"}, "x", 40), ({"errors": "y"}, "x", 0), ({"errors": "x"}, "", 0), ({"errors": ""}, "", 0),
     ({}, "", 0), ({}, "x", 0)],
)  # fmt: skip
def test_a_mark_is_heeded_for_the_topic_that_it_was_made_for_and_no_other(
    monkeypatch: pytest.MonkeyPatch, ids: dict[str, str], marked: str, start: int
) -> None:
    replay = replay_of(monkeypatch, ids, [ReasonMark("", 0, 40, marked)])
    assert [one.start for one in replay.wanted] == [start]


@pytest.mark.parametrize(("ids", "marks"), [({"errors": "x"}, 1), ({"errors": ""}, 0), ({}, 0)])
def test_no_mark_is_kept_of_a_topic_whose_id_is_not_known(
    monkeypatch: pytest.MonkeyPatch, ids: dict[str, str], marks: int
) -> None:
    kept: list[ReasonMark] = []
    monkeypatch.setattr(topic_source, "keep_marks", lambda _servers, _topic, found: kept.extend(found))
    replay_of(monkeypatch, ids, []).after_commit()
    assert kept == [ReasonMark("", 0, 100, "x")][:marks]


def test_the_client_that_reads_marks_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []
    message = SimpleNamespace(key=lambda: b"/0", value=lambda: b"40 x")
    monkeypatch.setattr(replay_marks, "Lister", lambda *_, **__: SimpleNamespace(listed=lambda: ()))
    monkeypatch.setattr(replay_marks, "RangeReader", lambda *_: SimpleNamespace(batches=lambda: [[message]]))
    monkeypatch.setattr(replay_marks, "close_clients", lambda: closed.append(True))
    found = replay_marks.kept_marks(cast(Any, None), "metl.replay.production.errors")
    assert (found, closed) == ([ReasonMark("", 0, 40, "x")], [True])
