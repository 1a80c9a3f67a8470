from __future__ import annotations

from pathlib import Path

from tests.helpers.own_package import OwnPackage
from tests.helpers.toy_project import write_toy

_WRAPPER = """\
from numba import njit

def fast(function):
    return made(function, inline=False)

def made(function, inline):
    return keep(njit(function, nogil=True, forceinline=inline))

def keep(dispatcher):
    return dispatcher
"""
_USER = """\
from toy.jit import fast

@fast
def first(number):
    return number + 1

def second(number):
    return number + 2

def made():
    def inner(number):
        return number + 3
    return fast(inner)
"""


def test_a_module_belongs_to_the_room_of_its_first_folder_and_the_kernel_to_its_own(tmp_path: Path) -> None:
    files = ["toy/core/one.py", "toy/engine/two.py", "toy/engine/kernel/deep/three.py", "toy/engine/kernel.py"]
    package = write_toy(tmp_path, dict.fromkeys(files, ""))
    found = {room: [module.as_posix() for module in modules] for room, modules in package.rooms.items()}
    assert found == {
        "core": ["core/one.py"],
        "engine": ["engine/kernel.py", "engine/two.py"],
        "engine.kernel": ["engine/kernel/deep/three.py"],
        "top": ["__init__.py"],
    }


def test_what_numba_compiles_is_known_through_a_wrapper_of_another_module_and_nothing_else_is(tmp_path: Path) -> None:
    package = write_toy(tmp_path, {"toy/jit.py": _WRAPPER, "toy/user.py": _USER})
    assert package.jitted == {Path("user.py"): (range(3, 6), range(11, 13))}


def test_a_file_of_another_copy_is_the_same_module(tmp_path: Path) -> None:
    package = write_toy(tmp_path / "toy", {})
    assert package.relative("/elsewhere/toy/site/toy/core/one.py") == Path("core/one.py")
    assert package.relative("/elsewhere/other/one.py") is None


def test_more_than_a_hundred_functions_of_this_package_are_compiled_and_all_lie_in_the_engine() -> None:
    package = OwnPackage.of()
    assert sum(len(functions) for functions in package.jitted.values()) > 100
    assert {module.parts[0] for module in package.jitted} == {"engine"}
