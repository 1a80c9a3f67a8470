"""Settings of the whole project; no part of a state, so they are not undone.

Source: dmm.md §9 (second person confirms), contract.md §1 (``metl set``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metl_gui.core.project.writer_schemas import FRAMINGS
from metl_gui.errors import EditError, near_names
from metl_gui.workbench.documents import Written
from metl_gui.workbench.session import DEFAULT_KEPT_RUNS, KEPT_RUNS, SECOND_PERSON_CONFIRMS, Workbench

YES, NO = "yes", "no"
MOST_KEPT_RUNS = 10_000
FRAMING = "framing"
KNOWN: dict[str, tuple[str, ...]] = {
    SECOND_PERSON_CONFIRMS: (NO, YES),
    KEPT_RUNS: (str(DEFAULT_KEPT_RUNS),),
    FRAMING: FRAMINGS,
}
"""The settings by name, with their values, the default first; how many runs are kept is any number."""


@dataclass(frozen=True, slots=True)
class ProjectSettings(Written):
    """The settings of a project.

    Args:
        state: the current state, which they are no part of.
        settings: value by name, defaults included.
    """

    state: int
    settings: dict[str, str]

    @property
    def second_person_confirms(self) -> bool:
        """Whether what a person sets stays unconfirmed until somebody else confirms it."""
        return self.settings[SECOND_PERSON_CONFIRMS] == YES


def project_settings(workbench: Workbench) -> ProjectSettings:
    """Read the settings of the project."""
    kept = workbench.kept.settings.all()
    return ProjectSettings(
        workbench.document.state, {name: kept.get(name, values[0]) for name, values in KNOWN.items()}
    )


def set_project_settings(workbench: Workbench, assignments: Sequence[str]) -> ProjectSettings:
    """Change settings of the project, each written ``NAME=VALUE``; an empty value puts the default back.

    Raises:
        EditError: a setting or value is not known; then nothing was set.
        ProjectHeldError: the project is open read only.
    """
    values = dict(_assignment(text) for text in assignments)
    if values:
        workbench.kept.settings.put(values)
    return project_settings(workbench)


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not name:
        raise EditError(
            f"{text!r} is no setting.", hint="Write it as NAME=VALUE; an empty value puts the default back."
        )
    if name not in KNOWN:
        hint = near_names(name, KNOWN) or "Settings of a schema or an entity need --schema or --entity."
        raise EditError(f"A project has no setting {name!r}.", f"It has {', '.join(KNOWN)}.", hint)
    if name == KEPT_RUNS and value:
        return name, _kept_runs(value)
    if value and value not in KNOWN[name]:
        *others, last = KNOWN[name]
        raise EditError(f"{name} cannot be {value!r}.", hint=f"Values are {', '.join(others)} and {last}.")
    return name, "" if value == KNOWN[name][0] else value


def _kept_runs(value: str) -> str:
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= MOST_KEPT_RUNS):
        raise EditError(f"{KEPT_RUNS} cannot be {value!r}.", hint=f"Give a number from 1 to {MOST_KEPT_RUNS:,}.")
    return "" if int(value) == DEFAULT_KEPT_RUNS else str(int(value))
