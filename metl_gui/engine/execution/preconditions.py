"""What can be refused of a run before Spark is started, so that nobody waits for a refusal."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import ROLES, RunSpec
from metl_gui.core.runs.target import Target, TargetKind, parse_target
from metl_gui.engine.checks.destinations import refuse_feedback, refuse_shared_places
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sources.error_store import ErrorStore
from metl_gui.engine.sources.files import list_files
from metl_gui.engine.sources.typed_addresses import reads_typed
from metl_gui.engine.spark.java import find_java
from metl_gui.engine.spark.target_check import check_target
from metl_gui.engine.streaming.checkpoint import check_stream, head_of, read_head


def check_run(spec: RunSpec, target: Target | str) -> None:
    """Check whether a run could start; nothing is made or changed. The run looks again when it starts.

    Cost: one look at every file of the source, some questions to Kafka servers.

    Raises:
        RunError: the Spark target, the source, a place for outputs or Kafka servers will not do.
        SetupError: there is no Java that is new enough; a Connect server has its own.
    """
    target = parse_target(target) if isinstance(target, str) else target
    check_target(target)
    refuse_feedback(spec)
    refuse_shared_places(spec)
    if target.kind is not TargetKind.CONNECT:
        find_java()
    if any(spec.servers_of(role) is not None for role in ROLES):
        from metl_gui.engine.checks.topic_checks import check_topics

        is_resumed = bool(spec.policy.checkpoint) and read_head(Path(head_of(spec).checkpoint)) is not None
        check_topics(spec, is_resumed=is_resumed)
    if spec.policy.checkpoint:
        check_stream(spec)
        return
    source = spec.source
    if source.replay is not None and not is_kafka(source.address):
        ErrorStore.at(source.address, source.replay.reasons, source.max_record_bytes)
    elif reads_typed(spec.source):
        from metl_gui.engine.sources.typed_files import TypedFileSource

        TypedFileSource.of(spec)
    elif not is_kafka(source.address):
        list_files(source.address)
    Staging(spec).check()
