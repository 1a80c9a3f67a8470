"""Which version a message has: registry id, schema in the message, the configured field, then the paths of its row.

Source: docs/reference/formats.md, "Which version a record has".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Raw

from metl_gui.core.trees.paths import escape, split
from metl_gui.engine.kernel.changes import RowChange
from metl_gui.engine.kernel.plan import SchemaPlan, VersionPlan
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import Members, is_null, is_object, members_unless_repeated, text_of

_Shape: TypeAlias = tuple[bool, str, tuple[str, ...], tuple[str, ...] | None]
_Output: TypeAlias = tuple[frozenset[tuple[str, str, bool, frozenset[tuple[str, str]]]], tuple[str, ...] | None]
"""What decides the messages of a version: blocks by entity, version, whether they are held, and targets; its key."""

_CACHED_SHAPES = 10_000
_CACHED_LETTERS = 10_000
"""Shapes with longer names are decided anew each time, so that a hostile stream cannot fill the memory."""

_FILLERS = frozenset({b'""', b"0", b"0.0", b"false"})
"""What stands in columns that are not nullable where a delete does not give the old row.

Source: docs/reference/cdc.md, "The envelope".
"""


class VersionResolver:
    """The versions of one schema as a message meets them.

    Args:
        schema: the schema's plan.
        is_production: held blocks count as different from others.
    """

    def __init__(self, schema: SchemaPlan, *, is_production: bool) -> None:
        self.schema = schema
        self.is_production = is_production
        self.paths = {version.label: frozenset(version.paths) for version in schema.versions}
        self.parents = {version.label: _parents(version.paths) for version in schema.versions}
        self.field = split(schema.version_field) if schema.version_field else ()
        self._by_shape: dict[_Shape, VersionPlan | RecordError] = {}

    @cached_property
    def is_flat(self) -> bool:
        """Whether no version looks into the values of a row."""
        return not any(self.parents.values())

    def of(self, change: RowChange) -> VersionPlan:
        """Decide the version of one change.

        Raises:
            RecordError: ``unknown_version`` or ``ambiguous_version``.
        """
        versions: Sequence[VersionPlan] = self.schema.versions
        attached = self._attached(change)
        if attached is not None:
            return attached
        if change.fingerprint:
            found = next((v for v in versions if v.fingerprint == change.fingerprint), None)
            if found is not None:
                return found
            versions = [version for version in versions if version.is_inferred]
            if not versions:
                named = f"the registry id {change.written.id}" if change.written else "the fingerprint"
                detail = f"no version has {named}{'' if change.written else f' {change.fingerprint}'}"
                raise RecordError("unknown_version", detail)
        label = self._label(change)
        if label is not None:
            return self._labelled(label)
        return self._by_paths(change, versions)

    def _attached(self, change: RowChange) -> VersionPlan | None:
        """Return the version that the registry id of the message is attached to."""
        label = change.written.labels.get(self.schema.name) if change.written is not None else None
        return next((version for version in self.schema.versions if version.label == label), None) if label else None

    def _label(self, change: RowChange) -> str | None:
        raw = value_at(change.row, self.field) if self.field else None
        if raw is None or is_null(raw) or (change.op == "d" and self._is_filler(raw)):
            return None
        text = text_of(raw)
        return bytes(raw).decode() if text is None else text

    def _is_filler(self, raw: Raw) -> bool:
        """Return whether a value in the row of a delete may be there only because the column is not nullable."""
        return (
            not (self.schema.has_full_images or self.schema.version_field.startswith("__")) and bytes(raw) in _FILLERS
        )

    def _labelled(self, label: str) -> VersionPlan:
        for version in reversed(self.schema.versions):
            if label == version.label or label in version.labels:
                return version
        raise RecordError("unknown_version", f"the version field says {label}, and no version has this label")

    def _by_paths(self, change: RowChange, versions: Sequence[VersionPlan]) -> VersionPlan:
        if not self.is_flat or len(versions) != len(self.schema.versions):
            return self._fitting(change, versions)
        key = change.key() if change.op == "d" else None
        shape = (change.is_flattened, change.op, tuple(change.row or ()), None if key is None else tuple(key))
        found = self._by_shape.get(shape)
        if found is None:
            try:
                found = self._fitting(change, versions)
            except RecordError as error:
                found = error
            self._keep(shape, found)
        if isinstance(found, RecordError):
            raise RecordError(found.reason, found.detail)
        return found

    def _keep(self, shape: _Shape, found: VersionPlan | RecordError) -> None:
        letters = sum(map(len, shape[2])) + sum(map(len, shape[3] or ()))
        if letters > _CACHED_LETTERS:
            return
        if len(self._by_shape) >= _CACHED_SHAPES:
            self._by_shape.clear()
        self._by_shape[shape] = found

    def _fitting(self, change: RowChange, versions: Sequence[VersionPlan]) -> VersionPlan:
        fitting = [version for version in versions if self._fits(version, change)]
        if not fitting and change.op == "d":
            columns = [name for name in change.row or () if not (change.is_flattened and name.startswith("__"))]
            if not (columns or change.key()):
                raise RecordError("no_key", "a delete with neither a message key nor a row")
            fitting = [version for version in versions if _fits_by_key(version, change)]
        if not fitting:
            raise RecordError("unknown_version", self._why_none_fits(versions, change))
        newest = fitting[-1]
        outputs = [self._output(version, change) for version in fitting]
        if len(set(outputs)) > 1:
            raise RecordError("ambiguous_version", _difference_words(fitting, outputs))
        return newest

    def _why_none_fits(self, versions: Sequence[VersionPlan], change: RowChange) -> str:
        """Say what no version has; of the newest with all members of the row, what is another within it or missing."""
        row, key = change.row or {}, change.key() if change.op == "d" else None
        if not row and key:
            return f"no version has the key {', '.join(key)}"
        for version in reversed(versions) if row else ():
            strange = self._strange(version, row, "", is_flattened=change.is_flattened)
            if strange is None:
                present = self._present(version, row, "", is_flattened=change.is_flattened) or set()
                missing = (path for path in version.required if path not in present)
                return f"the row lacks {', '.join(missing)}, which version {version.label} requires"
            if strange in self.parents[version.label]:
                return f"{strange} is no object, and version {version.label} looks into it"
            if strange not in map(escape, row):
                return f"version {version.label} has no {strange}"
        return f"no version has the members {', '.join(row) or '(none)'}"

    def _strange(
        self, version: VersionPlan, row: Mapping[str, Raw], prefix: str, *, is_flattened: bool = False
    ) -> str | None:
        """Return the first path of a row that is not the version's own."""
        for name, raw in row.items():
            if self._present(version, {name: raw}, prefix, is_flattened=is_flattened) is not None:
                continue
            path = prefix + escape(name)
            is_within = path in self.parents[version.label] and is_object(raw)
            return self._strange(version, members_unless_repeated(raw), path + ".") if is_within else path
        return None

    def _fits(self, version: VersionPlan, change: RowChange) -> bool:
        if change.row is None:
            return False
        present = self._present(version, change.row, "", is_flattened=change.is_flattened)
        return present is not None and present.issuperset(version.required)

    def _present(
        self, version: VersionPlan, row: Mapping[str, Raw], prefix: str, *, is_flattened: bool = False
    ) -> set[str] | None:
        """Return the leaves that are present, ``None`` when one is not the version's own."""
        paths, parents = self.paths[version.label], self.parents[version.label]
        present: set[str] = set()
        for name, raw in row.items():
            path = prefix + escape(name)
            if path in paths:
                present.add(path)
            elif path in parents and is_null(raw):
                present.update(leaf for leaf in paths if leaf.startswith(path + "."))
            elif path in parents and is_object(raw):
                below = self._present(version, members_unless_repeated(raw), path + ".")
                if below is None:
                    return None
                present |= below
            elif not (is_flattened and name.startswith("__")) and path != self.schema.version_field:
                return None
        return present

    def _output(self, version: VersionPlan, change: RowChange) -> _Output:
        """Return what decides the messages of a version for rows of this shape, nulls apart."""
        present: set[str] = self._present(version, change.row, "", is_flattened=True) or set() if change.row else set()
        if change.op == "d" and not self.schema.has_full_images:
            present = set(version.key or ())
        is_always_sent = change.op in ("u", "d")
        blocks = []
        for block in version.blocks:
            if not (block.targets or self.is_production):
                continue
            targets = frozenset(target for target in block.targets if target[0] in present)
            if targets or is_always_sent or block.is_unfiltered:
                is_held = self.is_production and block.is_held
                blocks.append((block.entity, block.entity_version, is_held, targets))
        return frozenset(blocks), version.key


def _difference_words(fitting: Sequence[VersionPlan], outputs: Sequence[_Output]) -> str:
    """Say in what the newest version that fits and the next older one with other messages differ.

    Source: docs/reference/set-aside.md.
    """
    labels = ", ".join(version.label for version in fitting)
    newest, older = len(fitting) - 1, max(at for at, output in enumerate(outputs) if output != outputs[-1])
    for maps, lacks in ((newest, older), (older, newest)):
        more = sorted(_elements(outputs[maps]) - _elements(outputs[lacks]))
        if more:
            entity, entity_version, source, target = more[0]
            rest = f", and {len(more) - 1:,} more" if len(more) > 1 else ""
            element = f"{fitting[maps].label} maps {source} to {entity}@{entity_version} {target}"
            return f"the versions {labels} fit; {element}, and {fitting[lacks].label} does not{rest}"
    return f"the versions {labels} fit and give different messages"


def _elements(output: _Output) -> set[tuple[str, str, str, str]]:
    """Return what a version maps, by entity, its version, source path and CDM path."""
    return {(entity, version, *target) for entity, version, _, targets in output[0] for target in targets}


def value_at(row: Members | None, path: tuple[str, ...]) -> Raw | None:
    """Return the value at a split path; ``None`` where it or a parent is missing or null."""
    found = row
    for name in path[:-1]:
        raw = found.get(name) if found else None
        found = members_unless_repeated(raw) if raw is not None and is_object(raw) else None
    return found.get(path[-1]) if found else None


def _fits_by_key(version: VersionPlan, change: RowChange) -> bool:
    key = change.key()
    present = {escape(name) for name in (change.row if key is None else key) or ()}
    if key is not None and not version.key:
        return present <= set(version.paths)
    return bool(version.key) and present >= {escape(split(path)[0]) for path in version.key or ()}


def _parents(paths: Sequence[str]) -> frozenset[str]:
    parents: set[str] = set()
    for path in paths:
        parts = split(path)
        for number in range(1, len(parts)):
            parents.add(".".join(map(escape, parts[:number])))
    return frozenset(parents)
