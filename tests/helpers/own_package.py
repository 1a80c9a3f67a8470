"""What the package consists of, found by scanning it: modules, rooms, and the functions that numba compiles.

No list of files or functions is kept here, so this is true of the package however it is divided.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_ROOMS_WITHIN = {"engine": ("kernel",)}
"""Folders below a room that are measured apart from it."""
_TOP = "top"
"""The room of the modules that lie in none."""
_COMPILER = "numba"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class OwnPackage:
    """The package of a project.

    Args:
        folder: of the package.
    """

    folder: Path

    @classmethod
    def of(cls, root: Path = ROOT) -> OwnPackage:
        """Find the package that the wheel of a project is built of."""
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        (name,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
        return cls(root / name)

    @property
    def version(self) -> str:
        """What it says of itself in its ``__version__``, empty where it says nothing."""
        for node in self.tree(Path("__init__.py")).body:
            match node:
                case ast.Assign(targets=[ast.Name(id="__version__")], value=ast.Constant(value=str(version))):
                    return version
        return ""

    @cached_property
    def modules(self) -> tuple[Path, ...]:
        """All modules, relative to the folder, sorted."""
        return tuple(sorted(path.relative_to(self.folder) for path in self.folder.rglob("*.py")))

    @cached_property
    def rooms(self) -> dict[str, tuple[Path, ...]]:
        """The modules of each room."""
        found: dict[str, list[Path]] = {}
        for module in self.modules:
            found.setdefault(room_of(module), []).append(module)
        return {room: tuple(modules) for room, modules in sorted(found.items())}

    def relative(self, path: str) -> Path | None:
        """Return the module that a file is, in this copy of the package or in another one; ``None`` for other files."""
        parts = Path(path).parts
        if self.folder.name not in parts:
            return None
        last = len(parts) - 1 - parts[::-1].index(self.folder.name)
        return Path(*parts[last + 1 :])

    def tree(self, module: Path) -> ast.Module:
        """Parse a module."""
        return ast.parse((self.folder / module).read_bytes(), str(module))

    @cached_property
    def jitted(self) -> dict[Path, tuple[range, ...]]:
        """The lines of functions that numba compiles, by module: no tracer sees them run.

        A function is one if numba's name or one of ``jit_wrappers`` decorates it or is called with its name, and so is
        all that stands within it. The lines begin at the first decorator.
        """
        wrappers = frozenset[str]().union(*(_wrappers(self.tree(module)) for module in self._naming(_COMPILER)))
        found = {module: tuple(_jitted(self.tree(module), wrappers)) for module in self._naming(_COMPILER, *wrappers)}
        return {module: lines for module, lines in found.items() if lines}

    def _naming(self, *words: str) -> tuple[Path, ...]:
        """Return the modules whose text holds one of some words, so that not all are parsed."""
        texts = ((module, (self.folder / module).read_text(encoding="utf-8")) for module in self.modules)
        return tuple(module for module, text in texts if any(word in text for word in words))


def room_of(module: Path) -> str:
    """Name the room of a module: its first folder, or a folder within that is measured apart."""
    if len(module.parts) == 1:
        return _TOP
    room = module.parts[0]
    within = _ROOMS_WITHIN.get(room, ())
    return f"{room}.{module.parts[1]}" if len(module.parts) > 2 and module.parts[1] in within else room


def _wrappers(tree: ast.Module) -> frozenset[str]:
    """Return the functions of a module that hand what they are given to numba, themselves or through another one."""
    compilers = _compilers(tree)
    functions = [node for node in ast.walk(tree) if isinstance(node, _Definition)] if compilers else []
    found = frozenset[str]()
    while True:
        names = compilers | found
        handing = frozenset(each.name for each in functions if _compiled_names(each, names) & _arguments(each))
        if handing == found:
            return found
        found = handing


def _compilers(tree: ast.Module) -> frozenset[str]:
    """Return what a module imports from numba by name, which compiles functions."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    own = (node for node in imports if (node.module or "").partition(".")[0] == _COMPILER)
    return frozenset(alias.asname or alias.name for node in own for alias in node.names)


def _arguments(function: _Definition) -> frozenset[str]:
    return frozenset(argument.arg for argument in function.args.posonlyargs + function.args.args)


def _compiled_names(tree: ast.AST, compilers: frozenset[str]) -> frozenset[str]:
    """Return the names that compilers are called with, directly or through what a call of one returns."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) in compilers)
    return frozenset(each.args[0].id for each in calls if each.args and isinstance(each.args[0], ast.Name))


def _name(node: ast.expr) -> str:
    """Return the last name of what is called or decorates, of a call of it too."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _jitted(tree: ast.Module, wrappers: frozenset[str]) -> Iterator[range]:
    compilers = _compilers(tree) | (wrappers & _known(tree))
    handed = _compiled_names(tree, compilers)
    for node in ast.walk(tree):
        if isinstance(node, _Definition) and (node.name in handed or _is_decorated(node.decorator_list, compilers)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield range(first, (node.end_lineno or node.lineno) + 1)


def _known(tree: ast.Module) -> frozenset[str]:
    """Return the functions that a module defines or imports by name."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    imported = frozenset(alias.asname or alias.name for node in imports for alias in node.names)
    return imported | frozenset(node.name for node in ast.walk(tree) if isinstance(node, _Definition))


def _is_decorated(decorators: Iterable[ast.expr], compilers: frozenset[str]) -> bool:
    return any(_name(each) in compilers for each in decorators)
