"""Messages in Parquet as a source: which files, and the row groups of each task."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.sources.files import (
    FileListing,
    FileRange,
    SourceFile,
    listed_file,
    matching_files,
    names_left_out,
    range_bytes,
)
from metl_gui.engine.sources.source import FileSource
from metl_gui.engine.sources.typed_addresses import SUFFIX
from metl_gui.engine.staging.typed_files import TypedBatch, TypedFile, typed_batches, typed_file
from metl_gui.errors import RunError


class TypedFileSource(FileSource):
    """Files of messages in Parquet.

    Args:
        listing: the files.
        plan: every entity version.

    Raises:
        RunError: a file is none of messages that this program stages.
    """

    is_typed = True

    def __init__(self, listing: FileListing, plan: Plan) -> None:
        super().__init__(listing)
        self.plan = plan
        self._inspected = [typed_file(one.path, one.name, plan) for one in listing.files]

    @classmethod
    def of(cls, spec: RunSpec) -> TypedFileSource:
        """Return the source of a run that reads messages in Parquet."""
        return cls(list_typed(spec.source.address), plans.decode(spec.mapping.plan))

    def cut(self, limit: int | None, cores: int) -> tuple[list[SourceFile], list[list[FileRange]]]:
        """Cut the files into the ranges of tasks, at the beginnings of row groups; small files go together."""
        files = list(self.listing.files)
        whole = [FileRange(at, 0, file.size_bytes) for at, file in enumerate(files)]
        if limit is not None:
            return files, [whole]
        step = range_bytes(self.listing.bytes_total, cores or os.cpu_count() or 1)
        tasks: list[list[FileRange]] = [[]]
        filled = 0
        for piece in whole:
            starts = [0, *self._inspected[piece.file].starts[1:], piece.stop]
            for start, stop in pairwise(starts):
                if filled >= step:
                    tasks.append([])
                    filled = 0
                tasks[-1].append(FileRange(piece.file, start, stop))
                filled += stop - start
        return files, tasks

    def problems(self, files: list[SourceFile]) -> tuple[str, ...]:
        """Describe which files were left out.

        Raises:
            RunError: a file is another one now; it may have been read in parts of both.
        """
        for file, before in zip(files, self._inspected, strict=True):
            if typed_file(file.path, file.name, self.plan) != before:
                raise RunError(
                    "A source file changed during the run.",
                    f"{file.path} is not what it was when it was listed.",
                    "Nothing was loaded. Load again when no other program writes it.",
                )
        return tuple(f"{name} was left out: it is no Parquet file." for name in self.listing.left_out)


def list_typed(address: str) -> FileListing:
    """List the files of a source that are Parquet.

    Raises:
        RunError: there are none, or one cannot be read.
    """
    root, paths = matching_files(address)
    kept = [path for path in paths if path == root or path.suffix.lower() == SUFFIX]
    left_out = names_left_out(root, set(paths).difference(kept))
    return FileListing(tuple(listed_file(path, root) for path in sorted(kept)), left_out)


def read_typed(
    files: Sequence[SourceFile], ranges: Iterable[FileRange], plan: Plan, limit: int | None = None
) -> Iterator[TypedBatch]:
    """Yield the rows of some ranges, up to a limit.

    Args:
        files: the listing.
        ranges: of its files.
        plan: every entity version.
        limit: how many rows at most.

    Raises:
        RunError: a file cannot be read to its end.
    """
    left = limit
    inspected: dict[int, TypedFile] = {}
    for piece in ranges:
        if piece.file not in inspected:
            inspected[piece.file] = typed_file(files[piece.file].path, files[piece.file].name, plan)
        for batch in typed_batches(inspected[piece.file], piece.start, piece.stop):
            if left is None:
                yield batch
                continue
            if not left:
                return
            rows = batch.rows.slice(0, left)
            yield batch._replace(rows=rows)
            left -= rows.num_rows
