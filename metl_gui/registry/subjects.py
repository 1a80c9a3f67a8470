"""What the subjects of a registry say of the schemas in them, whichever strategy named them.

Debezium's topics are ``prefix.schema.table``; its records are named alike, with ``.Key``, ``.Value`` and ``.Envelope``
behind, and with every sign that Avro does not allow adjusted to ``_`` or to ``_u`` and four hexadecimal digits.

Source: cdc-formats.md §5 (names) and §8.3 (topic naming).
"""

from __future__ import annotations

import re

from metl_gui.core.trees import schema_names

_KEY = "-key"
_CONTEXT = re.compile(r":\.[^:]*:")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.]")
_FIRST_ILLEGAL = re.compile(r"^[^A-Za-z_]")
_ESCAPED = re.compile(r"_u([0-9a-f]{4})")


def schema_name(subject: str, group: str, record: str) -> str:
    """Return the name of the schema that a subject holds.

    Args:
        subject: ``topic-value``, the name of a record, or ``topic-`` and that; empty for none.
        group: of the registry; some writers put the namespace of the record there.
        record: the full name of the record in it; empty for none.
    """
    bare = _CONTEXT.sub("", subject, count=1) if subject.startswith(":.") else subject
    topic = schema_names.of_subject(bare)
    if topic != bare:
        return schema_names.of_record(topic)
    own = schema_names.of_record(record)
    if group and record in (f"{group}.{bare}", f"{adjusted(group)}.{bare}"):
        return own
    if record and bare.endswith(f"-{record}"):
        topic = bare[: -len(record) - 1]
        # Several kinds of records may share a topic: then the topic alone names none of them.
        return topic if adjusted(topic) == adjusted(own) else bare
    return schema_names.of_record(bare) or own


def is_key_subject(subject: str) -> bool:
    """Say whether a subject holds keys."""
    return subject.endswith(_KEY)


def adjusted(name: str) -> str:
    """Return a name as Debezium adjusts it to what Avro allows."""
    return _FIRST_ILLEGAL.sub("_", _ILLEGAL.sub("_", name))


def unescaped(name: str) -> str:
    """Return the name that stands behind one whose signs were written by their numbers."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)


def is_adjusted(name: str, original: str) -> bool:
    """Say whether a name may be what Debezium made of another one."""
    return name != original and (adjusted(original) == name or unescaped(name) == original)
