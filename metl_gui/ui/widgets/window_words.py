"""What an error says to somebody at a window: hints that name a command or an option name the window's own way.

Errors are made where nobody knows who reads them, and their hints end in commands. A clause that names one is replaced
by what does the same here; where the window has nothing of the kind, it is left out.
"""

from __future__ import annotations

import re

_COMMAND = re.compile(r"(?<![\w./-])metl [a-z]|(?<![\w-])--[a-z]")
"""A command or an option; ``shop.metl is a copy`` names a file."""
_CLAUSES = re.compile(r"(?<=[.!?;])\s+")

WAYS: tuple[tuple[str, str], ...] = (
    (r"metl history", "View > History > Show the history lists what was done"),
    (r"metl runs .*--resume", "Choose the run on the Run page, then Go on"),
    (r"metl runs .*--(attach|stop)", "Choose it on the Run page, where it is followed and stopped"),
    (r"metl runs", "The Run page lists what there is"),
    (r"metl profile|--secret", "Run > Connections… keeps addresses with their secrets"),
    (r"metl publish", "Publish it first: Run > Publish this state…"),
    (r"metl review|metl search", "View > Review lists what waits"),
    (r"metl check", "View > To do lists them"),
    (r"metl resume", "Schema > Go on with the interrupted import does that"),
    (r"metl import|--id ", "Schema > Import extraction schemas… brings it"),
    (r"metl entity .*--key", "Schema > New version of an entity… says what the key of a mapped entity is"),
    (r"metl entity show", "The canonical model tree shows what there is"),
    (r"metl lane|--freeze", "Run > How far the lane is shows it"),
    (r"metl load|--from |--slot|--signal|--tables", "Run > Lane > Load existing rows… asks for it"),
    (r"metl warehouse rebuild", "Tools > Warehouse > Rebuild the warehouse does that"),
    (r"metl warehouse check", "Tools > Warehouse > Audit the warehouse finds what is wrong"),
    (r"metl warehouse propose", "Tools > Warehouse > Propose a warehouse model makes one"),
    (r"metl warehouse", "The Warehouse page is where that is changed"),
    (r"metl set|--schema|--entity", "Schema > Settings of the chosen schemas… is where it is set"),
    (r"metl new", "File > New project… makes one"),
    (r"metl map", "Mapping > Import a mapping table… reads one"),
    (r"metl (export|merge)|--format csv|--format json", "File > Export the matrix… writes it anew"),
    (r"metl samples", "View > Samples > Forget samples… removes them"),
    (r"metl doctor", "Whoever set this computer up can have it checked"),
    (r"--unmap", "Schema > Never map… clears what is mapped, too"),
    (r"--create-topics", "Run it again: the window asks before it makes topics"),
    (r"--(errors|sink|checkpoint)", "Choose another place on the Run page"),
    (r"--lane|--follow|--group|--start|--tombstones", "The Run page says how it is read and sent"),
)
"""What a clause names, and the way in the window; the first that fits is taken."""


def in_window(text: str) -> str:
    """Return a text of an error or a problem as the window says it."""
    if not _COMMAND.search(text):
        return text
    return "\n".join(_line(line) for line in text.split("\n")).strip()


def _line(line: str) -> str:
    """Return one line; one without commands stays as it is."""
    if not _COMMAND.search(line):
        return line
    kept: dict[str, None] = {}
    for clause in _CLAUSES.split(line):
        words = clause if not _COMMAND.search(clause) else _way(clause)
        if words:
            kept[words] = None
    told = " ".join(kept).rstrip(";")
    return told if not told or told.endswith((".", "!", "?", ":", "…")) else f"{told}."


def _way(clause: str) -> str:
    """Return the way in the window to what a clause names, empty where there is none."""
    way = next((way for pattern, way in WAYS if re.search(pattern, clause)), "")
    return f"{way}." if way and not way.endswith("…") else way
