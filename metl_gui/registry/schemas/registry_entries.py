"""What a registry holds, saved as a file: subjects, versions, ids and schemas, in the shapes that registries answer in.

Taken are a list of answers of Confluent's or Apicurio's API (or one of them), and an object that lists subjects with
their ids beside the schemas by id.

Source: docs/reference/cdc.md, "Registries".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from metl_gui.core.project.writer_schemas import of_content, of_global
from metl_gui.errors import SchemaError
from metl_gui.values import Value

_LISTS = ("subjects", "schemas", "versions", "artifacts")
_BY_ID = ("schemas_by_id", "schemas", "ids")
_TEXTS = ("schema", "content")
_KINDS = ("schemaType", "artifactType", "type")
_NUMBER = re.compile("[0-9]{1,18}")
MAX_ENTRIES = 200_000
DEFAULT_GROUP = "default"
"""Apicurio's name of the group of what belongs to none."""


class SchemaReference(Value):
    """A schema that another one needs.

    Args:
        name: what it is called in the other one.
        subject: where it is.
        version: which version of it.
        group: that the subject is in, empty for none.
    """

    name: str
    subject: str
    version: str
    group: str = ""


class RegistryEntry(Value):
    """One version of one subject.

    Args:
        subject: empty where nothing names it but the schema itself.
        version: the registry's label, ``None`` when it is not stated.
        ids: what messages call it.
        kind: ``AVRO``, ``JSON``, ``PROTOBUF`` and so on, upper case.
        schema: parsed JSON, or the text where it is none.
        references: what it needs.
        group: that the subject is in, empty for none.
    """

    subject: str
    version: str | None
    ids: tuple[str, ...]
    kind: str
    schema: Any
    references: tuple[SchemaReference, ...] = ()
    group: str = ""


def is_registry(document: object) -> bool:
    """Return whether a parsed document is what a registry answers."""
    if isinstance(document, list):
        return bool(document) and _is_entry(document[0])
    if not isinstance(document, dict):
        return False
    has_ids = any(isinstance(document.get(name), dict) for name in _BY_ID)
    listed = next((document[name] for name in _LISTS if isinstance(document.get(name), list)), None)
    return _is_entry(document) or has_ids or (bool(listed) and _is_entry(listed[0] if listed else None))


def entries(document: object) -> Iterator[RegistryEntry]:
    """Yield the entries of a document, a subject's oldest first.

    Raises:
        SchemaError: a part of it is no entry.
    """
    if isinstance(document, list):
        yield from (_entry(one) for one in document[:MAX_ENTRIES])
    elif isinstance(document, dict):
        by_id = next((document[name] for name in _BY_ID if isinstance(document.get(name), dict)), None)
        if _is_entry(document):
            yield _entry(document)
        elif by_id is not None:
            yield from _by_id(document, by_id)
        else:
            for name in _LISTS:
                if isinstance(document.get(name), list):
                    yield from (_entry(one) for one in document[name][:MAX_ENTRIES])


def _is_entry(node: object) -> bool:
    return (
        isinstance(node, dict)
        and any(name in node for name in _TEXTS)
        and any(name in node for name in ("subject", "artifactId", "globalId", "contentId", "id", "schemaType"))
        and "payload" not in node
    )


def _by_id(document: Mapping[str, Any], by_id: Mapping[str, Any]) -> Iterator[RegistryEntry]:
    """Yield the schemas by id under their subjects, then those that no subject names."""
    named: set[str] = set()
    subjects = document.get("subjects")
    for subject, listed in subjects.items() if isinstance(subjects, dict) else ():
        for one in listed if isinstance(listed, list) else [listed]:
            stated = one if isinstance(one, dict) else {"id": one}
            id_ = str(stated.get("id", ""))
            if id_ not in by_id:
                raise _refusal(f"{subject} has the id {id_ or '(none)'}, and no schema has it")
            named.add(id_)
            yield _entry({**_as_object(by_id[id_]), **stated, "subject": subject, "id": id_})
    for id_, schema in by_id.items():
        if id_ not in named:
            yield _entry({**_as_object(schema), "id": id_})


def _as_object(schema: object) -> dict[str, Any]:
    """Return an answer about a schema; a bare schema, as text or parsed, is put into one."""
    return schema if isinstance(schema, dict) and _has_text(schema) else {"schema": schema}


def _has_text(node: Mapping[str, Any]) -> bool:
    return any(isinstance(node.get(name), str) for name in _TEXTS) and "fields" not in node


def _entry(node: object) -> RegistryEntry:
    if not isinstance(node, dict):
        raise _refusal(f"{node!r:.100} is no version of a subject")
    return entry_of(node)


def entry_of(node: Mapping[str, Any], ids: tuple[str, ...] = ()) -> RegistryEntry:
    """Read an answer about one version.

    Args:
        node: the answer, or what was put together of several.
        ids: further ids that it is known by.
    """
    written = next((node[name] for name in _TEXTS if name in node), None)
    kind = next((node[name] for name in _KINDS if isinstance(node.get(name), str)), "AVRO")
    subject = node.get("subject") or node.get("artifactId") or ""
    version = node.get("version")
    return RegistryEntry(
        subject=str(subject),
        version=str(version) if isinstance(version, int | str) and not isinstance(version, bool) else None,
        ids=tuple(dict.fromkeys((*_ids(node), *ids))),
        kind=kind.upper(),
        schema=_parsed(written),
        references=tuple(_references(node.get("references"))),
        group=_group_of(node, "group", "groupId"),
    )


def _ids(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of an entry; a number alone is the id that Confluent's framing writes."""
    id_ = node.get("id")
    if isinstance(id_, int | str) and _NUMBER.fullmatch(str(id_)):
        yield str(int(id_))
    if isinstance(node.get("contentId"), int):
        yield of_content(node["contentId"])
    if isinstance(node.get("globalId"), int):
        yield of_global(node["globalId"])
    guid = node.get("guid")
    if isinstance(guid, str) and guid:
        yield guid.lower()


def _references(written: object) -> Iterator[SchemaReference]:
    for one in written if isinstance(written, list) else ():
        if isinstance(one, dict):
            subject = one.get("subject") or one.get("artifactId") or ""
            group = _group_of(one, "groupId")
            yield SchemaReference(str(one.get("name", "")), str(subject), str(one.get("version", "")), group)


def _group_of(node: Mapping[str, Any], *names: str) -> str:
    found = next((node[name] for name in names if isinstance(node.get(name), str)), "")
    return "" if found == DEFAULT_GROUP else found


def _parsed(written: object) -> Any:
    """Parse a schema that stands as text; what is no JSON (Protobuf, an Avro name alone) stays as it is."""
    if not isinstance(written, str):
        return written
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _refusal(what: str) -> SchemaError:
    return SchemaError(
        "This registry file cannot be used.", f"{what[0].upper()}{what[1:]}.", "Save the registry's answers again."
    )
