"""The commands behind the menus for settings, and for owners: entities, lineages, comments, masks, gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.lineages import SplitLineage
from metl_gui.core.edits.settings import MaskAttribute
from metl_gui.core.project.masks import masked_lineages
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.trees import Tree
from metl_gui.errors import UserError
from metl_gui.ui.owners.entity_dialog import NEW_ENTITY, EntityDialog
from metl_gui.ui.owners.lineage_dialog import LineageDialog
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.ui.project.text import number_of
from metl_gui.ui.settings_dialogs.profiles_dialog import ProfilesDialog
from metl_gui.ui.settings_dialogs.project_dialog import ProjectSettingsDialog
from metl_gui.ui.settings_dialogs.schema_dialog import SchemaSettingsDialog
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show, show_about
from metl_gui.workbench.model import lineages
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import SIGN, Profile
from metl_gui.workbench.session import SECOND_PERSON_CONFIRMS, EditOrigin, person
from metl_gui.workbench.settings import project_settings, set_project_settings

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


class SettingCommands:
    """The settings of one window's project."""

    def __init__(self, window: Window) -> None:
        self._window = window

    def schemas_chosen(self, side: Side) -> tuple[int, ...]:
        """Return the ids of the schemas or entities that are chosen in a tree, the current one first."""
        current, tree = self._window.selection.current, self._window.project.value.tree(side)
        many = current.sources if side is Side.EXTRACTION else current.targets
        return _schemas_of(tree, (current.on(side), *many))

    def ask_of(self, side: Side) -> None:
        """Show the settings of what is chosen in a tree."""
        window, ids = self._window, self.schemas_chosen(side)
        if ids:
            dialog = SchemaSettingsDialog(window.project, window.jobs, side, ids, window)
            dialog.wanted.connect(window.project.do)
            show_about(window.project, dialog)

    def ask_of_project(self) -> None:
        """Show the settings of the project, and who works in this window."""
        window = self._window
        workbench = window.project.workbench
        if workbench is None:
            return
        needs_second = project_settings(workbench).second_person_confirms if workbench.is_for_editing else None
        dialog = ProjectSettingsDialog(workbench.who, person(), needs_second, window)
        dialog.wanted.connect(self._set)
        show_about(window.project, dialog)

    def show_profiles(self, chosen: str = "", kind: ProfileKind = ProfileKind.SPARK) -> None:
        """Show the connection profiles: one of them first, or else the Spark that runs use now."""
        window, box = self._window, self._window.run_page.setup.target
        dialog = ProfilesDialog(window.jobs, chosen or box.text.removeprefix(SIGN), window, kind=kind)
        dialog.changed.connect(window.run_page.targets.refresh)
        dialog.wanted.connect(self._use)
        show(dialog)

    def _use(self, profile: Profile) -> None:
        """Do with a profile what its kind is for."""
        if profile.kind is ProfileKind.SPARK:
            self._window.run_page.setup.target.choose(f"{SIGN}{profile.name}")
        elif profile.kind is ProfileKind.KAFKA and self._window.project.workbench is None:
            self._window.notify("Topics are read for a project: open one, then choose them on its Run page.")
        elif profile.kind is ProfileKind.KAFKA:
            self._window.run_commands.topics.choose_source(f"kafka://{SIGN}{profile.name}")
        elif profile.kind in (ProfileKind.REGISTRY, ProfileKind.POSTGRESQL):
            self._window.registries.browse(f"{SIGN}{profile.name}")

    def _set(self, wanted: tuple[str, bool]) -> None:
        window, (who, needs_second) = self._window, wanted
        workbench = window.project.workbench
        if workbench is None:
            return
        window.settings.who = who
        workbench.who = who or person()
        try:
            if workbench.is_for_editing and project_settings(workbench).second_person_confirms != needs_second:
                set_project_settings(workbench, [f"{SECOND_PERSON_CONFIRMS}={'yes' if needs_second else 'no'}"])
                then = "A second person confirms from now on." if needs_second else "Whoever maps confirms from now on."
                window.notify(then)
        except UserError as error:
            dialogs.tell(error, window)
        window.second.look()


def _schemas_of(tree: Tree, places: tuple[NodeRef | None, ...]) -> tuple[int, ...]:
    ids = (place.schema for place in places if place is not None)
    return tuple(id_ for id_ in dict.fromkeys(ids) if tree.find_schema(id_) is not None)


class OwnerCommands:
    """The commands of one window.

    Where attributes are chosen on both sides, the one that was chosen last is meant.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._last = Side.EXTRACTION
        self._before = Selected()
        window.selection.changed.connect(self._selected)

    def new_entity(self) -> None:
        """Write a new entity."""
        self._open(EntityDialog(self._window.project, self._window.jobs, NEW_ENTITY, self._window))

    def new_version(self) -> None:
        """Change an entity: the selected one, else the first."""
        place, document = self._window.selection.current.target, self._window.project.value
        entities = sorted(document.cdm.schemas(), key=lambda entity: entity.name)
        first = entities[0].id if entities else NEW_ENTITY
        entity = place.schema if place is not None and document.cdm.find_schema(place.schema) else first
        self._open(EntityDialog(self._window.project, self._window.jobs, entity, self._window))

    def same_as(self) -> None:
        """Say what the chosen attribute is the same as."""
        self._correct(joins=True)

    def not_same_as(self) -> None:
        """Say from where on the chosen attribute is another one."""
        self._correct(joins=False)

    def comment(self) -> None:
        """Show the comments on what is selected, ready to write one."""
        self._window.show_page(0)
        self._window.owner_docks.show_comments()

    def show_gaps(self) -> None:
        """Show the gaps."""
        self._window.show_page(0)
        self._window.owner_docks.show_gaps()

    def mask(self) -> None:
        """Hide the values of the chosen attribute, or show them again."""
        chosen = self.chosen
        if chosen is not None:
            side, place = chosen
            if place.version is not None and place.attribute is not None:
                edit = MaskAttribute(side, place.version, place.attribute, not self.is_chosen_masked)
                self._window.project.do(edit)

    @property
    def chosen(self) -> tuple[Side, NodeRef] | None:
        """The attribute that is meant."""
        current = self._window.selection.current
        for side in (self._last, *(each for each in Side if each is not self._last)):
            place = current.on(side)
            if place is not None and place.attribute is not None:
                return side, place
        return None

    @property
    def is_chosen_masked(self) -> bool:
        """Whether the attribute that is meant is masked itself."""
        chosen, document = self.chosen, self._window.project.value
        if chosen is None:
            return False
        side, place = chosen
        version = document.tree(side).find_version(place.version) if place.version is not None else None
        attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
        if version is None or attribute is None:
            return False
        tree = document.tree(side)
        return attribute.lineage in masked_lineages(tree, tree.schema(version.schema_id))

    def _correct(self, joins: bool) -> None:
        chosen = self.chosen
        if chosen is not None:
            self._open(LineageDialog(self._window.project, self._window.jobs, *chosen, joins, self._window))

    def _open(self, dialog: EntityDialog | LineageDialog) -> None:
        dialog.wanted.connect(self._do)
        show_about(self._window.project, dialog)

    def _do(self, edit: Edit) -> None:
        project = self._window.project
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
        window = self._window
        title, waiting = window.facts.titles[0], window.facts.waiting
        if waiting:
            words = f"{title}. {number_of(waiting, 'decision')} wait{'s' if waiting == 1 else ''}."
            window.notify(words, "Review now", lambda: window.show_page(1))
        elif title:
            window.notify(f"{title}.")

    def _selected(self, selected: Selected) -> None:
        sides = [side for side in Side if self._before.on(side) != selected.on(side)]
        self._before = selected
        self._last = sides[0] if len(sides) == 1 else self._last
