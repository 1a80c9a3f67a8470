"""Where a run writes when its workers are elsewhere, and how what they wrote comes home."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import msgspec
import pytest

from metl_gui.core.runs.events import WorkerFacts
from metl_gui.core.runs.report import Tally
from metl_gui.core.runs.run_spec import NOOP, RunSpec
from metl_gui.core.runs.target import Target, parse_target
from metl_gui.engine.execution.work_folders import WorkPlaces, work_places
from metl_gui.engine.runs.progress import ProgressNotes, ProgressSum
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sessions.runtime import Runtime
from metl_gui.engine.sources.files import SourceFile
from metl_gui.engine.spark.worker_check import WorkerCheck
from metl_gui.errors import RunError
from metl_gui.formats.compression import Codec
from tests.helpers.run_specs import run_spec

from .test_worker_check import facts


class Elsewhere:
    """A session whose workers see some folders of this computer only."""

    def __init__(self, target: str, *shared: Path) -> None:
        self.target: Target = parse_target(target)
        self.shared = shared
        self.looks: list[WorkerCheck] = []

    def check_workers(self, check: WorkerCheck) -> Sequence[WorkerFacts]:
        """Tell what is not below a shared folder."""
        self.looks.append(check)
        unseen = [path for path in check.folders if not any(Path(path).is_relative_to(place) for place in self.shared)]
        files = tuple(f"{p}: No such file" for p, _ in check.files if not Path(p).is_relative_to(self.shared[0]))
        return [facts(), facts(host="node-2", folders=dict.fromkeys(unseen, "it is not there"), files=files)]


Prepared = Callable[[Path | str], tuple[RunSpec, Staging]]


@pytest.fixture
def prepared(tmp_path: Path) -> Iterator[Prepared]:
    """Prepare the outputs of runs, and leave nothing of them."""
    made: list[Staging] = []

    def prepare(sink: Path | str) -> tuple[RunSpec, Staging]:
        spec = run_spec(run_id="r1", plan=b"", source="in", sink=str(sink), folder=str(tmp_path / "home" / "run"))
        made.append(Staging(spec))
        made[0].prepare()
        return spec, made[0]

    yield prepare
    for staging in made:
        staging.discard()


def placed(session: Elsewhere, spec: RunSpec, staging: Staging, files: Sequence[SourceFile] = ()) -> WorkPlaces:
    return work_places(cast(Runtime, session), spec, staging, files, Path("progress"))


def test_on_this_computer_nobody_is_asked_and_nothing_is_elsewhere(tmp_path: Path, prepared: Prepared) -> None:
    spec, staging = prepared(tmp_path / "out")
    session = Elsewhere("local[2]", tmp_path)
    places = placed(session, spec, staging)
    assert session.looks == []
    assert (places.messages, places.errors, places.samples) == (
        staging.messages_partial,
        staging.errors_partial,
        staging.samples_partial,
    )
    assert places.progress == Path("progress")


def test_what_workers_do_not_see_is_written_beside_the_messages_and_brought_home(
    tmp_path: Path, prepared: Prepared
) -> None:
    spec, staging = prepared(tmp_path / "shared" / "out")
    places = placed(Elsewhere("spark://h:1", tmp_path / "shared"), spec, staging)
    assert places.messages == staging.messages_partial
    for place in (places.errors, places.samples, places.progress):
        assert place.is_relative_to(tmp_path / "shared")
    assert places.messages is not None
    written = [places.messages / "order" / "p", places.errors / "reason=malformed" / "p", places.samples / "p"]
    for path in written:
        path.parent.mkdir(exist_ok=True)
        path.write_text(path.parent.name)
    staging.commit(places.bring_home(map(str, written)))
    assert (tmp_path / "shared" / "out" / "order" / "p").read_text() == "order"
    assert (spec.errors_folder / "reason=malformed" / "p").read_text() == "reason=malformed"
    assert (spec.samples_folder / "p").exists()
    assert [path.name for path in (tmp_path / "shared" / "out").rglob("*")] == ["order", "p"]
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["out"]


@pytest.mark.parametrize(("sink", "what"), [("", "output folder"), (NOOP, "error store")])
def test_a_folder_that_nobody_else_sees_is_refused_by_worker_and_path(
    tmp_path: Path, prepared: Prepared, sink: str, what: str
) -> None:
    spec, staging = prepared(sink or tmp_path / "out")
    with pytest.raises(RunError, match=f"cannot write to the {what}") as caught:
        placed(Elsewhere("spark://h:1", tmp_path / "nothing"), spec, staging)
    assert "node-2" in caught.value.text
    assert str(spec.errors_folder if sink else tmp_path / "out") in caught.value.text


def test_a_source_that_a_worker_does_not_see_is_refused_and_a_long_one_is_looked_at_in_part(
    tmp_path: Path, prepared: Prepared
) -> None:
    spec, staging = prepared(tmp_path / "out")
    files = [SourceFile(f"{n}", f"/only/here/{n}.jsonl", n, Codec.PLAIN) for n in range(1000)]
    session = Elsewhere("sc://h:1", tmp_path)
    with pytest.raises(RunError, match="does not see the source"):
        placed(session, spec, staging, files)
    asked = session.looks[0].files
    assert (asked[0], asked[-1]) == (("/only/here/0.jsonl", 0), ("/only/here/999.jsonl", 999))
    assert 10 < len(asked) < 100
    assert session.looks[0].mark == "r1"
    assert msgspec.json.decode(msgspec.json.encode(session.looks[0]), type=WorkerCheck) == session.looks[0]


def test_notes_of_computers_that_write_over_each_other_are_left_out_and_the_others_count(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    total = ProgressSum(path, [100, 100])
    for task, read in ((0, 3), (1, 4)):
        ProgressNotes(str(path), task, 0).note(Tally(read=read, bytes_in=50), is_done=True)
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first[:20] + second + b"{}\n" + second)
    assert total.read()[0].read == 4
    path.unlink()
    ProgressNotes(str(path), 0, 0).note(Tally(read=9), is_done=True)
    assert total.read() == (total.read()[0], 100)
    assert not path.exists()
