"""Tell numba where to keep machine code: in the folder of this build, whatever the sources lie in.

numba itself looks at the age of one source file at a time and knows nothing of what a function calls; it cannot keep
anything for sources in a zip. Here the folder is named by a digest of all sources (``build.digest``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from metl_gui.engine.kernel.compiled.build import digest, folder


class _Locator(_CacheLocator):
    def __init__(self, line: int) -> None:
        self.line = line

    def get_cache_path(self) -> str:
        return str(folder())

    def get_source_stamp(self) -> str:
        return digest()

    def get_disambiguator(self) -> str:
        return str(self.line)

    @classmethod
    def from_function(cls, function: Callable[..., Any], _path: str) -> _Locator:
        return cls(function.__code__.co_firstlineno)


class _Kept(CompileResultCacheImpl):
    _locator_classes: Any = (_Locator,)


class _Cache(FunctionCache):
    _impl_class = _Kept


def keep(dispatcher: Any) -> Any:
    """Keep what is compiled of a function; where there is no folder, it is compiled anew by each process."""
    if folder() is not None:
        make: Any = _Cache
        dispatcher._cache = make(dispatcher.py_func)
    return dispatcher
