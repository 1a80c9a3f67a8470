"""Whether a source is one of messages in Parquet: told by names and first bytes, without what reads Parquet."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.sources.files import matching_files
from metl_gui.errors import RunError

SUFFIX = ".parquet"
_MAGIC = b"PAR1"
_LINES = frozenset({".jsonl", ".json", ".gz", ".zst"})


def reads_typed(source: SourceSpec) -> bool:
    """Return whether a run reads messages in Parquet."""
    return source.holds == "messages" and source.replay is None and holds_typed(source.address)


def holds_typed(address: str) -> bool:
    """Return whether a source is Parquet: a file, or a folder or a pattern that finds some and no lines of JSON."""
    if is_kafka(address):
        return False
    try:
        root, paths = matching_files(address)
        if paths == [root]:
            return root.suffix.lower() == SUFFIX or _begins_so(root)
        kinds = {path.suffix.lower() for path in paths if path.is_file()}
    except (RunError, OSError, RuntimeError):
        return False  # whoever reads it says what is wrong
    return SUFFIX in kinds and not kinds & _LINES


def _begins_so(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
