"""What all trials have in common: steps one after another, the first that fails being the last."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from metl_gui.errors import RunCancelled, UserError
from metl_gui.workbench.profile_check import CheckStep, ProfileCheck
from metl_gui.workbench.profiles import Profile
from metl_gui.workbench.progress import Watch


class Trial(ABC):
    """One trial of one profile.

    Args:
        profile: what is tried.
        watch: progress and cancel.
    """

    def __init__(self, profile: Profile, watch: Watch) -> None:
        self.profile = profile
        self.watch = watch
        self.steps: list[CheckStep] = []
        self._title, self._since = "Settings", time.monotonic()

    @abstractmethod
    def attempt(self) -> None:
        """Go through the steps.

        Raises:
            UserError: the step that was begun last will not do.
        """

    def result(self, hint: str) -> ProfileCheck:
        """Put together what came of it."""
        return ProfileCheck(
            self.profile.name, self.profile.target, tuple(self.steps), hint=hint, kind=self.profile.kind
        )

    def done(self) -> ProfileCheck:
        """Do it.

        Raises:
            RunCancelled: somebody stopped it.
        """
        hint = ""
        try:
            self.attempt()
        except UserError as error:
            if self.watch.is_cancelled:
                raise RunCancelled("The test was stopped.") from error
            hint = error.hint
            text = f"{error.title} {error.text}".strip()
            self.steps.append(CheckStep(self._title, text, False, self._taken))
        return self.result(hint)

    def begin(self, title: str) -> None:
        """Begin a step."""
        self._title, self._since = title, time.monotonic()
        self.watch.step(f"Testing @{self.profile.name}: {title.lower()}", len(self.steps))

    def end(self, text: str) -> None:
        """End the step that was begun: it will do."""
        self.steps.append(CheckStep(self._title, text, True, self._taken))

    @property
    def _taken(self) -> float:
        return round(time.monotonic() - self._since, 2)
