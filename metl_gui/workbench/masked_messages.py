"""Messages with their masked values hidden, for everybody who looks; digits, order and names stay as they came.

Only copies for looking at pass here: what a run sends and its error store keep every value.
Source: docs/guide/mapping.md, "Own the model"; docs/guide/running.md, "See at once what an edit does".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import hidden_sources, hidden_targets
from metl_gui.core.trees import paths

HIDDEN = "•••"
"""What stands in the place of a masked value."""
UNREADABLE = (
    "Not shown: some columns are masked, and this record cannot be read to find them.\nThe error store has all of it."
)

_Path: TypeAlias = tuple[str, ...]
_objects = msgspec.json.Decoder(dict[str, msgspec.Raw])
_arrays = msgspec.json.Decoder(list[msgspec.Raw])
_texts = msgspec.json.Decoder(str)
_PLACES = frozenset(("source", "transaction", "schema"))
"""Members of an envelope that say where a message came from, not what it says."""
_OLD_KEY = "source", "old_key"
_CODED = frozenset(("value_b64", "key_b64", "data_base64"))
_WRAPPED = frozenset(("value", "message", "key"))


class Masks:
    """What is hidden in the messages of one schema.

    Args:
        document: the state to look at.
        schema: the schema's name, ``None`` where a message did not tell it; then every mask counts.
    """

    def __init__(self, document: Document, schema: str | None) -> None:
        self._document = document
        self._sources = _split(hidden_sources(document, schema))

    def incoming(self, raw: bytes) -> bytes | None:
        """Return a record with its masked values hidden, ``None`` where it cannot be told which they are."""
        return _hidden(raw, self._sources) if self._sources else raw

    def outgoing(self, entity: str, raw: bytes) -> bytes | None:
        """Return an outgoing message with its masked values hidden."""
        try:
            message = _objects.decode(raw)
            label = _texts.decode(message["version"]) if "version" in message else ""
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return self.incoming(raw)
        hidden = hidden_targets(self._document, entity, label)
        # A key names its attributes by whole paths, those that are not mapped as @source.path.
        flat = {(path,) for path in hidden} | {(f"@source.{paths.join(path)}",) for path in self._sources}
        wanted = _split(hidden) | flat
        # The old key stands in the source, of which nothing else is looked into.
        wanted |= {(*_OLD_KEY, *path) for path in wanted}
        return _hidden(raw, wanted) if wanted else raw


def schema_of(outgoing: bytes | msgspec.Raw) -> str | None:
    """Read which schema an outgoing message came from."""
    found = source_of(outgoing)
    return found[0] if found is not None else None


def source_of(outgoing: bytes | msgspec.Raw) -> tuple[str, str] | None:
    """Read which schema and version an outgoing message came from."""
    try:
        source = _objects.decode(_objects.decode(outgoing)["source"])
        return _texts.decode(source["schema"]), _texts.decode(source["version"])
    except (msgspec.MsgspecError, UnicodeDecodeError, KeyError):
        return None


def _split(texts: Iterable[str]) -> frozenset[_Path]:
    return frozenset(paths.split(text) for text in texts)


def _hidden(raw: bytes, wanted: frozenset[_Path]) -> bytes | None:
    if raw.strip() == b"null":
        return raw
    if raw.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return msgspec.json.encode(_walk(msgspec.Raw(raw.strip()), wanted, wanted))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _walk(raw: msgspec.Raw, active: frozenset[_Path], wanted: frozenset[_Path]) -> object:
    """Hide what ``active`` paths lead to from here; ``wanted`` ones begin again in every object below.

    Raises:
        msgspec.MsgspecError: it is no JSON.
    """
    text = bytes(raw).lstrip()
    if not (active or wanted) or text[:1] not in (b"{", b"["):
        return raw
    if text.startswith(b"["):
        return [_walk(part, active, wanted) for part in _arrays.decode(text)]
    found = _objects.decode(text)
    is_envelope = "op" in found or "payload" in found
    is_wrapper = "topic" in found
    hidden: dict[str, object] = {}
    for name, part in found.items():
        further = frozenset(path[1:] for path in active | wanted if path[0] == name)
        is_coded = name in _CODED or (name == "data" and "specversion" in found and bytes(part).startswith(b'"'))
        if () in further or is_coded:
            hidden[name] = HIDDEN
        elif name in _WRAPPED and bytes(part).lstrip().startswith(b'"'):
            hidden[name] = _in_text(part, wanted, is_wrapper)
        else:
            hidden[name] = _walk(part, further, frozenset() if is_envelope and name in _PLACES else wanted)
    return hidden


def _in_text(raw: msgspec.Raw, wanted: frozenset[_Path], is_wrapper: bool) -> object:
    """Hide what a message written as text holds; the plain text of a wrapper may be anything."""
    inner = _texts.decode(raw)
    if inner.lstrip()[:1] not in ("{", "["):
        return HIDDEN if is_wrapper else raw
    found = _hidden(inner.encode(), wanted)
    return HIDDEN if found is None else found.decode()
