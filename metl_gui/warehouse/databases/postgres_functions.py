"""Functions that a warehouse in PostgreSQL has in its schema: casts that give null, and text as elsewhere.

They accept what DuckDB accepts, so that one row expression means the same in both. PostgreSQL alone would take
``today`` for a date, ``on`` for a truth value, and round what comes behind microseconds.
"""

from __future__ import annotations

from typing import NamedTuple


class Function(NamedTuple):
    """A function.

    Args:
        name: of it.
        arguments: their types.
        returns: type.
        language: ``sql`` or ``plpgsql``.
        body: between the dollars.
    """

    name: str
    arguments: str
    returns: str
    language: str
    body: str

    @property
    def statement(self) -> str:
        """Return the statement that makes it."""
        return (
            f"CREATE OR REPLACE FUNCTION {self.name}({self.arguments}) RETURNS {self.returns} "
            f"LANGUAGE {self.language} STABLE AS $metl${self.body}$metl$"
        )


def functions(letters: str) -> tuple[Function, ...]:
    """Return all functions, those first that others call.

    Args:
        letters: name of a collation that knows the case of all letters, in quotes where it needs them.
    """
    return (
        _guarded("metl_number", "text", "numeric", _NUMBER, f"{_PLAIN}::numeric"),
        _guarded("metl_try_double", "text", "double precision", _FLOAT, f"{_PLAIN}::double precision"),
        _guarded("metl_try_date", "text", "date", _DAY, "btrim($1)::date"),
        _guarded("metl_try_timestamp", "text", "timestamp", _DAY, f"{_MICROSECONDS}::timestamp"),
        _guarded("metl_try_instant", "text", "timestamptz", _DAY, f"{_MICROSECONDS}::timestamptz"),
        _guarded("metl_try_time", "text", "time", _TIME, _TIME_OF_DAY),
        Function("metl_try_integer", "text, integer", "numeric", "sql", _in_range("round(metl_number($1))")),
        Function("metl_try_decimal", "text, integer, integer", "numeric", "sql", _DECIMAL),
        Function("metl_try_boolean", "text", "boolean", "sql", _BOOLEAN),
        Function("metl_text", "text", "text", "sql", "SELECT $1"),
        Function("metl_float_text", "text", "text", "sql", _FLOAT_TEXT),
        Function("metl_text", "anyelement", "text", "sql", _TEXT),
        *(
            Function("metl_try_integer", f"{type_}, integer", "numeric", "sql", _in_range("round($1::numeric)"))
            for type_ in _EXACT
        ),
        *(
            Function("metl_try_decimal", f"{type_}, integer, integer", "numeric", "sql", _EXACT_DECIMAL)
            for type_ in _EXACT
        ),
        Function("metl_try_integer", "anyelement, integer", "numeric", "sql", _ANY_INTEGER),
        Function("metl_try_decimal", "anyelement, integer, integer", "numeric", "sql", _any("decimal", ", $2, $3")),
        Function("metl_try_double", "anyelement", "double precision", "sql", _any("double")),
        Function("metl_try_boolean", "anyelement", "boolean", "sql", _ANY_BOOLEAN),
        *(
            Function(f"metl_try_{kind}", "anyelement", type_, "sql", f"SELECT metl_try_{kind}($1::text)")
            for kind, type_ in _TIMES.items()
        ),
        Function(
            "metl_upper", "text", "text", "sql", f"SELECT upper(replace($1, 'ß', 'ẞ') COLLATE {letters}) {_BYTES}"
        ),
        Function("metl_lower", "text", "text", "sql", f"SELECT lower($1 COLLATE {letters}) {_BYTES}"),
        Function("metl_decimals", "text", "integer", "sql", _DECIMALS),
        Function("metl_elements", "text", "text[]", "plpgsql", _ELEMENTS),
        Function("metl_date_trunc", "text, date", "timestamp", "sql", "SELECT date_trunc($1, $2::timestamp)"),
        Function("metl_date_trunc", "text, timestamp", "timestamp", "sql", "SELECT date_trunc($1, $2)"),
        Function("metl_date_trunc", "text, timestamptz", "timestamptz", "sql", "SELECT date_trunc($1, $2, 'UTC')"),
    )


_EXACT = ("numeric", "bigint", "integer")
"""Types that become other numbers without a way through text, as most do."""

_BYTES = 'COLLATE "C"'
_TIMES = {"date": "date", "timestamp": "timestamp", "instant": "timestamptz", "time": "time"}
_DIGITS = r"\d+(_\d+)*"
_NUMBER = rf"^\s*[-+]?({_DIGITS}\.?({_DIGITS})?|\.{_DIGITS})([eE][-+]?\d{{1,4}})?\s*$"
_FLOAT = rf"{_NUMBER}|^\s*[-+]?([nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)\s*$"
_DAY = r"^\s*\d{4,6}[-/]\d{1,2}[-/]\d{1,2}|^-?infinity$|^epoch$"
_TIME = rf"^\s*\d{{1,2}}:\d{{2}}|{_DAY}"
_MICROSECONDS = r"regexp_replace(btrim($1), '(\.\d{6})\d+', '\1')"
_TIME_OF_DAY = f"CASE WHEN $1 ~ '{_DAY}' THEN {_MICROSECONDS}::timestamp::time ELSE {_MICROSECONDS}::time END"
_IS_FLOAT = "pg_typeof($1) = 'double precision'::regtype"
_IS_BOOLEAN = "pg_typeof($1) = 'boolean'::regtype"
_PLAIN = "replace(btrim($1), '_', '')"
_DECIMAL = """SELECT CASE WHEN abs(n) < power(10::numeric, $2 - $3) THEN n END
    FROM (SELECT round(metl_number($1), $3) AS n) AS q"""
_EXACT_DECIMAL = """SELECT CASE WHEN abs(round($1::numeric, $3)) < power(10::numeric, $2 - $3)
    THEN round($1::numeric, $3) END"""
_DECIMALS = "SELECT length(rtrim(split_part(metl_number($1)::text, '.', 2), '0'))"
_BOOLEAN = """SELECT CASE WHEN lower($1) IN ('true', 't', 'yes', 'y', '1') THEN true
    WHEN lower($1) IN ('false', 'f', 'no', 'n', '0') THEN false END"""
_FLOAT_TEXT = """SELECT CASE WHEN $1 LIKE '%e+15' THEN $1::numeric::text || '.0'
    WHEN $1 = 'Infinity' THEN 'inf' WHEN $1 = '-Infinity' THEN '-inf' WHEN $1 = 'NaN' THEN 'nan'
    WHEN $1 LIKE '%e%' OR $1 LIKE '%.%' THEN $1 ELSE $1 || '.0' END"""
_TEXT = f"SELECT CASE WHEN {_IS_FLOAT} THEN metl_float_text($1::text) ELSE $1::text END"
_ONE_OR_NONE = "CASE $1::text WHEN 'true' THEN '1' WHEN 'false' THEN '0' END"
_ANY_INTEGER = f"""SELECT metl_try_integer(CASE WHEN {_IS_BOOLEAN} THEN {_ONE_OR_NONE}
    WHEN {_IS_FLOAT} THEN round(metl_try_double($1::text))::text ELSE $1::text END, $2)"""
_ANY_BOOLEAN = f"""SELECT CASE WHEN {_IS_BOOLEAN} THEN metl_try_boolean($1::text)
    ELSE metl_number($1::text) <> 0 END"""

_ELEMENTS = """
BEGIN
    IF json_typeof($1::json) IS DISTINCT FROM 'array' OR EXISTS (
        SELECT 1 FROM json_array_elements($1::json) AS e(value) WHERE json_typeof(e.value) IN ('array', 'object'))
    THEN RETURN NULL; END IF;
    RETURN ARRAY(
        SELECT CASE WHEN json_typeof(e.value) = 'number' AND e.value::text ~ '[.eE]'
                 THEN COALESCE(metl_text(metl_try_double(e.value::text)), e.value #>> '{}')
                 WHEN e.value::text = '-0' THEN '0' ELSE e.value #>> '{}' END
        FROM json_array_elements($1::json) WITH ORDINALITY AS e(value, place) ORDER BY e.place);
EXCEPTION WHEN data_exception OR statement_too_complex THEN RETURN NULL;
END"""


def _any(kind: str, more: str = "") -> str:
    """Return the body of a function of any value that is tried as a number, where a truth value is one or none."""
    return f"SELECT metl_try_{kind}(CASE WHEN {_IS_BOOLEAN} THEN {_ONE_OR_NONE} ELSE $1::text END{more})"


def _in_range(number: str) -> str:
    """Return the body of a function that gives an integer of as many bits as its second argument."""
    half = "power(2::numeric, $2 - 1)"
    return f"SELECT CASE WHEN n >= -{half} AND n < {half} THEN n END FROM (SELECT {number} AS n) AS q"


def _guarded(name: str, arguments: str, returns: str, pattern: str, cast: str) -> Function:
    """Return a function that casts what has a form, and gives null for all else."""
    body = f"""
BEGIN
    IF $1 ~ '{pattern}' THEN RETURN {cast}; END IF;
    RETURN NULL;
EXCEPTION WHEN data_exception THEN RETURN NULL;
END"""
    return Function(name, arguments, returns, "plpgsql", body)
