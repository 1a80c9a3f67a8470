"""The source of a run, whatever it reads: files, topics, an error store or an error topic."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.sources.error_store import ErrorStore, ReplaySource, exclusive
from metl_gui.engine.sources.files import list_files
from metl_gui.engine.sources.source import FileSource, Source
from metl_gui.engine.sources.typed_addresses import reads_typed
from metl_gui.engine.sources.typed_files import TypedFileSource


@contextlib.contextmanager
def source_of(spec: RunSpec, *, is_marked: bool) -> Iterator[Source]:
    """List what a run reads; an error store that is to be marked is held until then.

    Args:
        spec: the run.
        is_marked: a replay takes what it has read out of its error store or topic.

    Raises:
        RunError: there is nothing to read, or another replay is at it.
    """
    if is_kafka(spec.source.address):
        from metl_gui.engine.sources.topic_source import ErrorTopicSource, TopicSource

        yield TopicSource(spec) if spec.source.replay is None else ErrorTopicSource(spec, is_marked=is_marked)
        return
    if reads_typed(spec.source):
        yield TypedFileSource.of(spec)
        return
    if spec.source.replay is None:
        yield FileSource(list_files(spec.source.address))
        return
    store = ErrorStore.at(spec.source.address, spec.source.replay.reasons, spec.source.max_record_bytes)
    with exclusive(store, is_marked):
        yield ReplaySource(store, spec.run_id, spec.policy.mode, spec.source.replay.is_again, is_marked)
