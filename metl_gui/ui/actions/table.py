"""One row of the action table; menus, buttons, palette, keys and the shortcut sheet are built from the rows.

The rows themselves stand in the shell, which knows what they act on (``metl_gui.ui.shell.action_rows.action_table``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtWidgets import QMainWindow

from metl_gui.values import Value

MENUS = ("File", "Edit", "View", "Schema", "Mapping", "Run", "Tools", "Help")
SCOPES = ("window", "matrix", "review list", "block editor", "trees", "star diagram")

W = TypeVar("W", bound=QMainWindow)
"""The window that the actions act on."""


def always(_window: QMainWindow) -> bool:
    """Make sense even without a project."""
    return True


class EditCondition(Value, Generic[W]):
    """A condition that an edit of blocks can change; any other depends on trees, selection, page or what goes on.

    Args:
        test: asks the window.
    """

    test: Callable[[W], bool]

    def __call__(self, window: W) -> bool:
        """Ask the window."""
        return self.test(window)


class ActionRow(Value, Generic[W]):
    """One action.

    Args:
        id: its name in code.
        menu: the menu it stands in, ``View > Overlay`` for a sub-menu.
        text: what people read.
        shortcut: its keys by default, empty for none.
        does: what it does, given the window; ``None`` for a gesture or key that its view reads itself.
        when: whether it makes sense now.
        begins_section: whether a line stands above it in a sub-menu that ``menus`` does not arrange.
        is_checked: whether its mark is set; ``None`` for no mark.
        radio: name of the choice that it is one of.
        says: its words as things are now; ``None`` for ``text``.
        scope: the view whose focus its key needs.
        also: a second key of the table; a person's own keys stand for both.
    """

    id: str
    menu: str
    text: str
    shortcut: str = ""
    does: Callable[[W], object] | None = None
    when: Callable[[W], bool] = always
    begins_section: bool = False
    is_checked: Callable[[W], bool] | None = None
    radio: str = ""
    says: Callable[[W], str] | None = None
    scope: str = "window"
    also: str = ""

    @property
    def is_hint(self) -> bool:
        """Whether it is on the sheet only."""
        return self.does is None

    @property
    def follows_edits(self) -> bool:
        """Whether an edit of blocks can change when it makes sense, or its words."""
        return self.says is not None or isinstance(self.when, EditCondition)

    @property
    def words(self) -> str:
        """The text as it stands in lists, without the mark of a dialog that follows."""
        return self.text.removesuffix("…")
