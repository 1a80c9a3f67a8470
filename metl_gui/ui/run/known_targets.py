"""The targets that a run may be started on: those used lately, and the connections that lead to Spark."""

from __future__ import annotations

from metl_gui.errors import UserError
from metl_gui.ui.run.target_box import TargetBox, without_secrets
from metl_gui.ui.settings import ViewSettings
from metl_gui.workbench.profile_kinds import Kind
from metl_gui.workbench.profiles import profiles


class KnownTargets:
    """Offers targets in a box, and remembers what was used.

    Args:
        settings: where they are remembered.
        box: where they are offered.
    """

    def __init__(self, settings: ViewSettings, box: TargetBox) -> None:
        self._settings, self._box = settings, box

    def remember(self, target: str) -> None:
        """Offer a target from now on; nothing secret of it is remembered."""
        known = without_secrets(target)
        if known:
            self._settings.remember_target(known)
            self.refresh()

    def refresh(self) -> None:
        """Offer the targets used lately and the connections that there are now."""
        try:
            names = [profile.name for profile in profiles(Kind.SPARK)]
        except UserError:
            names = []  # their dialog says why they cannot be read
        self._box.show_targets(self._settings.targets, names)
