"""Find what can be changed in a module, each change one span of its text, so that all else stays as it is.

Changed are comparisons, ``and`` and ``or``, ``not``, arithmetic, whole numbers by one up and down, ``True`` and
``False``, returned values to ``None``, calls and raises that are a statement to nothing, conditions to their opposite
(which swaps the branches), and texts to empty ones. Left alone is what has no effect at run time or says nothing of the
tests: annotations, docstrings, type aliases, imports for types, parts of f-strings, and what numba compiles.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: (r"\*\*", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.BitXor: (r"\^", "&"),
}
_BOOLEAN: dict[type[ast.boolop], tuple[str, str]] = {ast.And: ("and", "or"), ast.Or: ("or", "and")}
_FOR_TYPES = {"Literal", "TypeVar", "ParamSpec", "NewType", "cast"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Mutation:
    """One change of a module.

    Args:
        module: relative to the package.
        line: of what is changed.
        start, end: of the changed text, in bytes.
        kind: of the change.
        before, after: the text.
        statement: the lines of the statement that it is part of, of a compound one only the head.
        is_import_time: it runs when the module is loaded, not in a function.
    """

    module: Path
    line: int
    start: int
    end: int
    kind: str
    before: str
    after: str
    statement: range
    is_import_time: bool

    @property
    def title(self) -> str:
        """Describe it in a line."""
        before, after = (" ".join(text.split())[:60] for text in (self.before, self.after))
        return f"{self.kind}: {before} -> {after or 'nothing'}"

    def applied(self, source: bytes) -> bytes:
        """Return the module's text with the change, each line where it was."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutations_of(module: Path, source: bytes, jitted: Sequence[range] = ()) -> list[Mutation]:
    """List all changes of a module, in the order of its text.

    Args:
        module: its name.
        source: its text.
        jitted: the lines of functions that are left alone.
    """
    return sorted(set(_Finder(module, source, jitted).of_module()))


class _Finder:
    def __init__(self, module: Path, source: bytes, jitted: Sequence[range]) -> None:
        self.module = module
        self.source = source
        self.jitted = jitted
        self.line_starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]
        self.statement = range(0)
        self.is_import_time = True

    def of_module(self) -> Iterator[Mutation]:
        return self._of_body(ast.parse(self.source).body)

    def _of_body(self, body: Sequence[ast.stmt]) -> Iterator[Mutation]:
        for statement in body:
            if not any(statement.lineno in lines for lines in self.jitted) and not _is_for_types(statement):
                yield from self._of_statement(statement)

    def _of_statement(self, node: ast.stmt) -> Iterator[Mutation]:
        self.statement = _head(node)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._of_function(node)
                return
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise():
                yield self._change(node, "statement removed", "pass")
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                yield self._change(value, "returned value", "None")
            case ast.If(test=test):
                yield self._negated(test)
            case ast.AugAssign() if type(node.op) in _ARITHMETIC:
                operator, other = _ARITHMETIC[type(node.op)]
                yield from self._between(node.target, node.value, "arithmetic", f"{operator}=", f"{other}=")
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            for each in value if isinstance(value, list) else [value]:
                yield from self._of_part(each, node)

    def _of_part(self, part: object, statement: ast.stmt) -> Iterator[Mutation]:
        """Yield the changes of an expression, of a statement within, or of what holds some of them."""
        if isinstance(part, ast.expr):
            self.statement = _head(statement)
            yield from self._of_expression(part)
        elif isinstance(part, ast.stmt):
            yield from self._of_body([part])
        elif isinstance(part, ast.AST):
            for child in ast.iter_child_nodes(part):
                yield from self._of_part(child, statement)

    def _of_function(self, node: _Function) -> Iterator[Mutation]:
        defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
        for each in [*node.decorator_list, *defaults]:
            yield from self._of_expression(each)
        outside, self.is_import_time = self.is_import_time, False
        yield from self._of_body(node.body)
        self.is_import_time = outside

    def _of_expression(self, node: ast.expr) -> Iterator[Mutation]:
        yield from self._of_node(node)
        if isinstance(node, ast.JoinedStr) or _names_types(node):
            return
        outside = self.is_import_time
        self.is_import_time = outside and not isinstance(node, ast.Lambda)
        for child in _expressions(node):
            yield from self._of_expression(child)
        self.is_import_time = outside

    def _of_node(self, node: ast.expr) -> Iterator[Mutation]:
        match node:
            case ast.Constant():
                yield from self._of_constant(node)
            case ast.Compare():
                ends = [node.left, *node.comparators]
                for (left, right), operator in zip(pairwise(ends), node.ops, strict=True):
                    yield from self._between(left, right, "comparison", *_COMPARISONS[type(operator)])
            case ast.BoolOp():
                for left, right in pairwise(node.values):
                    yield from self._between(left, right, "boolean", *_BOOLEAN[type(node.op)])
            case ast.BinOp() if type(node.op) in _ARITHMETIC and not self._may_be_types(node):
                yield from self._between(node.left, node.right, "arithmetic", *_ARITHMETIC[type(node.op)])
            case ast.UnaryOp(op=ast.Not()):
                found = re.compile(rb"not\s*").match(self.source, self._at(node)[0])
                if found is not None:
                    yield self._change_span(*found.span(), "not", "")
            case ast.IfExp(test=test):
                yield self._negated(test)

    def _of_constant(self, node: ast.Constant) -> Iterator[Mutation]:
        match node.value:
            case bool() as value:
                yield self._change(node, "truth", str(not value))
            case int() as number:
                for other in (number + 1, number - 1):
                    yield self._change(node, "number", str(other))
            case str() | bytes() as text if text:
                yield self._change(node, "text", '""' if isinstance(text, str) else 'b""')

    def _may_be_types(self, node: ast.BinOp) -> bool:
        """Whether it may be a union of types, which is what stands outside of functions."""
        return self.is_import_time and isinstance(node.op, ast.BitOr)

    def _negated(self, test: ast.expr) -> Mutation:
        start, end = self._at(test)
        return self._change(test, "branches swapped", f"(not ({self.source[start:end].decode()}))")

    def _between(self, left: ast.expr, right: ast.expr, kind: str, operator: str, other: str) -> Iterator[Mutation]:
        start, end = self._at(left)[1], self._at(right)[0]
        word = rf"\b{operator}\b" if operator[0].isalpha() else operator
        for found in re.finditer(rf"#[^\n]*|({word})".encode(), self.source[start:end]):
            if found[1]:
                yield self._change_span(start + found.start(1), start + found.end(1), kind, other)
                return

    def _change(self, node: ast.expr | ast.stmt, kind: str, after: str) -> Mutation:
        return self._change_span(*self._at(node), kind, after)

    def _change_span(self, start: int, end: int, kind: str, after: str) -> Mutation:
        before = self.source[start:end].decode()
        line = self.source.count(b"\n", 0, start) + 1
        # What comes behind stays on its line: tracebacks and what is kept by line must be the same.
        after += "\n" * (before.count("\n") - after.count("\n"))
        return Mutation(self.module, line, start, end, kind, before, after, self.statement, self.is_import_time)

    def _at(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        start = self.line_starts[node.lineno - 1] + node.col_offset
        return start, self.line_starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)


def _head(node: ast.stmt) -> range:
    """Return the lines of a statement without the statements within it."""
    within = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.match_case | ast.ExceptHandler):
            within += part.body
    bodies = [each.lineno for each in within]
    last = node.end_lineno or node.lineno
    return range(node.lineno, max(node.lineno + 1, min([last + 1, *bodies])))


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the nearest expressions within one, those of keywords and comprehensions too."""
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        child = waiting.pop(0)
        if isinstance(child, ast.expr):
            yield child
        elif not isinstance(child, ast.arg):
            waiting += ast.iter_child_nodes(child)


def _is_for_types(node: ast.stmt) -> bool:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.FunctionDef(decorator_list=decorators):
            return any(isinstance(each, ast.Name) and each.id == "overload" for each in decorators)
    return False


def _names_types(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)):
            return name in _FOR_TYPES
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
