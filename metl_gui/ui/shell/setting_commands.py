"""The commands behind the menus for settings: of schemas, of the project, of connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.trees import Tree
from metl_gui.errors import UserError
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.settings_dialogs.schema_dialog import SchemaSettingsDialog
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show, show_about
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import SIGN, Profile
from metl_gui.workbench.session import SECOND_PERSON_CONFIRMS, person
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
        from metl_gui.ui.settings_dialogs.project_dialog import ProjectSettingsDialog

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
        from metl_gui.ui.settings_dialogs.profiles_dialog import ProfilesDialog

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
