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
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import RunError
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker
from tests.helpers.ways_in import PASSWORD, USER, WaysIn
from tests.lane_trial.load import Load, start
from tests.lane_trial.topics import TrialTopics, trial_topics
from tests.lane_trial.trial import Wanted, spec_of

from .conftest import need, need_jars

pytestmark = [pytest.mark.live, pytest.mark.spark]

_RECORDS = 20
_SECONDS = 120.0

Right = tuple[ResourceType, str, ResourcePatternType, tuple[AclOperation, ...]]


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[KafkaBroker, KafkaServers]]:
    """A broker with access lists, where whoever comes in the clear may do everything; and its way in with a login."""
    need(find_java)
    need_jars(KAFKA_JARS)
    ways = WaysIn.find(tmp_path)
    broker = ways.broker()
    broker.settings["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    broker.settings["super.users"] = "User:ANONYMOUS"
    login = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": USER}
    servers = KafkaServers(
        bootstrap=f"localhost:{ways.login}",
        settings=tuple(login.items()),
        secrets=(("sasl.password", PASSWORD),),
    )
    with broker:
        yield broker, servers


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
    """Let the user do this and nothing else."""
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
        AclBinding(kind, name, pattern, f"User:{USER}", "*", operation, AclPermissionType.ALLOW)
        for kind, name, pattern, operations in rights.values()
        for operation in operations
    ]
    for made in admin.create_acls(wanted).values():
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
    guarded: tuple[KafkaBroker, KafkaServers], tmp_path: Path
) -> None:
    broker, servers = guarded
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    missing = {
        "source": ("There is no topic {source}", f"shows the user {USER}"),
        "sink": ("cannot write to its topic {sink}", "allowed to write to {sink}"),
        "group": (f"forbid the user {USER} a consumer group", "group {group}"),
        "transactions": (f"forbid the user {USER} a transactional id", "transactional ids {group}"),
        "own topics": (f"forbid the user {USER} a topic", "metl.lane.{group}"),
    }
    with SparkProcess("local[2,4]") as spark:
        for name, words in missing.items():
            with trial_topics(broker.servers, 2) as topics:
                rights = rights_of(topics)
                allow(admin, {each: right for each, right in rights.items() if each != name})
                with pytest.raises(RunError) as refused:
                    run_lane(spark, topics, servers, tmp_path / name)
            said = f"{refused.value.title} {refused.value.text} {refused.value.hint}"
            for word in words:
                assert word.format(**topics._asdict()) in said
            assert PASSWORD not in said
        with trial_topics(broker.servers, 2) as topics:
            allow(admin, rights_of(topics))
            report = run_lane(spark, topics, servers, tmp_path / "allowed")
    assert (report.read, report.mapped, report.set_aside) == (_RECORDS, _RECORDS, 0)
