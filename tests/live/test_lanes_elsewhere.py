"""Fast lanes whose tasks Spark places on other computers' Pythons, which lack our package."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.runs.target import Target
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.stack.spark import SparkMaster
from tests.helpers.spark_fixtures import make_python
from tests.lane_trial.trial import Trial, Wanted, measure

pytestmark = [pytest.mark.live, pytest.mark.spark]


def on_cluster(master: SparkMaster, python: Path, cores: int = 2) -> Target:
    settings = {"spark.pyspark.python": str(python), "spark.executor.memory": "512m", "spark.cores.max": str(cores)}
    return msgspec.structs.replace(master.target, settings=(*master.target.settings, *settings.items()))


def test_a_lane_on_a_cluster_loses_and_repeats_nothing_when_one_of_its_executors_is_killed(
    kafka: KafkaBroker, spark_master: SparkMaster, bare_python: Path
) -> None:
    killed: list[int] = []

    def kill(_trial: Trial) -> None:
        killed.append(spark_master.executors[0])
        os.kill(killed[0], signal.SIGKILL)

    target = on_cluster(spark_master, bare_python)
    result = measure(kafka.servers, Wanted(18_000, 1_500), kill, target=target)
    assert killed
    assert (result.report.read, result.report.messages_out) == (18_000, 18_000)
    assert (result.missing, result.repeated) == (0, 0)


def test_a_lane_says_what_a_cluster_lacks_for_it(kafka: KafkaBroker, spark_master: SparkMaster, tmp_path: Path) -> None:
    python = make_python(tmp_path / "lacking", without=["confluent_kafka"])
    with pytest.raises(RuntimeError, match="confluent"):
        measure(kafka.servers, Wanted(10, 0), target=on_cluster(spark_master, python, cores=1))
