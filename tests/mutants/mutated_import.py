"""Load one module from a changed text: the ``sitecustomize`` of a scratch copy of the project.

Every Python process that has the copy in its ``PYTHONPATH`` imports this as it starts, those that a test starts too.
Files stay as they are, so that what looks at sources (tests of the code's style, the machine code that is kept by a
digest of them) sees no difference, and only what the code does can give a mutant away.
"""

from __future__ import annotations

import json
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType


def install() -> None:
    """Load the changed text from now on, where one is ordered."""
    order = Path(__file__).with_name("mutant.json")
    if not order.exists():
        return
    mutant = json.loads(order.read_text(encoding="utf-8"))
    load = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        if self.path == mutant["path"]:
            return compile(mutant["source"], self.path, "exec", dont_inherit=True)
        return load(self, fullname)

    setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010 - a type checker lets no method be replaced


install()
