"""Checks of where a run writes: each entity has a destination of its own, none lies where the source is read.

The messages of an entity go to a topic or a folder that is named after it. Characters that such names may not have are
written in another way, so the name of one entity, however unlikely, may be what another one's is written as. Nobody
could tell their messages apart any more: such a run is refused.

A run that would read what it writes is refused too: with ``--follow`` it would never end, else the next run would read
it.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
from pathlib import Path

from metl_gui.core.runs.kafka import ENTITY, is_internal, is_kafka, parse_address
from metl_gui.core.runs.run_spec import NOOP, RunSpec
from metl_gui.engine.kafka.topic_messages import topic_of
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.sinks.sink import folder_name
from metl_gui.engine.sources.files import fixed_part, is_passed_over, linked_folders
from metl_gui.errors import RunError

_RENAME = "Give it another name in the canonical model"


def entities_of(plan: bytes) -> frozenset[str]:
    """Return the entities that a compiled state maps to."""
    schemas = plans.decode(plan).schemas
    return frozenset(block.entity for one in schemas for version in one.versions for block in version.blocks)


def refuse_shared_places(spec: RunSpec) -> None:
    """Refuse a run whose entities would share a topic or a folder, or have one that is not theirs; asks no server.

    Raises:
        RunError: the error names the entities and the place.
    """
    for place in filter(is_kafka, (spec.sink.address, spec.sink.errors)):
        for topic in filter(is_internal, parse_address(place).topics):
            raise _taken(f"Topic {topic} takes no messages of a run.", topic, "Name another one")
    if not spec.mapping.plan or spec.sink.address == NOOP:
        return
    entities = sorted(entities_of(spec.mapping.plan))
    if not is_kafka(spec.sink.address):
        folders = {entity: folder_name(entity) for entity in entities}
        _refuse_shared(folders, "folder")
        _refuse_beside_errors(folders, spec)
        return
    pattern = next(iter(parse_address(spec.sink.address).topics), "")
    if ENTITY not in pattern:
        return
    topics = {entity: topic_of(pattern, entity) for entity in entities}
    for entity, topic in topics.items():
        if is_internal(topic):
            title = f"Entity {entity!r} would have a topic that is not its own."
            raise _taken(title, topic, f"{_RENAME}, or begin the topics of the sink differently")
    _refuse_shared(topics, "topic")


def _taken(title: str, topic: str, hint: str) -> RunError:
    return RunError(title, f"Messages in {topic} would be in the way of lanes, a registry or Kafka itself.", f"{hint}.")


def _refuse_beside_errors(folders: dict[str, str], spec: RunSpec) -> None:
    """Refuse an entity whose messages would lie among the records that are set aside."""
    places = os.path.expanduser(spec.sink.address), os.path.expanduser(spec.errors_folder)  # noqa: PTH111 - takes any home
    sink, errors = (Path(os.path.realpath(place)) for place in places)
    first = errors.relative_to(sink).parts[:1] if errors.is_relative_to(sink) else ()
    for entity, folder in folders.items():
        if (folder,) == first:
            raise RunError(
                f"Entity {entity!r} and set-aside records would share a folder.",
                f"Both would go into {sink / folder}.",
                "Give --errors a folder outside the sink, or another name.",
            )


def _refuse_shared(places: dict[str, str], what: str) -> None:
    """Refuse entities with one place; Kafka takes a dot and an underscore in the names of two topics for the same."""
    first: dict[str, str] = {}
    for entity, place in places.items():
        other = first.setdefault(place.replace(".", "_") if what == "topic" else place, entity)
        if other == entity:
            continue
        both = f"{places[other]} and {place}, which Kafka takes for one name" if places[other] != place else place
        way = "a sink without {entity}, one topic for all" if what == "topic" else "topics as the sink"
        raise RunError(
            f"Two entities would share a {what}.",
            f"The messages of {other!r} and {entity!r} would go into {both}.",
            f"{_RENAME.replace('it', 'one of them')}, or give {way}.",
        )


def refuse_feedback(spec: RunSpec) -> None:
    """Check whether messages, set-aside records and the checkpoint lie where the source is not read.

    Raises:
        RunError: one of them lies in the source; the error names both.
    """
    if spec.is_replay or not spec.source.address or is_kafka(spec.source.address):
        return  # topics are looked at in topic_checks
    sink = "" if spec.sink.address == NOOP or is_kafka(spec.sink.address) else spec.sink.address
    errors = "" if is_kafka(spec.sink.errors) else spec.sink.errors
    is_read = False
    for what, place in (("output", sink), ("--errors", errors), ("--checkpoint", spec.policy.checkpoint)):
        with contextlib.suppress(RuntimeError):  # the home folder of somebody unknown: refused elsewhere, by its name
            is_read = bool(place) and _is_read(spec.source.address, place)
        if is_read:
            raise RunError(
                f"The {what} folder lies in the source.",
                f"{place} is below {spec.source.address}, so what the run writes there would be read again.",
                "Give a folder beside the source, or one whose name begins with a dot or an underscore.",
            )


def _is_read(source: str, place: str) -> bool:
    """Whether files that appear in a place would belong to a source; hidden folders never do."""
    path = Path(source).expanduser()
    is_pattern = glob.has_magic(source) and not path.exists()
    root = Path(os.path.realpath(fixed_part(path) if is_pattern else path))
    written = Path(os.path.realpath(Path(place).expanduser()))
    linked = linked_folders(path) if path.is_dir() else ()
    if any(written.is_relative_to(real) and not is_passed_over(written.relative_to(real).parts) for real in linked):
        return True
    if not written.is_relative_to(root) or (root.exists() and not root.is_dir()):
        return False
    parts = written.relative_to(root).parts
    pattern = path.parts[len(fixed_part(path).parts) :] if is_pattern else ()
    return not is_passed_over(parts, pattern) and (not is_pattern or _matches(parts, pattern))


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a pattern leads to a folder, into it, or to one above it, which is read with all that is below."""
    for part, wanted in zip(parts, pattern, strict=False):
        if wanted == "**":
            return True
        if not fnmatch.fnmatchcase(part, wanted):
            return False
    return True
