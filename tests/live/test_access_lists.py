"""A lane whose user may do only what the page about production lists; what is said where one of these is missing."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from metl_gui.core.runs.events import EngineEvent, LaneProgressed
from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.report import RunReport
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.errors import RunError
from metl_gui.stack.kafka import KafkaBroker
from tests.helpers.ways_in import GUEST, PASSWORD, WaysIn
from tests.lane_trial.load import Load, start
from tests.lane_trial.topics import TrialTopics, trial_topics
from tests.lane_trial.trial import Wanted, spec_of

pytestmark = [pytest.mark.live, pytest.mark.spark]

_RECORDS = 20
_SECONDS = 120.0

Right = tuple[ResourceType, str, ResourcePatternType, tuple[AclOperation, ...]]


@pytest.fixture
def admin(kafka: KafkaBroker) -> Iterator[AdminClient]:
    """Who writes the access lists; none of them outlives the test."""
    made = AdminClient({"bootstrap.servers": kafka.bootstrap})
    yield made
    allow(made, {})


@pytest.fixture
def servers(kafka: KafkaBroker, ways_in: WaysIn) -> KafkaServers:  # noqa: ARG001 - started, with the way in
    """The way in with a login of the one user who may do only what access lists say."""
    login = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": GUEST}
    return KafkaServers(
        bootstrap=f"localhost:{ways_in.login}",
        settings=tuple(login.items()),
        secrets=(("sasl.password", PASSWORD),),
    )


def rights_of(topics: TrialTopics) -> dict[str, Right]:
    """Return what the page lists."""
    literal, prefixed = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED
    own = (AclOperation.CREATE, AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE_CONFIGS)
    return {
        "source": (ResourceType.TOPIC, topics.source, literal, (AclOperation.READ,)),
        "sink": (ResourceType.TOPIC, topics.sink, literal, (AclOperation.WRITE,)),
        "errors": (ResourceType.TOPIC, topics.errors, literal, (AclOperation.WRITE,)),
        "own topics": (ResourceType.TOPIC, "metl.", prefixed, own),
        "group": (ResourceType.GROUP, topics.group, literal, (AclOperation.READ,)),
        "transactions": (ResourceType.TRANSACTIONAL_ID, f"{topics.group}-", prefixed, (AclOperation.WRITE,)),
    }


def allow(admin: AdminClient, rights: Mapping[str, Right]) -> None:
    """Let the guest do this and nothing else."""
    everything = AclBindingFilter(
        ResourceType.ANY,
        None,  # type: ignore[arg-type]  # any, and so below
        ResourcePatternType.ANY,
        None,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    for removed in admin.delete_acls([everything]).values():
        removed.result(30)
    wanted = [
        AclBinding(kind, name, pattern, f"User:{GUEST}", "*", operation, AclPermissionType.ALLOW)
        for kind, name, pattern, operations in rights.values()
        for operation in operations
    ]
    for made in (admin.create_acls(wanted) if wanted else {}).values():
        made.result(30)


def run_lane(spark: SparkProcess, topics: TrialTopics, servers: KafkaServers, folder: Path) -> RunReport:
    """Write records as one who may, and run a lane as the user until it has read them."""
    in_the_clear = topics.servers.bootstrap
    assert start(Load(in_the_clear, topics.source, _RECORDS, 0.0, 1, "json+schema")).wait() == 0
    giving_up = threading.Timer(_SECONDS, spark.cancel)
    giving_up.start()

    def take(event: EngineEvent) -> None:
        if isinstance(event, LaneProgressed) and event.tally.read >= _RECORDS:
            spark.cancel()

    try:
        return spark.run(spec_of(topics, Wanted(_RECORDS, 0), str(folder), servers=(servers,) * 3), take)
    finally:
        giving_up.cancel()


def test_a_lane_needs_no_more_rights_than_are_listed_and_names_the_one_that_is_missing(
    kafka: KafkaBroker, admin: AdminClient, servers: KafkaServers, spark: SparkProcess, tmp_path: Path
) -> None:
    missing = {
        "source": ("There is no topic {source}", f"shows the user {GUEST}"),
        "sink": ("cannot write to its topic {sink}", "allowed to write to {sink}"),
        "group": (f"forbid the user {GUEST} a consumer group", "group {group}"),
        "transactions": (f"forbid the user {GUEST} a transactional id", "transactional ids {group}"),
        "own topics": (f"forbid the user {GUEST} a topic", "metl.lane.{group}"),
    }
    for name, words in missing.items():
        with trial_topics(kafka.servers, 2) as topics:
            rights = rights_of(topics)
            allow(admin, {each: right for each, right in rights.items() if each != name})
            with pytest.raises(RunError) as refused:
                run_lane(spark, topics, servers, tmp_path / name)
        said = f"{refused.value.title} {refused.value.text} {refused.value.hint}"
        for word in words:
            assert word.format(**topics._asdict()) in said
        assert PASSWORD not in said
    with trial_topics(kafka.servers, 2) as topics:
        allow(admin, rights_of(topics))
        report = run_lane(spark, topics, servers, tmp_path / "allowed")
    assert (report.read, report.mapped, report.set_aside) == (_RECORDS, _RECORDS, 0)
