from __future__ import annotations

from pathlib import Path

import pytest

from tests.coverage_per_room.__main__ import main as measure
from tests.helpers.own_package import OwnPackage
from tests.helpers.toy_project import WITHOUT_PLUGINS, write_toy
from tests.mutants.__main__ import main
from tests.mutants.covering import Covering
from tests.mutants.mutations import Mutation, mutations_of
from tests.mutants.trials import Rate, Trial, Trials, draw, rate_of

MODULE = Path("core/one.py")


def changed(source: str, jitted: tuple[range, ...] = ()) -> list[str]:
    text = source.encode()
    return [mutation.applied(text).decode() for mutation in mutations_of(MODULE, text, jitted)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a == b", ["a != b"]),
        ("(a) <= (  # <\n b)", ["(a) < (  # <\n b)"]),
        ("a is not b", ["a is b"]),
        ("a not in b", ["a in b"]),
        ("a < b < c", ["a <= b < c", "a < b <= c"]),
        ("a and b and c", ["a or b and c", "a and b or c"]),
        ("not (a)", ["(a)"]),
        ("a ** b", ["a * b"]),
        ("7", ["8", "6"]),
        ("True", ["False"]),
        ("'é' + b", ["'é' - b", '"" + b']),
        ("b'x'", ['b""']),
        ("''", []),
        ("f'{1}x'", []),
        ("a if b else c", ["a if (not (b)) else c"]),
        ("f(\n 'x',\n)", ['f(\n "",\n)']),
        ("[x for x in y if x > z]", ["[x for x in y if x >= z]"]),
    ],
)
def test_an_expression_is_changed_in_one_place_at_a_time(before: str, after: list[str]) -> None:
    assert sorted(changed(f"v = {before}\n")) == sorted(f"v = {each}\n" for each in after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", ["pass"]),
        ("raise x", ["pass"]),
        ("raise f(\n  x\n )", ["pass\n\n"]),
        ("return x", ["return None"]),
        ("return None", []),
        ("n += x", ["n -= x"]),
        ("if x:\n  y\n else:\n  z", ["if (not (x)):\n  y\n else:\n  z"]),
        ('"""Say what it is."""', []),
    ],
)
def test_a_statement_is_changed_and_its_lines_stay_where_they_are(before: str, after: list[str]) -> None:
    assert changed(f"def g():\n {before}\n w\n") == [f"def g():\n {each}\n w\n" for each in after]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x: 'int' = a) -> 'str':\n    x: Literal['a']\n",
        "A: TypeAlias = int | None\n",
        "A = int | None\nB = Literal['b']\nT = TypeVar('T')\n",
        "if TYPE_CHECKING:\n    f(1)\n",
        "@overload\ndef f(x=1): ...\n",
    ],
)
def test_what_has_no_effect_at_run_time_is_left_alone(source: str) -> None:
    assert changed(source) == []


def test_what_numba_compiles_is_left_alone() -> None:
    source = "@njit\ndef f(x):\n    return x + y\n\ndef g(x):\n    return x\n"
    assert len(changed(source)) == 3
    assert changed(source, (range(1, 4),)) == [source.replace("return x\n", "return None\n")]


def test_half_of_ten_is_a_rate_between_a_quarter_and_three_quarters() -> None:
    low, high = Rate(5, 10).interval
    assert (round(low, 4), round(high, 4)) == (0.2366, 0.7634)
    assert Rate(0, 0).interval == (0.0, 1.0)
    assert Rate(10, 10).interval == pytest.approx((0.7225, 1.0), abs=1e-4)


_FILES = {
    "toy/core/one.py": """\
LIMIT = 3


def is_large(number):
    return number > LIMIT


def count():
    number = 0
    while number < 5:
        number += 1
    return number


def unchecked(number):
    return number * 2


def broken():
    return 1


def never():
    return 2
""",
    "toy/core/two.py": """\
def half(number):
    return number / 2
""",
    "tests/conftest.py": "import toy.core.two\n",
    "tests/test_toy.py": """\
import os
import sys

from toy.core import one, two


def test_large():
    assert one.is_large(4)
    assert not one.is_large(2)


def test_count():
    assert one.count() == 5


def test_unchecked():
    one.unchecked(2)


def test_half():
    assert two.half(4) == 2


def test_only_where_it_was_recorded():
    assert one.broken() == 1
    assert os.environ.get("TOY_PLACE") is None
""",
}


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WITHOUT_PLUGINS, "1")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> tuple[OwnPackage, Path]:
    """A project, and what its tests ran of it."""
    folder = tmp_path_factory.mktemp("mutants")
    package = write_toy(folder / "project", _FILES)
    contexts = folder / "contexts"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(WITHOUT_PLUGINS, "1")
        assert measure(["--root", str(folder / "project"), "--contexts", str(contexts), "-q"]) == 0
    return package, contexts


def outcomes(toy: tuple[OwnPackage, Path], titles: set[str], seconds: float = 60.0, jobs: int = 1) -> dict[str, Trial]:
    package, contexts = toy
    covering = Covering(package, contexts)
    drawn = [one for one in draw(package, covering, ["core"], 1000, 1) if one.title in titles]
    assert {mutation.title for mutation in drawn} == titles
    heard: list[Trial] = []
    found = Trials(package, covering, jobs, 1, seconds).run(drawn, heard.append)
    assert len(heard) == len(found)
    return {trial.mutation.title: trial for trial in found}


def test_a_fault_that_a_test_checks_is_killed_by_it_and_one_that_none_checks_survives(
    toy: tuple[OwnPackage, Path],
) -> None:
    large, double = "returned value: number > LIMIT -> None", "arithmetic: * -> +"
    border = "comparison: > -> >="
    found = outcomes(toy, {large, double, border}, jobs=2)
    assert (found[large].outcome, found[large].killer) == ("killed", "tests/test_toy.py::test_large")
    assert (found[double].outcome, found[double].tests) == ("survived", ("tests/test_toy.py::test_unchecked",))
    assert (found[border].outcome, found[border].tests) == ("survived", ("tests/test_toy.py::test_large",))
    assert rate_of(list(found.values())) == Rate(1, 3)
    assert (toy[0].folder / "core" / "one.py").read_text(encoding="utf-8") == _FILES["toy/core/one.py"]


def test_a_fault_in_what_is_loaded_before_the_tests_is_noticed_too(toy: tuple[OwnPackage, Path]) -> None:
    half = "arithmetic: / -> *"
    trial = outcomes(toy, {half})[half]
    assert (trial.outcome, trial.killer) == ("killed", "tests/test_toy.py::test_half")


def test_a_fault_that_makes_tests_endless_is_told_from_one_that_fails_them(toy: tuple[OwnPackage, Path]) -> None:
    endless = "arithmetic: += -> -="
    trial = outcomes(toy, {endless}, seconds=6.0)[endless]
    assert trial.outcome == "timed out"
    assert rate_of([trial]) == Rate(1, 1)


def test_a_test_that_fails_without_the_fault_too_tells_nothing(
    toy: tuple[OwnPackage, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_PLACE", "another")
    title = "returned value: 1 -> None"
    assert outcomes(toy, {title})[title].outcome == "unknown"


def test_a_constant_of_the_module_is_tried_on_all_tests_of_the_module(toy: tuple[OwnPackage, Path]) -> None:
    package, contexts = toy
    covering = Covering(package, contexts)
    constant = next(one for one in draw(package, covering, ["core"], 1000, 1) if one.title == "number: 3 -> 4")
    assert set(covering.tests_of(constant)) >= {"tests/test_toy.py::test_large", "tests/test_toy.py::test_count"}


def test_a_seed_draws_the_same_mutants_again_and_never_of_what_did_not_run(toy: tuple[OwnPackage, Path]) -> None:
    package, contexts = toy
    covering = Covering(package, contexts)

    def drawn(seed: int, count: int = 5) -> list[Mutation]:
        return draw(package, covering, ["core"], count, seed)

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert "returned value: 2 -> None" not in {one.title for one in drawn(1, 1000)}


def test_the_report_names_place_and_change_of_each_survivor(
    toy: tuple[OwnPackage, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    package, contexts = toy
    assert (
        main(["--root", str(package.folder.parent), "--data", str(contexts), "--room", "core", "top", "--count", "2"])
        == 0
    )
    printed = capsys.readouterr().out
    first = printed.splitlines()[0]
    assert first.startswith("core+top: ")
    assert printed.count("survived    core/one.py:") == printed.count("\nsurvived")


def test_a_room_that_is_none_is_refused(toy: tuple[OwnPackage, Path], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--root", str(toy[0].folder.parent), "--data", str(toy[1]), "--room", "attic"])
    assert "there is no room attic; there are core, top" in capsys.readouterr().err


def test_a_contexts_file_that_is_missing_is_named_with_the_command_that_makes_it(
    toy: tuple[OwnPackage, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--root", str(toy[0].folder.parent), "--data", str(tmp_path / "none"), "--room", "core"])
    assert "run python -m tests.coverage_per_room --contexts" in capsys.readouterr().err
