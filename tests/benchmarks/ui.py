"""What the matrix costs on a screen: frames of a recorded path at 10^9 and 10^12 cells, first pictures, edits,
openings.

A frame lasts from the input event to the end of painting. The baseline is a plain ``ImageItem`` of pyqtgraph's over
all cells with automatic down-sampling, which gets the same events, where its image can lie in memory at all.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metl_gui.packaged import sample_projects
from metl_gui.workbench.demo.sample import SampleFolder, build_project
from tests.benchmarks import ui_import
from tests.benchmarks.harness import Case, figure, quartiles
from tests.benchmarks.sizes import DESIGN, STRETCH, Size, build
from tests.benchmarks.ui_opening import STARTED
from tests.helpers.display import SERVER, virtual_display

FRAME_MS = 5.0
LARGE_FRAME_MS = 12.0
EDIT_MS = 100.0
SWITCH_MS = 100.0
USABLE_S = 0.8
_QUICK_STEPS = 100
_OPENINGS = 5
_IMPORTS = 3
_STOP_MS = 50.0
_OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One screen.

    Args:
        name: what is printed.
        size: of the project, by its name in ``ui_frames``.
        platform: Qt's: ``offscreen``, or ``xcb`` on a display of Xvfb's.
        view: width and height of the matrix, before the scale.
        scale: device pixels a pixel.
        target_ms: of the 95th percentile of frames.
    """

    name: str
    size: str
    platform: str
    view: tuple[int, int]
    scale: int
    target_ms: float


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure both sizes on all screens; a quick run takes the smaller size without a display, and part of the path."""
    view, large = (1600, 1000), (1920, 1080)
    settings = [Setting("10^9 cells, 1600x1000 offscreen", "design", "offscreen", view, 1, FRAME_MS)]
    if not quick:
        settings += [
            Setting("10^9 cells, 1600x1000 Xvfb", "design", "xcb", view, 1, FRAME_MS),
            Setting("10^9 cells, 3840x2160 at scale 2", "design", "offscreen", large, 2, LARGE_FRAME_MS),
            Setting("10^12 cells, 1600x1000 offscreen", "stretch", "offscreen", view, 1, FRAME_MS),
            Setting("10^12 cells, 1600x1000 Xvfb", "stretch", "xcb", view, 1, FRAME_MS),
            Setting("10^12 cells, 3840x2160 at scale 2", "stretch", "offscreen", large, 2, LARGE_FRAME_MS),
        ]
    for setting in settings:
        if setting.platform == "xcb" and shutil.which(SERVER) is None:
            yield figure(
                setting.name, 0.0, unit="ms", note="not measured: Xvfb is not installed (apt-get install xvfb)"
            )
            continue
        yield from _frames(setting, rounds, _QUICK_STEPS if quick else 0)
    yield from _edits(rounds)
    yield from _switches(rounds)
    yield from _start()
    yield from _openings(quick)
    yield from _import()


def _frames(setting: Setting, rounds: int, steps: int) -> Iterator[Case]:
    found = _measured(setting, rounds, steps)
    wanted = [side * setting.scale for side in setting.view]
    if found["platform"] != setting.platform or found["pixels"] != wanted:
        raise AssertionError(f"{setting.name} was painted on {found['platform']} with {found['pixels']} pixels")
    ours = [_joined(each["ours"]) for each in found["rounds"]]
    p95 = [_percentile(frames, 95) for frames in ours]
    everything = [frame for frames in ours for frame in frames]
    note = (
        f"p50 {statistics.median(everything):.1f}, max {max(everything):.1f} of {len(ours[0])} frames; "
        f"processor time p95 {_percentile(found['processor'], 95):.1f}; p95 by kind: "
        + ", ".join(f"{kind} {_percentile(frames, 95):.1f}" for kind, frames in _by_kind(found["rounds"]).items())
    )
    low, high = quartiles(p95)
    yield Case(
        f"frame p95, {setting.name}", statistics.median(p95), None, "ms", setting.target_ms, None, low, high, note
    )
    yield _against(setting, found, p95)
    hovers = [frame for each in found["rounds"] for kind in ("hover", "header") for frame in each["ours"][kind]]
    yield _response(f"hover p95, {setting.name}", hovers, setting)
    yield _response(f"selection p95, {setting.name}", found["selection"], setting)
    yield figure(
        f"first picture, {setting.name}", found["first_s"], unit="s", target=0.5, note="of a document in memory"
    )
    if setting.platform == "offscreen" and setting.scale == 1:
        yield from _memory(setting, found["memory"])


def _against(setting: Setting, found: dict[str, Any], p95: list[float]) -> Case:
    name = f"frame p95 against ImageItem, {setting.name}"
    if found["baseline"] != "ran":
        return figure(name, statistics.median(p95), unit="ms", note=f"no baseline: {found['baseline']}")
    theirs = [_percentile(_joined(each["baseline"]), 95) for each in found["rounds"]]
    ratios = [b / o for o, b in zip(p95, theirs, strict=True)]
    worst = max(frame for each in found["rounds"] for frame in _joined(each["baseline"]))
    return Case(
        name,
        statistics.median(p95),
        statistics.median(theirs),
        "ms",
        None,
        statistics.median(ratios),
        *quartiles(ratios),
        note=f"its longest frame took {worst:,.0f} ms; it has neither names nor counts nor marks",
    )


def _response(name: str, frames: list[float], setting: Setting) -> Case:
    p95 = _percentile(frames, 95)
    note = f"p50 {statistics.median(frames):.1f}, max {max(frames):.1f} of {len(frames)}"
    return figure(name, p95, unit="ms", target=setting.target_ms, note=note)


def _memory(setting: Setting, parts: dict[str, float]) -> Iterator[Case]:
    targets = {
        "matrix with indexes": ("bytes a one", 24.0),
        "trees": ("bytes an attribute", 100.0),
        "pyramid": ("bytes a one", 1.0),
    }
    for part, size in parts.items():
        unit, target = targets.get(part, ("bytes a one", None))
        yield figure(f"memory of {part}, {setting.name}", size, unit=unit, target=target)


def _edits(rounds: int) -> Iterator[Case]:
    """Time edits of 10^4 elements in a window; ``ui_edits`` says what lies between key and paint."""
    with tempfile.TemporaryDirectory() as folder:
        times = _child(["tests.benchmarks.ui_edits", str(rounds)], _apart(Path(folder)))
    for name, both in times.items():
        clock, processor = ([each[part] for each in both] for part in (0, 1))
        note = (
            "from key to paint: working out, commit to the file, trees, matrix, block panel; "
            f"processor time {statistics.median(processor):.0f}, the first one {clock[0]:.0f}"
        )
        low, high = quartiles(clock)
        yield Case(name, statistics.median(clock), None, "ms", EDIT_MS, None, low, high, note)


def _switches(rounds: int) -> Iterator[Case]:
    """Switch theme and size of a window on the sample with all panels of all pages open."""
    with tempfile.TemporaryDirectory() as folder:
        found = _child(["tests.benchmarks.ui_switches", str(rounds)], _apart(Path(folder)))
    for name, both in found["times"].items():
        clock, processor, later = ([each[part] for each in both] for part in (0, 1, 2))
        note = (
            f"{found['panels']} panels, {found['widgets']:,} widgets, until all that is seen is painted; "
            f"processor time {statistics.median(processor):.0f}, and {statistics.median(later):.0f} for what is hidden"
        )
        low, high = quartiles(clock)
        yield Case(name, statistics.median(clock), None, "ms", SWITCH_MS, None, low, high, note)


def _start() -> Iterator[Case]:
    """Time the real program from the start of its process on the sample, as on the first day."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "fx"
        shutil.copytree(sample_projects() / "fx", copy, ignore=shutil.ignore_patterns("making", "__pycache__"))
        build_project(SampleFolder(copy)).close()
        path = SampleFolder(copy).project
        _opened(path, Path(folder))
        times = [_opened(path, Path(folder)) for _ in range(_OPENINGS)]
    processor = statistics.median(each["usable, processor"] for each in times)
    note = f"median of {_OPENINGS}, from the start of the process; processor time {processor:.2f}"
    yield _timed("window usable, the sample", [each["usable"] for each in times], USABLE_S, note)


def _openings(quick: bool) -> Iterator[Case]:
    """Time the real program from the start of its process, on project files that are in the cache of the disk."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = (DESIGN,) if quick else (DESIGN, STRETCH)
        for size in sizes:
            yield from _opening(size, Path(folder))


def _opening(size: Size, folder: Path) -> Iterator[Case]:
    from tests.benchmarks.project_files import write_project

    path = folder / f"{size.ones}.metl"
    write_project(path, build(size))
    _opened(path, folder)  # reads the file into the cache, and compiles the modules as an installation does
    times = [_opened(path, folder) for _ in range(_OPENINGS)]
    usable = [each["usable"] for each in times]
    drawn = [each["drawn"] - each["usable"] for each in times]
    whole = [each["drawn"] for each in times]
    note = f"median of {_OPENINGS}, from the start of the process"
    yield _timed(f"window usable, {size.name}", usable, 1.0, note)
    if size is DESIGN:
        yield _timed(f"matrix drawn after that, {size.name}", drawn, 0.5, note)
    else:
        yield _timed(f"matrix drawn, {size.name}", whole, 8.0, note)


def _import() -> Iterator[Case]:
    """Import real schemas in the window and tell how long it stood still at a stretch."""
    name = "longest stop of the window while it imports real schemas"
    if not ui_import.FOLDER.exists():
        yield figure(name, 0.0, unit="ms", note="not measured: the shared data does not lie beside the project")
        return
    times = [_child(["tests.benchmarks.ui_import"], os.environ | _OFFSCREEN) for _ in range(_IMPORTS)]
    longest = [each["longest_ms"] for each in times]
    low, high = quartiles(longest)
    note = f"{times[0]['versions']} versions; of 100 ticks 99 came within {times[0]['p99_ms']:.0f} ms"
    yield Case(name, statistics.median(longest), None, "ms", _STOP_MS, None, low, high, note)


def _timed(name: str, times: list[float], target: float, note: str) -> Case:
    low, high = quartiles(times)
    return Case(name, statistics.median(times), None, "s", target, None, low, high, note)


def _opened(project: Path, folder: Path) -> dict[str, float]:
    """Open a project in the real program, with folders of its own."""
    compiled = {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    environment = _apart(folder) | compiled | {STARTED: str(time.monotonic())}
    found: dict[str, float] = _child(["tests.benchmarks.ui_opening", str(project)], environment)
    return found


def _apart(folder: Path) -> dict[str, str]:
    """Return the environment of a window without a screen that keeps its settings in a folder."""
    own = {name: str(folder / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    return os.environ | own | {"QT_QPA_PLATFORM": "offscreen"}


def _measured(setting: Setting, rounds: int, steps: int) -> dict[str, Any]:
    """Run the child that replays the path."""
    arguments = ["tests.benchmarks.ui_frames", setting.size, *map(str, setting.view), str(rounds), str(steps)]
    environment = os.environ | {"QT_QPA_PLATFORM": setting.platform, "QT_SCALE_FACTOR": str(setting.scale)}
    found: dict[str, Any]
    if setting.platform != "xcb":
        found = _child(arguments, environment)
        return found
    with virtual_display() as display:
        found = _child(arguments, environment | {"DISPLAY": display})
    return found


def _child(arguments: list[str], environment: dict[str, str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], env=environment, stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def _joined(frames: dict[str, list[float]]) -> list[float]:
    return [frame for each in frames.values() for frame in each]


def _by_kind(rounds: list[dict[str, dict[str, list[float]]]]) -> dict[str, list[float]]:
    kinds = rounds[0]["ours"]
    return {kind: [frame for each in rounds for frame in each["ours"][kind]] for kind in kinds if kinds[kind]}


def _percentile(values: list[float], share: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]
