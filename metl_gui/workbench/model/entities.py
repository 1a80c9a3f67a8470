"""The canonical data model by names: add entities, rename them, change their newest content as a new version.

Source: docs/reference/commands.md, "metl entity"; docs/guide/mapping.md, "Own the model".
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from metl_gui.core.edits.entities import AddEntity, ChangeEntity, RenameEntity, declared
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import is_masked
from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.types import CHOICES, read_type, type_name
from metl_gui.errors import EditError, near_names
from metl_gui.values import Value
from metl_gui.workbench.addresses import find_schema
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.model import edit_effects
from metl_gui.workbench.model.edit_effects import EditOutcome
from metl_gui.workbench.session import EditOrigin, Workbench


class EntityChanges(Value):
    """What is to change in an entity; texts as people write them.

    Args:
        add: ``PATH:TYPE``, with ``!`` behind where it is required.
        remove: paths.
        rename: ``OLD=NEW``.
        retype: ``PATH:TYPE``, with ``!`` where it is required from now on; without, it stays what it was.
        require, allow_missing: paths that become required or optional.
        describe: ``PATH=TEXT``.
        key: new paths of the attributes that tell rows apart, in key order; ``None`` keeps those of before.
    """

    add: Sequence[str] = ()
    remove: Sequence[str] = ()
    rename: Sequence[str] = ()
    retype: Sequence[str] = ()
    require: Sequence[str] = ()
    allow_missing: Sequence[str] = ()
    describe: Sequence[str] = ()
    key: Sequence[str] | None = None


class EntityAttribute(JsonResult):
    """One attribute of an entity."""

    path: str
    type: str
    required: bool
    documentation: str
    masked: bool


class EntityContent(JsonResult):
    """The newest content of an entity.

    Args:
        name, version: of it.
        versions: all labels, oldest first.
        attributes: in order.
        key: paths of those that tell its rows apart, in key order; none where nobody says.
    """

    name: str
    version: str
    versions: tuple[str, ...]
    attributes: tuple[EntityAttribute, ...]
    key: tuple[str, ...] = ()


def add_entity(
    workbench: Workbench,
    name: str,
    attributes: Sequence[str],
    label: str | None = None,
    dry_run: bool = False,
    door: EditOrigin = EditOrigin.COMMAND,
    key: Sequence[str] | None = None,
) -> EditOutcome:
    """Add an entity with its first version, or attributes to one that is there, as its next version.

    Args:
        workbench: the opened project.
        name: of the entity.
        attributes: each ``PATH:TYPE``, with ``!`` behind where it is required.
        label: of the version.
        dry_run: only say what would happen.
        door: where the gesture was made.
        key: paths of the attributes that tell rows apart, in key order.

    Raises:
        EditError: a type or path is none, or the rules refuse it.
    """
    if workbench.document.cdm.named(name) is not None:
        return change_entity(workbench, name, EntityChanges(add=attributes, key=key), label, dry_run, door)
    made = tuple(read_attribute(text) for text in attributes)
    return edit_effects.do(workbench, AddEntity(name, made, label, _key(key)), dry_run, door)


def change_entity(
    workbench: Workbench,
    name: str,
    changes: EntityChanges,
    label: str | None = None,
    dry_run: bool = False,
    door: EditOrigin = EditOrigin.COMMAND,
) -> EditOutcome:
    """Make the next version of an entity out of its newest one and run the automated update, as one step.

    Raises:
        EditError: the entity or an attribute is not known, or the rules refuse it.
    """
    edit = changing(workbench.document, name, changes, label)
    return edit_effects.do(workbench, edit, dry_run, door)


def rename_entity(
    workbench: Workbench,
    name: str,
    new: str,
    dry_run: bool = False,
    door: EditOrigin = EditOrigin.COMMAND,
) -> EditOutcome:
    """Give an entity another name; what goes by the old one finds it still.

    Raises:
        EditError: there is no such entity, or the rules refuse the name.
    """
    entity = find_schema(workbench.document, Side.CDM, name)
    return edit_effects.do(workbench, RenameEntity(entity.id, new), dry_run, door)


def changing(document: Document, name: str, changes: EntityChanges, label: str | None = None) -> ChangeEntity:
    """Make the edit that changes an entity.

    Raises:
        EditError: the entity or an attribute is not known, or a text is not written as it should be.
    """
    entity = find_schema(document, Side.CDM, name)
    newest = document.cdm.newest(entity.id)
    rows = {a.path: a for a in (declared(newest) if newest is not None else ())}
    known = _AttributesByPath(entity.name, rows)
    for path in changes.remove:
        del rows[known.at(path)]
    for text in changes.retype:
        given = read_attribute(text)
        old = rows[known.at(given.path)]
        rows[given.path] = replace(
            old,
            type=given.type,
            logical=given.logical,
            scale=given.scale,
            optional=old.optional and given.optional,
        )
    for paths, is_optional in ((changes.require, False), (changes.allow_missing, True)):
        for path in paths:
            rows[known.at(path)] = replace(rows[path], optional=is_optional)
    for text in changes.describe:
        path, words = _halves(text, rows, "PATH=TEXT")
        rows[known.at(path)] = replace(rows[path], doc=words)
    for text in changes.rename:
        path, new = _halves(text, rows, "OLD=NEW")
        rows[known.at(path)] = replace(rows[path], path=new)
    added = (read_attribute(text) for text in changes.add)
    return ChangeEntity(entity.id, (*rows.values(), *added), label, _key(changes.key))


def _key(paths: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if paths is None else tuple(paths)


def content(document: Document, name: str) -> EntityContent:
    """Describe the newest content of an entity.

    Raises:
        EditError: there is none of that name.
    """
    entity = find_schema(document, Side.CDM, name)
    versions = document.cdm.versions(entity.id)
    newest = versions[-1]
    attributes = tuple(
        EntityAttribute(a.path, type_name(a), not a.optional, a.doc, is_masked(document, Side.CDM, newest.id, a.id))
        for a in newest.attributes
    )
    return EntityContent(entity.name, newest.label, tuple(v.label for v in versions), attributes, newest.key or ())


def contents(document: Document) -> tuple[EntityContent, ...]:
    """Describe every entity, by name."""
    return tuple(content(document, name) for name in sorted(entity.name for entity in document.cdm.schemas()))


def read_attribute(text: str) -> AttributeDeclaration:
    """Read ``PATH:TYPE`` or ``PATH:TYPE!``.

    Raises:
        EditError: it is not written like this, or there is no such type.
    """
    path, colon, type_text = text.rpartition(":")
    if not colon or not path.strip():
        raise EditError(
            f"{text!r} is no attribute.",
            f"Types are {', '.join(CHOICES)}.",
            "Write it as PATH:TYPE, with ! behind where it is required: amount:number!",
        )
    is_required = type_text.rstrip().endswith("!")
    type_, logical, scale = read_type(type_text.rstrip().removesuffix("!"))
    return AttributeDeclaration(path.strip(), type_, logical, scale, optional=not is_required)


class _AttributesByPath:
    """The attributes of an entity while they are changed, found by their old paths."""

    def __init__(self, name: str, rows: dict[str, AttributeDeclaration]) -> None:
        self._name = name
        self._rows = rows

    def at(self, path: str) -> str:
        if path not in self._rows:
            hint = near_names(path, self._rows) or f"It has {', '.join(list(self._rows)[:5])}."
            raise EditError(f"{self._name} has no attribute {path!r}.", hint=hint)
        return path


def _halves(text: str, known: dict[str, AttributeDeclaration], form: str) -> tuple[str, str]:
    """Cut at the sign behind a known path; either half may hold the sign itself."""
    cuts = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]
    if not cuts:
        raise EditError(f"{text!r} does not say what becomes of what.", hint=f"Write it as {form}.")
    return next((cut for cut in cuts if cut[0] in known), cuts[0])
