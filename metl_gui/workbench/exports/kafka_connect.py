"""``kafka-connect``: chains of Connect's own transforms that do what blocks do, where a chain can.

Connect's transforms look at one record at a time and at no version: a chain is made for a schema and an entity when all
versions of the schema give the same under the same names. Source: docs/architecture/model.md, "Algorithms" (A6);
docs/reference/cdc.md, "Flattened rows".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from metl_gui import __version__
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Schema, Version
from metl_gui.core.trees.paths import split
from metl_gui.engine.kafka.topic_messages import SCHEMA, STATE, topic_of
from metl_gui.values import Value
from metl_gui.workbench.exports.blocks import ExportedBlock
from metl_gui.workbench.exports.format_spec import Choices, Export, Option, slug, unique_names
from metl_gui.workbench.exports.mappable_blocks import (
    ColumnMasks,
    LeftOut,
    MappedVersion,
    key_of,
    left_out_sentences,
    mapped_schemas,
    mask_sentences,
)

TOPIC = Option("topic", "the topic that a chain sends to; {entity} stands for the entity", "{entity}")

ALL, NEWEST = "all", "newest"
VERSIONS = Option(
    "versions",
    "the versions of a schema that a chain must be right for: all, or the newest where its topic holds no others",
    ALL,
    (ALL, NEWEST),
)

_TRANSFORMS = "org.apache.kafka.connect.transforms"
_LONGEST_FILE = 120
_TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_PLAIN_TEXT = re.compile(r"[a-zA-Z_][a-zA-Z0-9._@-]*")
_README = """\
# Mapping with METL in Kafka Connect

State {state} of the matrix ({hash}), exported by METL Workbench {version}.

`chains.json` lists a chain of transforms for each schema and entity that Connect's own transforms can map, and every
block that they cannot, with the reason. Each file in `chains/` holds the settings of one chain; put them beside those
of a connector:

    jq -s 'add' my-connector.json chains/NAME.json > connector.json
    curl -X PUT -H 'Content-Type: application/json' --data @connector.json http://CONNECT:8083/connectors/NAME/config

- A chain is for one topic and one entity: a sink connector that reads the topic, or the source connector that writes
  it. Records of other topics pass it as they are. Where a schema feeds several entities, use one connector for each.
- It needs Debezium's jar (`io.debezium:debezium-core` 3.0 or newer) in the plug-in path of the worker, for
  `ExtractNewRecordState`, and messages with schemas (Avro, Protobuf, or JSON with `schemas.enable=true`).
- It makes records with the names of the canonical model in key and value, headers `{state_header}` and
  `{schema_header}`, and a tombstone for each delete.
"""

LIMITS = (
    "A record holds the payload and the key alone: no op, state, version and source as a METL message has.",
    "A delete is a tombstone; truncates are dropped; a create whose mapped values are all null is sent all the same.",
    "A version that this state does not know is mapped by its names and not set aside; nothing waits for a review.",
    "A schema that feeds several entities needs one connector for each, so a record is no longer sent whole or not.",
    "It reads Debezium's messages with their schemas; JSON without schemas passes Debezium's transform as it is.",
)


class Chain(Value):
    """What one chain does.

    Args:
        schema: the schema whose topic it reads.
        newest: the block of the newest version, which says what it makes.
        versions: labels of the versions that it is right for.
        renames: source names and CDM names of the row, in the order of the newest version.
        key: the same of the key; empty where the key stays as it comes.
        topic: where it sends.
    """

    schema: Schema
    newest: ExportedBlock
    versions: tuple[str, ...]
    renames: tuple[tuple[str, str], ...]
    key: tuple[tuple[str, str], ...]
    topic: str

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it takes records of."""
        return tuple(name for name in (self.schema.name, *self.schema.aliases) if _TOPIC_NAME.fullmatch(name))


def chains(document: Document, choices: Choices, watch: Watch) -> Iterator[Chain | LeftOut]:
    """Yield what can be a chain, and each block that cannot, in canonical order."""
    for schema, carried in mapped_schemas(document, choices.include_unconfirmed, watch, "Making chains"):
        versions = tuple(document.extraction.versions(schema.id))
        if choices.of(VERSIONS) == NEWEST:
            versions = versions[-1:]
        mapped = tuple(one for one in carried if one.version in versions)
        by_entity: dict[int, list[ExportedBlock]] = {}
        for block in (block for one in mapped for block in one.blocks):
            by_entity.setdefault(block.entity.id, []).append(block)
        why = _refused_schema(schema, mapped)
        for blocks in by_entity.values():
            found = why or _chain(versions, blocks, choices.of(TOPIC))
            if isinstance(found, Chain):
                yield found
            else:
                yield from (LeftOut(block.names, found) for block in blocks)


def _refused_schema(schema: Schema, mapped: Sequence[MappedVersion]) -> str:
    """Explain why nothing of a schema can be a chain; empty when something may."""
    if not any(_TOPIC_NAME.fullmatch(name) for name in (schema.name, *schema.aliases)):
        return "its schema has no name that a topic can have"
    held = next((one.version.label for one in mapped if one.has_held), None)
    if held is not None:
        return f"version {held} waits for a review, and a chain cannot set its records aside"
    if schema.setting("version_field"):
        return "a field names the version, and a chain cannot choose by it"
    return ""


def _chain(versions: Sequence[Version], blocks: Sequence[ExportedBlock], pattern: str) -> Chain | str:
    """Join the blocks of one entity to a chain, or say why none does what they do."""
    newest = blocks[-1]
    if len({block.entity_version.id for block in blocks}) > 1:
        return "several versions of the entity are fed at once"
    by_version = {block.version.id: dict(_pairs(block)) for block in blocks}
    silent = next((version.label for version in versions if version.id not in by_version), None)
    if silent is not None:
        return f"version {silent} is not mapped to it, and a chain cannot tell versions apart"
    renames = _joined(versions, by_version)
    if isinstance(renames, str):
        return renames
    why = next((why for pair in renames.items() for name in pair if (why := _refused(name))), "")
    if why:
        return why
    names = {split(source)[0]: split(target)[0] for source, target in renames.items()}
    keys = {key_of(newest.schema, version) for version in versions}
    if len(keys) > 1:
        return "its versions have different keys"
    key = [(name, names.get(name, f"@{name}")) for name in (split(path)[0] for path in keys.pop() or ())]
    if any(_refused(path) for path in key_of(newest.schema, newest.version) or ()):
        return "a part of its key is nested or has a name that settings of Connect cannot hold"
    topic = topic_of(pattern, newest.entity.name)
    labels = tuple(version.label for version in versions)
    return Chain(newest.schema, newest, labels, tuple(names.items()), tuple(key), topic)


def _pairs(block: ExportedBlock) -> Iterator[tuple[str, str]]:
    """Yield the paths of a block in the order of its version."""
    by_source = {line.source.id: line.target.path for line in block.lines}
    for attribute in block.version.attributes:
        if attribute.id in by_source:
            yield attribute.path, by_source[attribute.id]


def _joined(versions: Sequence[Version], by_version: dict[int, dict[str, str]]) -> dict[str, str] | str:
    """Join what versions rename, newest first, or say which two of them no transform can tell apart."""
    joined: dict[str, tuple[str, str]] = {}
    by_target: dict[str, str] = {}
    for version in reversed(versions):
        for source, target in by_version[version.id].items():
            known = joined.setdefault(source, (target, version.label))
            if known[0] != target:
                return f"version {known[1]} maps {source} elsewhere than version {version.label}"
            other = by_target.setdefault(target, source)
            if other != source:
                return f"its versions fill {target} from columns of different names"
    for version in versions:
        for attribute in version.attributes:
            if attribute.path in joined and attribute.path not in by_version[version.id]:
                return f"version {version.label} has {attribute.path} without mapping it"
    return {source: target for source, (target, _) in joined.items()}


def _refused(path: str) -> str:
    """Explain why a path can stand in no list of a transform's settings; empty when it can."""
    names = split(path)
    if len(names) > 1:
        return f"{path} is nested, and ReplaceField looks at the outermost names only"
    (name,) = names
    if not name or any(sign in name for sign in (",", ":", "${")) or not name.isprintable() or name != name.strip():
        return f"the name {name!r} cannot stand in the settings of a transform"
    return ""


def settings(chain: Chain, state: int, prefix: str) -> dict[str, str]:
    """Return the settings of a chain, as they stand in those of a connector.

    Args:
        chain: what it does.
        state: the state that it shows, which its records name.
        prefix: begins the names of its transforms, so that several chains fit into one connector.
    """
    steps: dict[str, dict[str, str]] = {
        "unwrap": {
            "type": "io.debezium.transforms.ExtractNewRecordState",
            "delete.tombstone.handling.mode": "delete-to-tombstone",
        },
        "keep": _replacing("Value", chain.renames),
        "state": _header(STATE, str(state)),
    }
    if chain.key:
        steps["key"] = _replacing("Key", chain.key)
    if _PLAIN_TEXT.fullmatch(chain.schema.name):
        steps["schema"] = _header(SCHEMA, chain.schema.name)
    steps["route"] = {"type": f"{_TRANSFORMS}.RegexRouter", "regex": ".*", "replacement": chain.topic}
    pattern = "|".join(name.replace(".", "\\.") for name in chain.topics)
    found = {"transforms": ",".join(f"{prefix}_{step}" for step in steps), "predicates": f"{prefix}_topic"}
    for step, content in steps.items():
        told = content | {"predicate": f"{prefix}_topic"}
        found |= {f"transforms.{prefix}_{step}.{name}": value for name, value in told.items()}
    predicate = {"type": f"{_TRANSFORMS}.predicates.TopicNameMatches", "pattern": pattern}
    return found | {f"predicates.{prefix}_topic.{name}": value for name, value in predicate.items()}


def _replacing(part: str, renames: Sequence[tuple[str, str]]) -> dict[str, str]:
    changed = [f"{source}:{target}" for source, target in renames if source != target]
    return {
        "type": f"{_TRANSFORMS}.ReplaceField${part}",
        "include": ",".join(source for source, _ in renames),
    } | ({"renames": ",".join(changed)} if changed else {})


def _header(name: str, value: str) -> dict[str, str]:
    return {"type": f"{_TRANSFORMS}.InsertHeader", "header": name, "value.literal": value}


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    found = list(chains(document, choices, watch))
    made = [one for one in found if isinstance(one, Chain)]
    left_out = [one for one in found if isinstance(one, LeftOut)]
    names = unique_names(
        [(slug(f"{one.schema.name}_{one.newest.entity.name}"), _origin(one)) for one in made], _LONGEST_FILE
    )
    (path / "chains").mkdir()
    for name, chain in zip(names, made, strict=True):
        _write_json(path / "chains" / f"{name}.json", settings(chain, document.state, name))
    facts = {"format": "metl-kafka-connect", "version": 1, "state": document.state, "hash": state_hash(document)}
    told = [_told(name, chain) for name, chain in zip(names, made, strict=True)]
    refused = [dict(zip(_NAMES, one.block, strict=True)) | {"why": one.why} for one in left_out]
    _write_json(path / "chains.json", facts | {"chains": told, "not_expressible": refused})
    readme = _README.format(
        state=document.state,
        hash=facts["hash"],
        version=__version__,
        state_header=STATE,
        schema_header=SCHEMA,
    )
    (path / "README.md").write_text(readme, encoding="utf-8")
    masks = ColumnMasks(document)
    masked = sum(len(masks.of(one.newest)) for one in made)
    return (*mask_sentences(masked), *left_out_sentences(left_out))


_NAMES = ("schema", "version", "entity", "entity_version")


def _origin(chain: Chain) -> str:
    return json.dumps(chain.newest.names)


def _told(name: str, chain: Chain) -> dict[str, Any]:
    return {
        "file": f"chains/{name}.json",
        "schema": chain.schema.name,
        "versions": list(chain.versions),
        "entity": chain.newest.entity.name,
        "entity_version": chain.newest.entity_version.label,
        "reads": list(chain.topics),
        "writes": chain.topic,
    }


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


KAFKA_CONNECT = Export(
    "kafka-connect",
    "Chains of Kafka Connect's own transforms, where they can do what a block does",
    "",
    _write,
    is_folder=True,
    limits=LIMITS,
    options=(TOPIC, VERSIONS),
)
