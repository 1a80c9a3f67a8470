"""The project of the live demo, set up from what flows: tables from their first messages, elements from suggestions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metl_gui.core.trees.nodes import Side
from metl_gui.engine.kafka.servers import KafkaServers
from metl_gui.errors import ProjectError
from metl_gui.workbench.confirming import confirm_unconfirmed
from metl_gui.workbench.importing import import_sources
from metl_gui.workbench.mapping import MapMode, import_mapping
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.publishing import publish
from metl_gui.workbench.sample import SampleFolder
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.suggesting import Asked, accept_best, suggest

LEAST_SCORE = 0.6
"""What is suggested with less is left to the mapping table, as it would be to a person."""
_EACH = 50
_FLOW_SECONDS = 60.0
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Made:
    """What was set up.

    Args:
        tables: how many tables were found in the messages.
        entities: how many the canonical model has.
        suggested: elements that were suggested well enough to be taken.
        by_hand: elements that the mapping table added.
        state: the state that was published.
    """

    tables: int
    entities: int
    suggested: int
    by_hand: int
    state: int


def set_up(
    workbench: Workbench, sample: SampleFolder, servers: KafkaServers, feeds: Mapping[str, str], watch: Watch
) -> Made:
    """Fill an empty project and publish it.

    Args:
        workbench: the project, open for editing.
        sample: where the canonical model and the mapping table lie.
        servers: where the messages are.
        feeds: the topics, and the entity that each is for.
        watch: progress and cancel.

    Raises:
        ProjectError: no messages come, or they are not what they should be.
        RunError: the servers do not answer.
    """
    entities = import_sources(workbench, Side.CDM, [sample.canonical_model], watch=watch)
    with tempfile.TemporaryDirectory(prefix="metl-first-") as folder:
        path = Path(folder) / "first.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in _first(servers, tuple(feeds), watch)))
        tables = import_sources(workbench, Side.EXTRACTION, [path], watch=watch)
    refused = (*entities.refused, *tables.refused)
    if refused:
        raise ProjectError("What the demo begins with was refused.", f"{refused[0].source}: {refused[0].reason}")
    taken = sum(_take_suggestions(workbench, topic, entity, watch) for topic, entity in feeds.items())
    mapped = import_mapping(workbench, sample.mapping, MapMode.REPLACE, watch=watch)
    if mapped.conflicts:
        first = mapped.conflicts[0]
        raise ProjectError("The mapping of the demo does not fit.", f"Line {first.line}: {first.reason}")
    confirm_unconfirmed(workbench, "Looked through when the demo began")
    published = publish(workbench, name="As the demo began")
    return Made(len(tables.added), len(entities.added), taken, mapped.set, published.state)


def _take_suggestions(workbench: Workbench, schema: str, entity: str, watch: Watch) -> int:
    asked = Asked(schema=schema, entity=entity)
    return accept_best(workbench, suggest(workbench.document, asked, watch=watch), LEAST_SCORE).set


def _first(servers: KafkaServers, topics: tuple[str, ...], watch: Watch) -> list[bytes]:
    """Read the first messages of topics as soon as each has some."""
    from metl_gui.engine.kafka.sampling import first_records

    end = time.monotonic() + _FLOW_SECONDS
    while True:
        found = {topic: first_records(servers, (topic,), _EACH) for topic in topics}
        if all(found.values()):
            return [line for lines in found.values() for line in lines]
        if time.monotonic() > end:
            missing = next(topic for topic, lines in found.items() if not lines)
            raise ProjectError(f"No messages come from {missing}.", "Debezium has written none so far.")
        watch.step("Waiting for the first messages")
        time.sleep(_LOOK_SECONDS)
