"""Messages with their masked values hidden, for everybody who looks; digits, order and names stay as they came.

Only copies for looking at pass here: what a run sends and its error store keep every value, but for loads into targets
that do not hold masked ones.
Source: docs/guide/mapping.md, "Own the model"; docs/guide/running.md, "See at once what an edit does".
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import hidden_sources, hidden_targets, schemas_with_masks
from metl_gui.core.trees import paths
from metl_gui.formats.hidden_values import Names, hidden

UNREADABLE = (
    "Not shown: some columns are masked, and this record cannot be read to find them.\n"
    "The error store has it as far as it was kept."
)

_objects = msgspec.json.Decoder(dict[str, msgspec.Raw])
_texts = msgspec.json.Decoder(str)
_OLD_KEY = "source", "old_key"


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
        return hidden(raw, self._sources) if self._sources else raw

    def outgoing(self, entity: str, raw: bytes) -> bytes | None:
        """Return an outgoing message with its masked values hidden."""
        try:
            message = _objects.decode(raw)
            label = _texts.decode(message["version"]) if "version" in message else ""
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return self.incoming(raw)
        wanted = _outgoing(hidden_targets(self._document, entity, label), self._sources)
        return hidden(raw, wanted) if wanted else raw


def _outgoing(targets: Iterable[str], sources: Iterable[Names]) -> frozenset[Names]:
    """Return under which names an outgoing message carries attributes of its payload and of its source."""
    of_payload = frozenset(targets)
    # A key names its attributes by whole paths, those that are not mapped as @source.path.
    flat = {(path,) for path in of_payload} | {(f"@source.{paths.join(path)}",) for path in sources}
    wanted = _split(of_payload) | flat
    # The old key stands in the source, of which nothing else is looked into.
    return wanted | {(*_OLD_KEY, *path) for path in wanted}


def hidden_names(document: Document) -> frozenset[Names]:
    """Return every name under which a record, or a message that is made of one, may carry masked values.

    Where an attribute of an entity is masked, so is what feeds it.

    Cost: nothing where no mask is set, else a look at each version of each entity.
    """
    if not (schemas_with_masks(document.extraction) or schemas_with_masks(document.cdm)):
        return frozenset()
    sources, targets = set(hidden_sources(document, None)), set[str]()
    for entity in document.cdm.schemas():
        for version in document.cdm.versions(entity.id):
            masked = hidden_targets(document, entity.name, version.label)
            ids = {one.id for one in version.attributes if one.path in masked}
            targets |= masked
            for block in document.matrix.row_set(version.id) if ids else ():
                feeding = {p for q, p in block.elements if q in ids}
                sources |= {a.path for a in document.extraction.version(block.version).attributes if a.id in feeding}
    of_source = _split(sources)
    return of_source | _outgoing(targets, of_source)


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


def _split(texts: Iterable[str]) -> frozenset[Names]:
    return frozenset(paths.split(text) for text in texts)
