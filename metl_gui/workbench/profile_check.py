"""Try a profile: each kind is gone through step by step, and what was met on the way is told in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from metl_gui.workbench.profile_kinds import Kind
from metl_gui.workbench.profiles import Profile, find_profile
from metl_gui.workbench.progress import UNWATCHED, Watch

_VERDICTS = {Kind.SPARK: ("takes runs.", "takes no runs as it is.")}


@dataclass(frozen=True, slots=True)
class CheckStep:
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


@dataclass(frozen=True, slots=True)
class ProfileCheck:
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
    kind: Kind = Kind.SPARK

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


def test_profile(name: str, watch: Watch = UNWATCHED) -> ProfileCheck:  # noqa: PT028 - not a test of pytest's
    """Go the whole way to where a profile leads: what is there is looked at, nothing of the trial stays.

    Raises:
        RunError: there is no such profile.
        RunCancelled: somebody stopped it.
    """
    return _trial_of(find_profile(name), watch)


test_profile.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test by its name


def _trial_of(profile: Profile, watch: Watch) -> ProfileCheck:
    # Loaded here, as each kind needs a client of its own.
    match profile.kind:
        case Kind.SPARK:
            from metl_gui.workbench.trials.spark import SparkTrial

            return SparkTrial(profile, watch).done()
        case Kind.KAFKA:
            from metl_gui.workbench.trials.kafka import KafkaTrial

            return KafkaTrial(profile, watch).done()
        case Kind.REGISTRY:
            from metl_gui.workbench.trials.registry import RegistryTrial

            return RegistryTrial(profile, watch).done()
        case Kind.POSTGRESQL:
            from metl_gui.workbench.trials.database import DatabaseTrial

            return DatabaseTrial(profile, watch).done()
