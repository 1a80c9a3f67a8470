"""Tests of a profile: each kind is gone through step by step, and what was met on the way is told in words.

``ConnectionTest`` is what all tests have in common: steps one after another, the first that fails being the last.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from msgspec.structs import asdict

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.errors import RunCancelled, UserError
from metl_gui.values import Value
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import Profile, find_profile

_VERDICTS = {ProfileKind.SPARK: ("takes runs.", "takes no runs as it is.")}


class CheckStep(Value):
    """One thing that was tried.

    Args:
        title: what.
        text: what came of it.
        is_ok: whether it will do.
        seconds: how long it took.
    """

    title: str
    text: str
    is_ok: bool = True
    seconds: float = 0.0


class ConnectionTestResult(Value):
    """What came of trying a profile.

    Args:
        profile: its name.
        target: where it leads.
        steps: what was tried, in order; after one that failed nothing more was.
        hint: what to do about the step that failed; empty when all will do.
        spark_version: of the cluster; empty when it was not reached.
        workers: how many computers do its tasks.
        kind: what the profile leads to.
    """

    profile: str
    target: str
    steps: tuple[CheckStep, ...]
    hint: str = ""
    spark_version: str = ""
    workers: int = 0
    kind: ProfileKind = ProfileKind.SPARK

    @property
    def is_ok(self) -> bool:
        """Whether it can be used."""
        return all(step.is_ok for step in self.steps)

    @property
    def verdict(self) -> str:
        """What came of it, in a sentence."""
        good, bad = _VERDICTS.get(self.kind, ("can be used.", "cannot be used as it is."))
        return f"@{self.profile} {good if self.is_ok else bad}"

    def as_json(self) -> dict[str, object]:
        """Return the document of ``metl profile test``."""
        steps = [
            {"title": step.title, "ok": step.is_ok, "text": step.text, "seconds": step.seconds} for step in self.steps
        ]
        return {"ok": self.is_ok, **asdict(self), "steps": steps}


def test_profile(name: str, watch: Watch = UNWATCHED) -> ConnectionTestResult:  # noqa: PT028 - not a test of pytest's
    """Go the whole way to where a profile leads: what is there is looked at, nothing of the trial stays.

    Raises:
        RunError: there is no such profile.
        RunCancelled: somebody stopped it.
    """
    return _trial_of(find_profile(name), watch)


test_profile.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test by its name


def _trial_of(profile: Profile, watch: Watch) -> ConnectionTestResult:
    # Loaded here, as each kind needs a client of its own.
    match profile.kind:
        case ProfileKind.SPARK:
            from metl_gui.workbench.profiles.spark_test import SparkConnectionTest

            return SparkConnectionTest(profile, watch).done()
        case ProfileKind.KAFKA:
            from metl_gui.workbench.profiles.server_tests import KafkaConnectionTest

            return KafkaConnectionTest(profile, watch).done()
        case ProfileKind.REGISTRY:
            from metl_gui.workbench.profiles.server_tests import RegistryConnectionTest

            return RegistryConnectionTest(profile, watch).done()
        case ProfileKind.POSTGRESQL:
            from metl_gui.workbench.profiles.server_tests import DatabaseConnectionTest

            return DatabaseConnectionTest(profile, watch).done()


class ConnectionTest(ABC):
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
        """Run through the steps.

        Raises:
            UserError: the step that was begun last will not do.
        """

    def result(self, hint: str) -> ConnectionTestResult:
        """Put together what came of it."""
        return ConnectionTestResult(
            self.profile.name, self.profile.target, tuple(self.steps), hint=hint, kind=self.profile.kind
        )

    def done(self) -> ConnectionTestResult:
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
