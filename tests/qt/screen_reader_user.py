"""Somebody with a screen reader: finds controls by role and name over the accessibility bus, hears what is announced.

Nothing of the window is known here but what the bus tells (AT-SPI over D-Bus). What screen readers leave to the
keyboard is left to it here too.

Source: at-spi2-core, xml/*.xml.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, HeaderFields, MatchRule, MessageFlag, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.qt.desktop import desktop

_SHOWING, _FOCUSABLE, _FOCUSED, _CHECKED, _ENABLED = 25, 11, 12, 4, 8
_MOST_KEYS = 200
_OF_SCREEN = 0
_ROOT = "/org/a11y/atspi/accessible/root"
_REGISTRY = "org.a11y.atspi.Registry"
_DEVICES = "/org/a11y/atspi/registry/deviceeventcontroller", "org.a11y.atspi.DeviceEventController"
"""Place and kind of what strikes keys and clicks."""

_VIEWS = ("tree", "tree table", "list", "table")
_CONTENT = ("tree item", "list item")
_NO_ROLES = ("unknown", "invalid", "")
_PATIENCE_S, _AGAIN_S, _PAUSE_S = 120.0, 10.0, 0.05
_KEY_DOWN, _KEY_UP, _KEY_SYM = 0, 1, 3
_HELD = {"Shift": 50, "Ctrl": 37, "Alt": 64}
"""What is held down, by the number that X has for the key of any keyboard."""
_NAMED = {"Backspace": 0xFF08, "Tab": 0xFF09, "Return": 0xFF0D, "Esc": 0xFF1B, "Home": 0xFF50, "Left": 0xFF51}
_NAMED |= {"Up": 0xFF52, "Right": 0xFF53, "Down": 0xFF54, "End": 0xFF57, "Del": 0xFFFF, "Space": 0x20}
_NAMED |= {f"F{number}": 0xFFBD + number for number in range(1, 13)}
_LATIN, _UNICODE = 0x100, 0x01000000
"""Letters below are their own symbols of X; the others are so much more."""


@dataclass(frozen=True)
class Control:
    """Something on the bus.

    Args:
        bus, path: where it is.
        name, role: what a screen reader says of it.
        states: bits, as the bus has them.
    """

    bus: str
    path: str
    name: str
    role: str
    states: int

    def has(self, state: int) -> bool:
        """Return whether it has a state."""
        return bool(self.states >> state & 1)

    @property
    def is_focusable(self) -> bool:
        """Whether the keyboard can go to it."""
        return self.has(_FOCUSABLE) and self.has(_SHOWING)

    @property
    def is_checked(self) -> bool:
        """Whether it is checked."""
        return self.has(_CHECKED)

    @property
    def is_enabled(self) -> bool:
        """Whether it can be used."""
        return self.has(_ENABLED)


class GoneError(AssertionError):
    """What was asked is there no more: a window closed, or a list was filled anew, between two questions."""


class ScreenReader:
    """One program on one accessibility bus.

    Args:
        connection: to the accessibility bus.
        program: what is listened to.
    """

    def __init__(self, connection: DBusConnection, program: subprocess.Popen[bytes]) -> None:
        self._connection, self._program = connection, program
        self.heard: list[str] = []
        rule = MatchRule(type="signal", interface="org.a11y.atspi.Event.Object", member="Announcement")
        connection.send_and_get_reply(message_bus.AddMatch(rule))
        self._signals: deque[Any] = connection.filter(rule, bufsize=1_000).queue
        self.call(_REGISTRY, "/org/a11y/atspi/registry", _REGISTRY, "RegisterEvent", "s", ("object:announcement",))
        self.until(lambda: bool(self.children(self._desktop())))

    # what is there

    def find(self, role: str, name: str) -> Control:
        """Return what has a role and a name, or a name that begins so; exactly one of what shows."""
        found: list[Control] = []

        def looks() -> bool:
            found[:] = [each for each in self.all() if each.role == role and each.name == name]
            found[:] = found or [each for each in self.all() if each.role == role and each.name.startswith(name)]
            return bool(found)

        self.until(looks, lambda: f"no {role} {name!r} among {sorted({(c.role, c.name) for c in self.all()})}")
        return found[0]

    @property
    def focused(self) -> Control | None:
        """What has the keyboard."""
        return next((each for each in self.all() if each.has(_FOCUSED)), None)

    def shows(self, role: str, name: str) -> bool:
        """Return whether something with a role and a name shows."""
        return any(each.role == role and each.name.startswith(name) for each in self.all())

    def names(self, role: str, inside: Control | None = None) -> list[str]:
        """Return the names of what has a role."""
        return [each.name for each in self.all(inside) if each.role == role]

    def all(self, inside: Control | None = None) -> Iterator[Control]:
        """Yield what shows, in the newest window first; not the cells of tables, which may be many."""
        tops = [inside] if inside is not None else self.windows()
        rest = deque(each for each in tops if each.has(_SHOWING))
        while rest:
            each = rest.popleft()
            yield each
            if each.role != "table":
                rest.extendleft(reversed([child for child in self.children(each) if child.has(_SHOWING)]))

    def children(self, control: Control) -> list[Control]:
        """Return what is inside."""
        (found,) = self._ask(control, "GetChildren")
        return [self._at(bus, path) for bus, path in found]

    def windows(self) -> list[Control]:
        """Return the windows that show, the newest first."""
        own = self.children(self.children(self._desktop())[-1])
        return [each for each in reversed(own) if each.has(_SHOWING)]

    def unnamed(self, inside: Control | None = None) -> list[tuple[str, str]]:
        """Return what the keyboard can go to of which a screen reader could not say what it is: role and place."""
        found = []
        tops = self.windows() if inside is None else [inside]
        rest = [(each, each) for each in tops if each.role != "file chooser"]
        while rest:
            each, above = rest.pop()
            is_inside = each.role == "filler" and above.is_focusable and above.name  # the sight of a view, not a stop
            is_content = each.role in _CONTENT or above.role == "combo box"  # named by its box
            if each.is_focusable and not is_inside and not is_content and (not each.name or each.role in _NO_ROLES):
                found.append((each.role, each.name or f"in {above.role} {above.name!r}"))
            if each.role != "table":
                rest += [(child, each) for child in self.children(each) if child.has(_SHOWING)]
        return found

    # what is done

    def press(self, role: str, name: str) -> None:
        """Do what pressing it does."""
        self.until(lambda: self.find(role, name).is_enabled, lambda: f"{name!r} cannot be used now")
        self.do(self.find(role, name))

    def do(self, control: Control) -> None:
        """Do the first of what can be done with a control, as screen readers do."""
        address = DBusAddress(control.path, control.bus, "org.a11y.atspi.Action")
        message = new_method_call(address, "DoAction", "i", (0,))
        message.header.flags = MessageFlag.no_reply_expected  # a dialog that it opens may keep the reply
        self._connection.send(message)

    def choose(self, view: str, name: str) -> None:
        """Go with arrows to the row of a list, tree or table that is read so, or begins so."""
        self.until(lambda: any(row.startswith(name) for row in self.rows(view)), lambda: f"{self.rows(view)}")
        self.focus(self._view(view))
        self.key("Home")
        self.until(lambda: self.current(view) == self.rows(view)[0])
        for _ in range(_MOST_KEYS):
            before = self._current(view)
            if before is not None and before.name.startswith(name):
                return
            self.key("Down")
            self.until(lambda before=before: self._current(view) not in (None, before))  # type: ignore[misc]
        raise AssertionError(f"arrows do not lead to {name!r} among {self.rows(view)}")

    def row_count(self, view: str) -> int:
        """Return how many rows a table has."""
        here = self._view(view)
        asked = ("org.a11y.atspi.Table", "NRows")
        ((_, count),) = self.call(here.bus, here.path, "org.freedesktop.DBus.Properties", "Get", "ss", asked)
        return int(count)

    def current(self, view: str) -> str | None:
        """Return what is read of the row that has the keyboard, ``None`` when none has it."""
        found = self._current(view)
        return found.name if found is not None else None

    def rows(self, view: str) -> list[str]:
        """Return the names of what is in a list, tree or table."""
        return [each.name for each in self.children(self._view(view)) if not each.role.endswith("header")]

    def write(self, name: str, text: str) -> None:
        """Write into a box, instead of what stands there."""
        box = self.find("text", name)
        self.focus(box)
        self.key("Ctrl+A")
        self.type(text) if text else self.key("Backspace")
        self.until(lambda: self.text(box) == text, lambda: f"{name!r} has {self.text(box)!r}")

    def write_into_what_opens(self, keys: str, name: str, text: str) -> None:
        """Press keys until they open a box, and write into it.

        A key struck while no window has the keyboard is lost: the window is chosen then, as one does on a desktop.
        """

        def has_keyboard() -> bool:
            return any(each.role == "text" and each.name == name and each.has(_FOCUSED) for each in self.all())

        def opens() -> bool:
            self.key(keys)
            end = time.monotonic() + _AGAIN_S
            while not (is_there := has_keyboard()) and time.monotonic() < end:
                time.sleep(_PAUSE_S)
            if not is_there:
                self._click_menu_bar()
            return is_there

        def why_not() -> str:
            return f"{keys} opens no {name!r}; the keyboard is on {self.focused}, and {self.heard[-3:]} was said"

        self.until(lambda: has_keyboard() or opens(), why_not)
        self.type(text)
        box = self.find("text", name)
        self.until(lambda: self.text(box) == text, lambda: f"{name!r} has {self.text(box)!r}")

    def text(self, box: Control) -> str:
        """Read what stands in a box."""
        (found,) = self.call(box.bus, box.path, "org.a11y.atspi.Text", "GetText", "ii", (0, -1))
        return str(found)

    def focus(self, control: Control) -> None:
        """Give the keyboard to a control."""
        self.call(control.bus, control.path, "org.a11y.atspi.Component", "GrabFocus")

    def entries(self, above: Control | None = None) -> list[Control]:
        """Return the entries of a menu, or the menus of the bar."""
        if above is None:
            above = next(each for each in self.children(self._frame()) if each.role == "menu bar")
        inside = [child for each in self.children(above) for child in (each, *self.children(each))]
        return [each for each in inside if each.role.endswith("item") and each.name]

    def menu(self, *way: str) -> None:
        """Choose an entry, menu by menu."""
        at: Control | None = None
        for words in way:
            entries = self.entries(at)
            at = next((each for each in entries if each.name.startswith(words)), None)
            assert at is not None, f"no entry {words!r} among {[each.name for each in entries]}"
        assert at is not None
        assert at.is_enabled, f"{way[-1]!r} cannot be done now"
        self.do(at)

    def key(self, keys: str) -> None:
        """Press a key, ``Ctrl+Z``, on the keyboard of the screen; what comes of it is waited for by who reads it."""
        *held, last = keys.split("+")
        for name in held:
            self._strike(_HELD[name], _KEY_DOWN)
        self._strike(_NAMED[last] if last in _NAMED else ord(last.lower()), _KEY_SYM)
        for name in reversed(held):
            self._strike(_HELD[name], _KEY_UP)

    def type(self, text: str) -> None:
        """Type a text."""
        for letter in text:
            self._strike(ord(letter) if ord(letter) < _LATIN else _UNICODE + ord(letter), _KEY_SYM)

    # what is heard

    def listen(self) -> list[str]:
        """Return what was announced up to now."""
        self._pump()
        return self.heard

    def until_said(self, words: str) -> None:
        """Wait until the last that was announced begins so."""
        self.until(
            lambda: bool(self.listen()) and self.heard[-1].startswith(words),
            lambda: f"not {words!r} was said, but {self.heard[-5:]}; the keyboard is on {self.focused}",
        )

    def until(self, is_so: Callable[[], bool], words: Callable[[], str] = lambda: "waited in vain") -> None:
        """Wait until something is so; what goes while it is looked at is looked at again."""
        end = time.monotonic() + _PATIENCE_S
        while True:
            with suppress(GoneError):
                if is_so():
                    return
            assert self._program.poll() is None, "the program has ended"
            assert time.monotonic() < end, words()
            time.sleep(_PAUSE_S)

    def call(
        self, bus: str, path: str, interface: str, method: str, signature: str = "", body: tuple[Any, ...] = ()
    ) -> Any:
        """Call a method on the bus.

        Raises:
            GoneError: there is nothing of that path any more.
        """
        message = new_method_call(DBusAddress(path, bus, interface), method, signature or None, body)
        reply = self._connection.send_and_get_reply(message, timeout=_PATIENCE_S)
        if reply.header.message_type is not MessageType.method_return:
            raise GoneError(method, path, reply.body)
        return reply.body

    # inside

    def _strike(self, key: int, how: int) -> None:
        """Have the accessibility bus strike a key, which the X server tells the program as if it were a keyboard's."""
        self.call(_REGISTRY, *_DEVICES, "GenerateKeyboardEvent", "isu", (key, "", how))

    def _click_menu_bar(self) -> None:
        """Click where the bar of menus has none, so that nothing comes of it but the keyboard."""
        frame = self._frame()
        ((left, top, width, _),) = self.call(
            frame.bus, frame.path, "org.a11y.atspi.Component", "GetExtents", "u", (_OF_SCREEN,)
        )
        self.call(_REGISTRY, *_DEVICES, "GenerateMouseEvent", "iis", (left + width * 3 // 4, top + 8, "b1c"))

    def _current(self, view: str) -> Control | None:
        return next((each for each in self.children(self._view(view)) if each.has(_FOCUSED)), None)

    def _pump(self) -> None:
        self._ask(self._desktop(), "GetRoleName")  # what was sent before its reply has come by then
        while self._signals:
            message = self._signals.popleft()
            assert message.header.fields[HeaderFields.member] == "Announcement"
            self.heard.append(str(message.body[3][1]))

    def _view(self, name: str) -> Control:
        found: list[Control] = []

        def looks() -> bool:
            found[:] = [each for each in self.all() if each.role in _VIEWS and each.name == name]
            return bool(found)

        self.until(looks, lambda: f"no view {name!r}")
        return found[0]

    def _frame(self) -> Control:
        """Return the window of the program."""
        (frame,) = (each for each in self.children(self.children(self._desktop())[-1]) if each.role == "frame")
        return frame

    def _desktop(self) -> Control:
        return Control(_REGISTRY, _ROOT, "", "", 0)

    def _at(self, bus: str, path: str) -> Control:
        kind = "org.a11y.atspi.Accessible"
        ((_, name),) = self.call(bus, path, "org.freedesktop.DBus.Properties", "Get", "ss", (kind, "Name"))
        (role,) = self.call(bus, path, kind, "GetRoleName")
        ((low, high),) = self.call(bus, path, kind, "GetState")
        return Control(bus, path, str(name).strip(), str(role), low | high << 32)

    def _ask(self, control: Control, method: str) -> Any:
        return self.call(control.bus, control.path, "org.a11y.atspi.Accessible", method)


@contextmanager
def screen_reader(folder: Path, project: Path | None = None) -> Iterator[ScreenReader]:
    """Start a desktop with the program on it, and listen.

    Args:
        folder: for what all of them keep.
        project: what the program opens; ``None`` for its start page.
    """
    command = [sys.executable, "-m", "tests.qt.screen_reader_program", *([str(project)] if project else [])]
    with desktop(folder) as environment, subprocess.Popen(command, env=environment) as program:
        try:
            with open_dbus_connection(_bus(environment["DBUS_SESSION_BUS_ADDRESS"])) as connection:
                yield ScreenReader(connection, program)
        finally:
            program.terminate()


def _bus(session: str) -> str:
    """Ask the session for its accessibility bus, which begins then."""
    where = new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
    with open_dbus_connection(session) as connection:
        return str(connection.send_and_get_reply(where, timeout=_PATIENCE_S).body[0])
