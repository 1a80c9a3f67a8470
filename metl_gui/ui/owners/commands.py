"""The commands of owners: entities, lineages, comments, masks, what is never to be mapped, gaps."""

from __future__ import annotations

from metl_gui.core.changes.draft import Edit
from metl_gui.core.counted import number_of
from metl_gui.core.edits.lineages import SplitLineage
from metl_gui.core.edits.settings import MaskAttribute
from metl_gui.core.edits.titles import past_tense
from metl_gui.core.project.masks import masked_lineages
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.schema_names import name_in_group
from metl_gui.errors import UserError
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.owners.docks import OwnerDocks
from metl_gui.ui.owners.entity_dialog import NEW_ENTITY, EntityDialog
from metl_gui.ui.owners.ignore_dialog import IgnoreDialog
from metl_gui.ui.owners.lineage_dialog import LineageDialog
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.workbench.mapping.todo import Marked, recalling
from metl_gui.workbench.model import lineages
from metl_gui.workbench.model.pasted_attributes import like
from metl_gui.workbench.session import EditOrigin


class OwnerCommands:
    """The commands of one window.

    Where attributes are chosen on both sides, the one that was chosen last is meant.

    Args:
        docks: show comments and gaps.
    """

    def __init__(self, context: AppContext, docks: OwnerDocks) -> None:
        self._context, self._docks = context, docks

    def new_entity(self) -> None:
        """Write a new entity."""
        self._open(EntityDialog(self._context.project, self._context.jobs, NEW_ENTITY, self._context.window))

    def new_entity_like(self) -> None:
        """Write a new entity that begins with the chosen attributes of a schema, or all of its version."""
        current, tree = self._context.selection.current, self._context.project.value.extraction
        place = current.source
        schema = tree.find_schema(place.schema) if place is not None else None
        if place is None or schema is None:
            return
        version = tree.find_version(place.version) if place.version is not None else tree.newest(schema.id)
        attributes = version.attributes if version is not None else ()
        chosen = {each.attribute for each in current.sources if each.version == place.version}
        some = [each for each in attributes if each.id in chosen] or attributes
        key = version.key or () if version is not None else ()
        is_whole = set(key) <= {each.path for each in some}
        self._open(
            EntityDialog(
                self._context.project,
                self._context.jobs,
                NEW_ENTITY,
                self._context.window,
                like=(name_in_group(schema.name), like(some), key if is_whole else ()),
            )
        )

    def new_version(self) -> None:
        """Change an entity: the selected one, else the first."""
        place, document = self._context.selection.current.target, self._context.project.value
        entities = sorted(document.cdm.schemas(), key=lambda entity: entity.name)
        first = entities[0].id if entities else NEW_ENTITY
        entity = place.schema if place is not None and document.cdm.find_schema(place.schema) else first
        self._open(EntityDialog(self._context.project, self._context.jobs, entity, self._context.window))

    def same_as(self) -> None:
        """Say what the chosen attribute is the same as."""
        self._correct(joins=True)

    def not_same_as(self) -> None:
        """Say from where on the chosen attribute is another one."""
        self._correct(joins=False)

    def comment(self) -> None:
        """Show the comments on what is selected, ready to write one."""
        self._context.navigate.show_page(PAGES.index("Map"))
        self._docks.show_comments()

    def show_gaps(self) -> None:
        """Show the gaps."""
        self._context.navigate.show_page(PAGES.index("Map"))
        self._docks.show_gaps()

    def mask(self) -> None:
        """Hide the values of the chosen attribute, or show them again."""
        chosen = self.chosen
        if chosen is not None:
            side, place = chosen
            if place.version is not None and place.attribute is not None:
                edit = MaskAttribute(side, place.version, place.attribute, not self.is_chosen_masked)
                self._context.project.do(edit)

    @property
    def chosen(self) -> tuple[Side, NodeRef] | None:
        """The attribute that is meant."""
        places = self._context.selection.places
        return next(((side, place) for side, place in places if place.attribute is not None), None)

    @property
    def is_chosen_masked(self) -> bool:
        """Whether the attribute that is meant is masked itself."""
        chosen, document = self.chosen, self._context.project.value
        if chosen is None:
            return False
        side, place = chosen
        version = document.tree(side).find_version(place.version) if place.version is not None else None
        attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
        if version is None or attribute is None:
            return False
        tree = document.tree(side)
        return attribute.lineage in masked_lineages(tree, tree.schema(version.schema_id))

    def never_map(self) -> None:
        """Ask why the chosen attributes are never to be mapped; where all of them are marked, take that back."""
        marked = self._marked()
        if not marked:
            return
        if self.is_chosen_ignored:
            self._mark(recalling(marked))
            return
        dialog = IgnoreDialog(self._context.project, self._context.jobs, marked, self._context.window)
        dialog.wanted.connect(self._mark)
        show_about(self._context.project, dialog)

    @property
    def is_chosen_ignored(self) -> bool:
        """Whether all attributes that are meant are never to be mapped."""
        document, marked = self._context.project.value, self._marked()
        places = {(side, schema_id) for side, schema_id, _ in marked}
        ignored = {place: document.tree(place[0]).schema(place[1]).ignored_lineages for place in places}
        return bool(marked) and all(lineage in ignored[side, schema_id] for side, schema_id, lineage in marked)

    def _marked(self) -> tuple[Marked, ...]:
        """Return all chosen attributes of the tree that is meant; several versions of one count once."""
        chosen, document = self.chosen, self._context.project.value
        if chosen is None:
            return ()
        side, current = chosen
        found: dict[Marked, None] = {}
        for place in (current, *self._context.selection.current.all_on(side)):
            version = document.tree(side).find_version(place.version) if place.version is not None else None
            attribute = version.attribute(place.attribute) if version and place.attribute is not None else None
            if version is not None and attribute is not None:
                found[side, version.schema_id, attribute.lineage] = None
        return tuple(found)

    def _correct(self, joins: bool) -> None:
        chosen = self.chosen
        if chosen is not None:
            self._open(LineageDialog(self._context.project, self._context.jobs, *chosen, joins, self._context.window))

    def _mark(self, edit: Edit) -> None:
        if self._context.project.do(edit):
            self._context.notify(f"{past_tense(self._context.project.undo_title or '')}.")

    def _open(self, dialog: EntityDialog | LineageDialog) -> None:
        dialog.wanted.connect(self._do)
        show_about(self._context.project, dialog)

    def _do(self, edit: Edit) -> None:
        project = self._context.project
        workbench = project.workbench
        if isinstance(edit, SplitLineage) and workbench is not None:
            try:
                lineages.split(workbench, edit, door=EditOrigin.WINDOW)
            except UserError as error:
                project.catch_up()
                project.refused.emit(error)
                return
            project.catch_up()
        elif not project.do(edit):
            return
        self._tell()

    def _tell(self) -> None:
        context, project = self._context, self._context.project
        title = past_tense(project.undo_title or "") if project.can_edit else ""
        waiting = len(project.review_items())
        if waiting:
            words = f"{title}. {number_of(waiting, 'decision')} wait{'s' if waiting == 1 else ''}."
            context.notify(words, "Review now", self._show_review)
        elif title:
            context.notify(f"{title}.")

    def _show_review(self) -> None:
        self._context.navigate.show_page(PAGES.index("Review"))
