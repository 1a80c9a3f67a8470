"""What the tasks of a run are told of topics: where messages and set-aside records go."""

from __future__ import annotations

import msgspec

from metl_gui.engine.kafka.servers import parse_address
from metl_gui.engine.runs import RunSpec
from metl_gui.engine.task import TaskOrder


def with_topics(order: TaskOrder, spec: RunSpec) -> TaskOrder:
    """Name the topics of a run in the order of its tasks; asks their servers what they take.

    Raises:
        RunError: an address cannot be read, or settings will not do.
    """
    sink, errors = spec.servers_of("sink"), spec.servers_of("errors")
    if sink is None and errors is None:
        return order
    from metl_gui.engine.entity_places import entities_of
    from metl_gui.engine.kafka.topics import topic_order

    if sink is not None:
        entities = entities_of(spec.plan) if spec.plan else frozenset()
        topics = topic_order(sink, parse_address(spec.sink), entities, has_tombstones=spec.has_tombstones)
        order = msgspec.structs.replace(order, messages=None, topics=topics)
    if errors is not None:
        order = msgspec.structs.replace(order, error_topic=topic_order(errors, parse_address(spec.errors), ()))
    return order


def travels_in_closure(order: TaskOrder | None, has_topics: bool) -> bool:
    """Whether what tasks are told may hold secrets, which options of a data source would show."""
    return has_topics or (order is not None and (order.topics is not None or order.error_topic is not None))
