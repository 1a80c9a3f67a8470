"""Where a lane's tasks are kept."""

from __future__ import annotations

import os

import pytest

from metl_gui.core.runs.target import Target, parse_target
from metl_gui.engine.lanes.target import lane_target


@pytest.mark.parametrize(
    ("given", "wanted"), [("local[3]", "local[3,4]"), ("local[3,1]", "local[3,4]"), ("local[*]", None), ("local", None)]
)
def test_a_lane_on_this_computer_has_its_tasks_tried_again(given: str, wanted: str | None) -> None:
    target = lane_target(parse_target(given))
    assert target.master == (wanted or f"local[{os.cpu_count()},4]")
    assert target.is_local


def test_a_lane_takes_no_more_of_a_cluster_than_its_profile_says_and_little_where_it_says_nothing() -> None:
    silent = lane_target(Target(master="spark://host:7077"))
    asked = lane_target(Target(master="spark://host:7077", settings=(("spark.cores.max", "12"),)))
    assert (silent.setting("spark.cores.max"), asked.setting("spark.cores.max")) == ("2", "12")
    assert silent.setting("spark.speculation") == "false"


def test_the_sessions_of_a_connect_server_stay_as_they_are() -> None:
    target = parse_target("sc://host:15002")
    assert lane_target(target) is target
