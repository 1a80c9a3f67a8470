"""Titles of edits in the past tense: the log keeps what was wanted, a history tells what was done."""

from __future__ import annotations

from collections.abc import Iterable

_PAST = {
    "Accept": "Accepted",
    "Add": "Added",
    "Apply": "Applied",
    "Call": "Called",
    "Change": "Changed",
    "Clear": "Cleared",
    "Confirm": "Confirmed",
    "Copy": "Copied",
    "Create": "Created",
    "Decide later on": "Put off",
    "Describe": "Described",
    "Import": "Imported",
    "Keep": "Kept",
    "Leave": "Left",
    "Let": "Let",
    "Map": "Mapped",
    "Mask": "Masked",
    "Merge": "Merged",
    "Never map": "Marked as never to be mapped:",
    "New version": "Made version",
    "Note": "Noted",
    "Redo:": "Redone:",
    "Remove": "Removed",
    "Rename": "Renamed",
    "Replace": "Replaced",
    "Retire": "Retired",
    "Say": "Said",
    "Set": "Set",
    "Show": "Unmasked",
    "Swap": "Swapped",
    "Take": "Took",
    "Undo:": "Undone:",
    "Unmap": "Cleared",
}
_LONGEST = max(len(verb.split()) for verb in _PAST)
_SECOND = {" and map it": " and mapped it", " and map them": " and mapped them"}


def past_tense(title: str) -> str:
    """Say of an edit what it did: ``Mapped 3 attributes`` of ``Map 3 attributes``.

    Args:
        title: as the log has it; one that begins with no known verb stays as it is.
    """
    words = title.split(" ")
    for count in range(_LONGEST, 0, -1):
        verb = " ".join(words[:count])
        if verb in _PAST:
            rest = " ".join(words[count:])
            if verb.endswith(":"):
                inner = past_tense(rest)
                rest = inner if inner == rest else f"{inner[:1].lower()}{inner[1:]}"
            for now, then in _SECOND.items():
                if rest.endswith(now):
                    rest = rest.removesuffix(now) + then
            return f"{_PAST[verb]} {rest}".rstrip()
    return title


def group_title(first: str, titles: Iterable[str]) -> str:
    """Return the title of edits that were made together: several versions that were added are an import.

    Args:
        first: of the first one.
        titles: of all of them.
    """
    every = list(titles)
    added = sum(title.startswith("Add ") and " version " in title for title in every)
    if added > 1:
        return f"Import {added:,} versions"
    return first if len(every) == 1 or added else f"{first} and {len(every) - 1:,} more"
