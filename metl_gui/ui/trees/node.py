"""What is shown of a node of a tree: its words, its mark, its pill, its tooltip, its menu.

Rows are described one by one and kept per version. The tooltip has the whole path, what the node is, where it exists,
and what people said of it. The menu has rows of the action table by name, as far as they are there and make sense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.attribute_facts import AttributeUses
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.ui.project.block_lists import Note
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.theming.marks import MarkShape
from metl_gui.values import Value


class RowFacts(Value):
    """One row of a tree.

    Args:
        name: its words.
        detail: dim words at the right.
        mark: its mark, ``None`` for what is no attribute.
        pill: words in a pill behind the name, and the pill's kind.
        is_strong: whether the name is bold.
        tip: the tooltip.
    """

    name: str
    detail: str = ""
    mark: MarkShape | None = None
    pill: tuple[str, str] = ("", "plain")
    is_strong: bool = False
    tip: str = ""


class VersionMapping(Value):
    """What the matrix says of one version's attributes.

    Args:
        mapped: ids of attributes with an element.
        lost: ids of attributes that lost an element (CDM side).
        lost_count: how many lost elements wait in blocks of this version.
        new: ids of attributes that no earlier version had; none in the first version.
        ignored: ids of attributes that are never to be mapped.
    """

    mapped: frozenset[int]
    lost: frozenset[int]
    lost_count: int
    new: frozenset[int]
    ignored: frozenset[int] = frozenset()

    def mark_of(self, attribute: Attribute) -> MarkShape:
        """Return the attribute's mark."""
        if attribute.id in self.lost:
            return MarkShape.WAITS if attribute.id in self.mapped else MarkShape.LOST
        if attribute.id in self.mapped:
            return MarkShape.NEW if attribute.id in self.new else MarkShape.MAPPED
        return MarkShape.IGNORED if attribute.id in self.ignored else MarkShape.HOLLOW


def version_facts(
    side: Side,
    version: Version,
    new: frozenset[int],
    uses: AttributeUses,
    blocks: Iterable[Block],
    ignored: frozenset[int] = frozenset(),
) -> VersionMapping:
    """Read one version's facts off the counted matrix and its blocks that wait.

    Args:
        side: of the tree.
        version: one of it.
        new: ids of its attributes that no earlier version had.
        uses: the counted matrix.
        blocks: those of the version that wait.
        ignored: lineages that are never to be mapped.
    """
    lost: set[int] = set()
    count = 0
    for block in blocks:
        for loss in block.open_losses:
            count += 1
            end = version.of_lineage(loss.p_lineage if side is Side.EXTRACTION else loss.q_lineage)
            if end is not None:
                lost.add(end.id)
    ids = [attribute.id for attribute in version.attributes]
    return VersionMapping(
        frozenset(id_ for id_ in ids if uses.mapped[id_]),
        frozenset(lost),
        count,
        new,
        frozenset(attribute.id for attribute in version.attributes if attribute.lineage in ignored),
    )


def attribute_row(attribute: Attribute, facts: VersionMapping, side: Side, is_newest: bool) -> RowFacts:
    """Describe an attribute."""
    required = " · required" if side is Side.CDM and not attribute.optional else ""
    is_open = is_newest and attribute.id in facts.new and attribute.id not in facts.mapped | facts.ignored
    pill = ("new", "good") if is_open else ("", "plain")
    mark = facts.mark_of(attribute)
    need = "optional" if attribute.optional else "required"
    tip = f"{attribute.path}\n{attribute.type_text}, {need} · {mark.value}"
    if attribute.doc:
        tip += f"\n{attribute.doc}"
    never = "ignored · " if mark is MarkShape.IGNORED else ""
    return RowFacts(attribute.path, f"{never}{attribute.type_text}{required}", mark, pill, tip=tip)


def version_row(version: Version, facts: VersionMapping) -> RowFacts:
    """Describe a version."""
    pill = (f"{facts.lost_count} lost", "review") if facts.lost_count else ("", "plain")
    count = len(version.attributes)
    return RowFacts(
        version.label, str(count), None, pill, tip=f"Version {version.label}, {number_of(count, 'attribute')}"
    )


def schema_row(schema: Schema, name: str, label: str, waiting: int, side: Side) -> RowFacts:
    """Describe a schema or entity."""
    count = len(schema.version_ids)
    detail = f"version {label}" if side is Side.CDM else number_of(count, "version")
    pill = (str(waiting), "review") if waiting else ("", "plain")
    tip = f"{schema.name}\n{number_of(count, 'version')}"
    if schema.aliases:
        tip += f"\nalso called {', '.join(schema.aliases)}"
    return RowFacts(name, detail, None, pill, is_strong=side is Side.CDM, tip=tip)


def group_row(name: str, short: str, count: int, waiting: int, side: Side) -> RowFacts:
    """Describe a group; its short name leaves out what all groups begin with."""
    nouns = ("schema", "schemas") if side is Side.EXTRACTION else ("entity", "entities")
    pill = (f"{waiting:,}", "review") if waiting else ("", "plain")
    detail = f"{count:,} {nouns[count != 1]}"
    return RowFacts(short, detail, None, pill, is_strong=True, tip=name)


_SHOWN = 12


def tip_of(document: Document, side: Side, place: NodeRef, note: Note, state: str = "", values: str = "") -> str:
    """Describe a node.

    Args:
        document: where it is.
        side: its tree.
        place: the node.
        note: comment and mask of it.
        state: what its mark says, in words; of a schema or entity how far mapping it is.
        values: a line on its sample values.
    """
    tree = document.tree(side)
    schema = tree.find_schema(place.schema)
    if schema is None:
        return ""
    version = tree.find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    if version is None:
        lines = [*_schema_lines(document, side, schema), *filter(None, [state])]
    elif attribute is None:
        lines = _version_lines(schema, version)
    else:
        lines = _attribute_lines(document, side, schema, version, attribute, state)
    if note.is_masked:
        lines.append("masked: its values are not shown")
    elif values:
        lines.append(values)
    if note.ignored:
        lines.append(note.ignored)
    if note.comment:
        lines.append(f"“{note.comment}”")
    return "\n".join(lines)


def _schema_lines(document: Document, side: Side, schema: Schema) -> list[str]:
    versions = document.tree(side).versions(schema.id)
    lines = [schema.name, f"versions {_listed([version.label for version in versions])}"]
    if schema.aliases:
        lines.append(f"also called {_listed(list(schema.aliases))}")
    return lines


def _version_lines(schema: Schema, version: Version) -> list[str]:
    count = len(version.attributes)
    lines = [f"{schema.name} {version.label}", number_of(count, "attribute")]
    if len(version.labels) > 1:
        lines.append(f"also labelled {_listed(list(version.labels[1:]))}")
    if version.key is not None:
        lines.append(f"key: {_listed(list(version.key)) if version.key else 'none'}")
    if version.inferred:
        lines.append("its types were read off data")
    if version.source:
        lines.append(f"from {version.source}")
    return lines


def _attribute_lines(
    document: Document, side: Side, schema: Schema, version: Version, attribute: Attribute, state: str
) -> list[str]:
    need = "optional" if attribute.optional else "required"
    key = ", part of the key" if attribute.path in (version.key or ()) else ""
    lines = [f"{schema.name} {version.label}  {attribute.path}", f"{attribute.type_text}, {need}{key}"]
    if state:
        lines[-1] += f" · {state}"
    same = [(v.label, a) for v in document.tree(side).versions(schema.id) if (a := v.of_lineage(attribute.lineage))]
    where = "every version" if len(same) == len(schema.version_ids) else _listed([label for label, _ in same])
    lines.append(f"in {where}" if len(schema.version_ids) > 1 else "in the only version")
    others = list(dict.fromkeys(a.path for _, a in same if a.path != attribute.path))
    if others:
        lines.append(f"elsewhere called {_listed(others)}")
    if attribute.doc:
        lines.append(attribute.doc)
    return lines


def _listed(words: list[str]) -> str:
    if len(words) <= _SHOWN:
        return ", ".join(words)
    return f"{', '.join(words[: _SHOWN - 2])} … {words[-1]} ({len(words)})"


_MAPPING = ("map_chosen", "map_by_name", "map_by_position", "unmap_chosen")
_LOOKING = (
    "open_block",
    "block_versions",
    "suggestions",
    "what_feeds",
    "where_goes",
    "progression",
    "why",
    "copy_link",
)
_SAYING = ("rename_attribute", "same_as", "not_same_as", "comment", "mask", "never_map")
_VERSION = ("new_entity_like", "new_entity_version", "remove_version")
_SETTINGS = ("schema_settings", "entity_settings")
_IN_MATRIX = ("fold_column", "fold_row", "pin_column", "pin_row")
_OF_SIDE = {
    "schema_settings": Side.EXTRACTION,
    "entity_settings": Side.CDM,
    "fold_column": Side.EXTRACTION,
    "pin_column": Side.EXTRACTION,
    "fold_row": Side.CDM,
    "rename_attribute": Side.CDM,
    "new_entity_like": Side.EXTRACTION,
    "pin_row": Side.CDM,
}
_SECTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "schema": (
        _MAPPING,
        _LOOKING,
        _IN_MATRIX,
        ("rename_attribute", "comment", *_SETTINGS),
        ("new_entity_like", "new_entity_version"),
    ),
    "version": (_MAPPING, _LOOKING, _IN_MATRIX, ("comment", *_SETTINGS), _VERSION),
    "attribute": (_MAPPING, _LOOKING, (*_SAYING, "new_entity_like")),
}


def node_menu(owner: QWidget, side: Side, place: NodeRef) -> QMenu | None:
    """Make the menu of a node, ``None`` when nothing can be done with it.

    Args:
        owner: the widget that asks; the actions are found above it, in the window.
        side: the tree.
        place: the node.
    """
    kind = "schema" if place.version is None else "version" if place.attribute is None else "attribute"
    sections = tuple(tuple(name for name in section if _OF_SIDE.get(name, side) is side) for section in _SECTIONS[kind])
    menu = actions_menu(owner, sections)
    if menu is not None:
        menu.setAccessibleName("Extraction" if side is Side.EXTRACTION else "Canonical model")
    return menu


def actions_menu(
    owner: QWidget, sections: tuple[tuple[str, ...], ...], own: Sequence[tuple[str, Callable[[], object]]] = ()
) -> QMenu | None:
    """Make a menu of actions of the window that make sense now, ``None`` when none does.

    Args:
        owner: the widget that asks; the actions are found above it, in the window.
        sections: names of actions, with a line between sections.
        own: what the widget itself does, by its words; stands above the sections.
    """
    menu = QMenu(owner)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for words, does in own:
        menu.addAction(words).triggered.connect(lambda _=False, does=does: does())
    for section in sections:
        actions = [a for name in section if (a := action_named(owner, name)) is not None and a.isEnabled()]
        if actions and not menu.isEmpty():
            menu.addSeparator()
        menu.addActions(actions)
    if menu.isEmpty():
        menu.deleteLater()
        return None
    return menu


def action_named(owner: QWidget, name: str) -> QAction | None:
    """Find an action of the window that a widget belongs to, also while its panel floats in a window of its own."""
    topmost: QWidget = owner
    while (above := topmost.parentWidget()) is not None:
        topmost = above
    found: QAction | None = topmost.findChild(QAction, name)
    return found
