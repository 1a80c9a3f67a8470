"""Tell numba where to keep machine code: in the folder of this build, whatever the sources lie in.

numba itself looks at the age of one source file at a time and knows nothing of what a function calls; it cannot keep
anything for sources in a zip. Here the folder is named by a digest of all sources (``build.digest``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from metl_gui.engine.kernel.compiled.build import digest, folder
from metl_gui.own_files import close_all


class Locator(_CacheLocator):
    """Says where the code of a function lies, and what it was made of; subclasses add sources of other rooms."""

    def __init__(self, line: int) -> None:
        self.line = line

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(folder())

    def get_source_stamp(self) -> str:
        """Return what tells one source of the code from another."""
        return digest()

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self.line)

    @classmethod
    def from_function(cls, function: Callable[..., Any], _path: str) -> Locator:
        """Make the one of a function."""
        return cls(function.__code__.co_firstlineno)


class KeptCache(FunctionCache):
    """Keeps the code of one function in files that only their owner reads."""

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for one signature."""
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]  # numba ships none
        close_all(Path(self.cache_path))


def keep(dispatcher: Any, locator: type[Locator] = Locator) -> Any:
    """Keep what is compiled of a function; where there is no folder, it is compiled anew by each process."""
    if folder() is not None:
        # numba takes both from classes of its own kind.
        kept = type("Kept", (CompileResultCacheImpl,), {"_locator_classes": (locator,)})
        make: Any = type("Cache", (KeptCache,), {"_impl_class": kept})
        dispatcher._cache = make(dispatcher.py_func)
    return dispatcher
