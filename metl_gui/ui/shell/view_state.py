"""How a project was looked at: page, place on the plane, selection, what the trees show; kept for its next opening.

Which production runs went on is kept with it, so that the next opening can tell what they did meanwhile.

A visit comes from a file that anybody may have changed, so everything that does not fit is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, QObject
from PySide6.QtWidgets import QLineEdit

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.matrix.layout.camera import Viewpoint
from metl_gui.ui.matrix.layout.content import SortOrder
from metl_gui.ui.project.selection import NodeRef, Selected, still_there
from metl_gui.ui.run.meanwhile import MOST_RUNS

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window
    from metl_gui.ui.trees.panel import TreePanel

_MOST_ROWS = 4_000
"""So many rows of a tree are looked through for open ones: closing a window must not take long."""

_MOST_FILTER = 1_000
_MOST_TOP = 10_000_000


def visit_of(window: Window) -> dict[str, Any]:
    """Describe what the window shows of its project, as JSON values."""
    place, sides = window.map.matrix.place(), window.map.sides
    second = sides.second.place() if sides.second is not None and sides.is_shown else None
    selected = window.selection.current
    return {
        "page": window.stack.currentIndex(),
        "place": place.as_json() if place is not None else None,
        "order": window.map.planes.arrangement.order.value,
        "selected": [_written(selected.source), _written(selected.target)],
        "filters": {name: box.text()[:_MOST_FILTER] for name, box in _filters(window).items() if box.text()},
        "production": [run.run_id for run in window.run_page.production.live[:MOST_RUNS]],
        "trees": {panel.side.value: _tree(panel) for panel in (window.map.sources, window.map.targets)},
        "second": second.as_json() if second is not None else None,
        "folded": _written_nodes(window.map.planes.arrangement.folded),
        "pinned": _written_nodes(window.map.planes.arrangement.pinned),
    }


def look_again(window: Window, seen: dict[str, Any]) -> None:
    """Show the open project as it was looked at last; what is gone since is left out."""
    trees, filters = seen.get("trees"), seen.get("filters")
    openers: list[_Opener] = []
    for panel in (window.map.sources, window.map.targets):
        found = trees.get(panel.side.value) if isinstance(trees, dict) else None
        if isinstance(found, dict):
            openers.append(_Opener(panel, found))
            window.project.opened.connect(openers[-1].give_up)
    for name, box in _filters(window).items():
        words = filters.get(name) if isinstance(filters, dict) else None
        box.setText(words[:_MOST_FILTER] if isinstance(words, str) else "")
    order = seen.get("order")
    if order in list(SortOrder) and order != window.map.planes.arrangement.order:
        window.map.planes.order(SortOrder(order))
    folded, pinned = (_read_nodes(window.project.value, seen.get(name)) for name in ("folded", "pinned"))
    if folded or pinned:
        window.map.planes.fold_and_pin(folded, pinned)
    selected = _read_selected(window.project.value, seen.get("selected"))
    place = Viewpoint.of_json(seen.get("place"))
    if place is not None:
        window.map.matrix.go_to_place(replace(place, selected=selected))
    second = Viewpoint.of_json(seen.get("second"))
    if second is not None:
        window.map.sides.show(True)
        window.map.sides.views[-1].go_to_place(replace(second, selected=selected))
    if selected != Selected():
        window.selection.choose(selected)
    for opener in openers:
        opener.scroll()
    page = seen.get("page")
    if isinstance(page, int) and 0 <= page < len(PAGES):
        window.show_page(page)
    went_on = seen.get("production")
    if isinstance(went_on, list):
        window.run_commands.meanwhile.tell([run_id for run_id in went_on if isinstance(run_id, str)])


def _filters(window: Window) -> dict[str, QLineEdit]:
    """Return the boxes of all lists of a project that are searched; those of the trees are kept with these."""
    return {
        "block": window.map.block.filter,
        "forward": window.lists.forward.bar.box,
        "history": window.history.panel.box,
        "mapping": window.lists.mapping.box,
        "reverse": window.lists.reverse.bar.box,
        "review": window.review.list.box,
        "suggestions": window.suggest.panel.everything.box,
    }


def _tree(panel: TreePanel) -> dict[str, Any]:
    ways = [list(way) for way in _open_ways(panel)]
    return {"filter": panel.box.text()[:_MOST_FILTER], "open": ways, "top": panel.top_row}


def _open_ways(panel: TreePanel) -> Iterator[tuple[Any, ...]]:
    """Yield the ways to open rows: a group by its name below that of the one above, any other node by its ids."""
    model, view = panel.model, panel.view
    waiting: list[tuple[QModelIndex, tuple[str, ...]]] = [(QModelIndex(), ())]
    looked = 0
    while waiting and looked < _MOST_ROWS:
        parent, names = waiting.pop()
        for row in range(min(model.rowCount(parent), _MOST_ROWS - looked)):
            index = model.index(row, 0, parent)
            looked += 1
            if view.isExpanded(index):
                place = model.place(index)
                way = (*names, str(index.data())) if place is None else names
                yield tuple(way) if place is None else (place.schema, place.version)
                waiting.append((index, way))


class _Opener(QObject):
    """Filters a tree or opens rows of it as soon as it has been filled, once, and scrolls to where it was.

    What is selected comes into sight when it is chosen; so ``scroll`` is called after that.
    """

    def __init__(self, panel: TreePanel, found: dict[str, Any]) -> None:
        super().__init__(panel)
        words, ways, top = (found.get(name) for name in ("filter", "open", "top"))
        self._panel = panel
        self._ways = ways[:_MOST_ROWS] if isinstance(ways, list) else []
        self._words = words[:_MOST_FILTER] if isinstance(words, str) else ""
        self._top = top if isinstance(top, int) and top < _MOST_TOP else 0
        self._is_open = self._scrolls = False
        if panel.model.rowCount() and not self._words:
            self._open()
        else:
            panel.box.setText(self._words)
            panel.box.textEdited.connect(self.give_up)
            panel.model.filled.connect(self._open)

    def scroll(self) -> None:
        """Scroll now, or as soon as rows are open."""
        self._scrolls = True
        if self._is_open:
            self._panel.scroll_to_row(self._top)
            self.deleteLater()

    def give_up(self, _what: object = None) -> None:
        """Do nothing any more: somebody has looked for something else by now, or in another project."""
        self._is_open = True
        self.deleteLater()

    def _open(self) -> None:
        panel = self._panel
        if self._is_open or (self._words and not panel.is_filtered_by(self._words)):
            return
        if not self._words:
            panel.close_all()
            for index in map(self._row, self._ways):
                if index.isValid():
                    panel.view.expand(index)
        self._is_open = True
        if self._scrolls:
            self.scroll()

    def _row(self, way: Any) -> QModelIndex:
        model = self._panel.model
        if not isinstance(way, list) or not way:
            return QModelIndex()
        if isinstance(way[0], int):
            place = _read(self._panel.side, model.document, [*way, None][:3])
            index = model.index_of(place) if place is not None else QModelIndex()
            return index if index.isValid() and model.place(index) == place else QModelIndex()
        index = QModelIndex()
        for name in way:
            rows = range(min(model.rowCount(index), _MOST_ROWS))
            index = next((i for r in rows if str((i := model.index(r, 0, index)).data()) == name), QModelIndex())
            if not index.isValid():
                break
        return index


def _written_nodes(nodes: Iterable[tuple[Side, NodeRef]]) -> list[Any]:
    return sorted(([side.value, _written(node)] for side, node in nodes), key=str)


def _read_nodes(document: Document, found: Any) -> frozenset[tuple[Side, NodeRef]]:
    nodes: set[tuple[Side, NodeRef]] = set()
    for each in found[:_MOST_ROWS] if isinstance(found, list) else []:
        if isinstance(each, list) and len(each) == 2 and each[0] in list(Side):
            node = _read(Side(each[0]), document, each[1])
            if node is not None and _written(node) == each[1]:
                nodes.add((Side(each[0]), node))
    return frozenset(nodes)


def _written(place: NodeRef | None) -> list[int | None] | None:
    return None if place is None else [place.schema, place.version, place.attribute]


def _read_selected(document: Document, found: Any) -> Selected:
    if not isinstance(found, list) or len(found) != len(Side):
        return Selected()
    return Selected(_read(Side.EXTRACTION, document, found[0]), _read(Side.CDM, document, found[1]))


def _read(side: Side, document: Document, found: Any) -> NodeRef | None:
    """Read a node, ``None`` when it is not what a node looks like, or is gone."""
    if not isinstance(found, list) or len(found) != 3 or not isinstance(found[0], int):  # schema, version, attribute
        return None
    if any(not isinstance(part, int) for part in found[1:] if part is not None):
        return None
    place = NodeRef(*found)
    return still_there(document, Selected().with_place(side, place)).on(side)
