"""Every error class of the program.

    MetlError
    ├── UserError            the user's world is at fault: a title, a text and a hint
    │   ├── EditError        an edit that the rules of the matrix refuse
    │   │   └── ReadOnlyStateError       an earlier state is shown, in which nothing can be changed
    │   ├── SchemaError      a schema, sample or mapping source that cannot be read
    │   │   └── ServiceUnavailableError  a registry or database that does not answer now, and may later
    │   ├── ProjectError     a project file that cannot be opened or written
    │   │   ├── ProjectLockedError       somebody else edits it
    │   │   └── ProjectChangedError      it moved on since it was read
    │   ├── RunError         a mapping run that cannot start or go on
    │   │   └── RunKilledError           its Spark was gone in the middle of it
    │   ├── LinkError        a link into a project that leads nowhere
    │   └── SetupError       something missing on this computer (Java, Spark, a library)
    ├── RecordError          one record of a run that is set aside, with its reason
    ├── RunCancelled         an outcome, not a fault: somebody stopped the run
    └── BugError             ours

Errors that are met in more than one place are built by class methods from facts and end in a hint.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def in_sentences(*parts: str) -> str:
    """Write parts of a message one behind the other, each of them ended before the next one."""
    said = [part for part in parts if part]
    ended = [part if part.endswith((".", "!", "?", ":", ";", "…")) else f"{part}." for part in said[:-1]]
    return " ".join([*ended, *said[-1:]])


class MetlError(Exception):
    """Base of every error this program raises on purpose."""


class UserError(MetlError):
    """Something in the user's world is at fault.

    Args:
        title: what happened, in one short sentence.
        text: to what, with the facts; may be empty.
        hint: what to do about it; may be empty.
    """

    def __init__(self, title: str, text: str = "", hint: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.text = text
        self.hint = hint

    def __str__(self) -> str:
        return in_sentences(self.title, self.text, self.hint)


class EditError(UserError):
    """An edit that the rules of the matrix refuse; nothing was changed."""


class ReadOnlyStateError(EditError):
    """An edit while an earlier state is shown; going back to the newest one mends that."""


class SchemaError(UserError):
    """A schema, sample or mapping source that cannot be read; nothing of it was imported."""


class ServiceUnavailableError(SchemaError):
    """A registry or a database that does not answer now; trying again later may mend that.

    Args:
        title: what happened.
        text: the facts.
        hint: what to do.
        wait_seconds: after so long it may be asked again; ``None`` where that is of no use at once.
    """

    def __init__(self, title: str, text: str = "", hint: str = "", wait_seconds: float | None = None) -> None:
        super().__init__(title, text, hint)
        self.wait_seconds = wait_seconds


class ProjectError(UserError):
    """A project file that cannot be opened, read or written."""


class ProjectLockedError(ProjectError):
    """Somebody else holds the editing lease of a project file."""


class ProjectChangedError(ProjectError):
    """A project file moved on since the document was read from it; reading it again mends that."""


class RunError(UserError):
    """A mapping run that cannot start or cannot go on."""


class RunKilledError(RunError):
    """A mapping run whose Spark was gone in the middle of it: killed, or ended by something else."""


class LinkError(UserError):
    """A link into a project that leads nowhere: not well formed, of another project, or to what is not there."""


class SetupError(UserError):
    """Something that this computer lacks."""


class RecordError(MetlError):
    """One record that cannot be mapped; the run sets it aside and goes on.

    Args:
        reason: one of the reason codes of a run (``malformed``, ``unknown_version`` ...).
        detail: what is wrong with it, in words.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class RunCancelled(MetlError):
    """A run was stopped by a person; not a fault."""


class BugError(MetlError):
    """A state that the program's own rules exclude."""


def near_names(name: str, known: Iterable[str]) -> str:
    """Describe which known names are close to one that was not found.

    Returns:
        A sentence such as ``Did you mean a or b?``, or an empty text when nothing is close.
    """
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(close)}?" if close else ""


def in_utf8(text: str) -> str:
    """Write the bytes of a text that are no UTF-8 as escapes: Linux allows any in the names that errors speak of."""
    return text.encode("utf-8", "backslashreplace").decode()
