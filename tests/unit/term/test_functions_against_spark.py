"""Every function, asked of Spark and of us: same type, same value, or both an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evercurrent.data.types import Type
from evercurrent.errors import EvaluationError, QueryError, UnsupportedError
from evercurrent.term.build import call, cast, lambda_parameters, lit
from evercurrent.term.evaluate import Environment, evaluate
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.functions.numbers.bounds import BOUNDS
from evercurrent.term.functions.numbers.ordered_reads import READS
from evercurrent.term.functions.numbers.ring import RING
from evercurrent.term.nodes import Lambda, Variable
from tests.unit.term.asking_spark import Answer, ask, spark_type, sql, term, written
from tests.unit.term.spark_cases import CASES, CASTS, T

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DIFFERENT = {
    "(CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0))) DIV (1)": "Spark wraps around; we say so",
    "format_string('%s %s %s', TRUE, DATE'2024-02-29', 1.50BD)": "Spark prints the number of the day",
    "format_string('%b %c', TRUE, 'x')": "Spark takes no text for %c",
    "format_string('%.3f', 2.0005BD)": "Spark takes no decimal for %f",
}
"""Calls whose answer differs on purpose, and why."""


def our_answer(build: Any) -> Answer:
    try:
        t = build()
        return Answer(evaluate(t, Environment()), t.type)
    except (QueryError, EvaluationError, UnsupportedError) as error:
        return Answer(error=f"{type(error).__name__}: {error.message}")


def differences(spark: SparkSession, calls: list[tuple[str, Any]]) -> list[str]:
    found = []
    answers = [our_answer(build) for _, build in calls]
    asked = ask(spark, [text for text, _ in calls], [a.error is not None for a in answers])
    for (text, _), mine, theirs in zip(calls, answers, asked, strict=True):
        if not mine.agrees(theirs) and text not in DIFFERENT:
            found.append(f"{text}\n    ours:  {mine}\n    Spark: {theirs}")
    return found


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_function_means_what_spark_means(spark: SparkSession, name: str) -> None:
    def build(args: tuple[Any, ...]) -> Any:
        return lambda: call(name, *map(term, args))

    found = differences(spark, [(written(name, args), build(args)) for args in CASES[name]])
    assert not found, "\n".join(found)


def with_nulls() -> list[tuple[str, Any]]:
    """For each function some calls that succeed, with each argument in turn replaced by a NULL of its type."""
    calls = []
    for name, cases in sorted(CASES.items()):
        # Those with most arguments first: optional ones have their own meaning of NULL.
        for args in sorted(cases, key=len, reverse=True)[:6]:
            if name in ("timestampadd", "timestampdiff") or any(a is None for a in args):
                continue
            terms = [our_answer(lambda a=a: term(a)) for a in args]
            if our_answer(lambda name=name, args=args: call(name, *map(term, args))).error is None:
                for i, given in enumerate(terms):
                    assert given.type is not None
                    nulled = (*args[:i], T(None, given.type), *args[i + 1 :])
                    calls.append(
                        (
                            written(name, nulled),
                            lambda name=name, nulled=nulled: call(name, *map(term, nulled)),
                        )
                    )
    return list(dict(calls).items())


NULL_DIFFERS = {
    "ceil": "Spark takes no NULL for the scale; the result is NULL here",
    "floor": "the same",
    "like": "Spark fails with a NullPointerException if ESCAPE is NULL; the result is NULL here",
    "ilike": "the same",
    "date_part": "the field must be a constant here, and Spark takes a NULL",
    "format_string": "Spark prints the number of the day for a date",
    "levenshtein": "Spark answers NULL if all arguments are constants, and takes a limit that is NULL in a row for 0; here it is always 0",
    "schema_of_json": "Spark refuses a NULL when it plans the query; the result is NULL here",
}


@pytest.mark.parametrize("part", range(4))
def test_a_null_in_any_place_means_what_spark_means(spark: SparkSession, part: int) -> None:
    calls = [c for c in with_nulls() if c[0].split("(")[0] not in NULL_DIFFERS and " ESCAPE " not in c[0]]
    found = differences(spark, calls[part::4])
    assert not found, "\n".join(found)


@pytest.mark.parametrize("target", sorted({t for _, t in CASTS}, key=str), ids=str)
@pytest.mark.parametrize("strict", [True, False], ids=["cast", "try_cast"])
def test_a_cast_means_what_spark_means(spark: SparkSession, target: Type, strict: bool) -> None:
    def build(value: Any) -> Any:
        return lambda: cast(term(value), target, strict=strict)

    word = "CAST" if strict else "TRY_CAST"
    calls = [
        (f"{word}({sql(value)} AS {spark_type(target)})", build(value)) for value, t in CASTS if t == target
    ]
    found = differences(spark, calls)
    assert not found, "\n".join(found)


LAMBDAS: list[tuple[str, str, list[Any], list[tuple[int, Any]]]] = [
    # SQL, function, arguments that are no lambdas, (parameters, body) of the lambdas that follow
    ("transform({}, x -> x + 1)", "transform", [[3, 1, None, 2]], [(1, lambda x: call("add", x, lit(1)))]),
    ("transform({}, (x, i) -> x * i)", "transform", [[3, 1, None, 2]], [(2, lambda x, i: call("mul", x, i))]),
    ("filter({}, x -> x > 1)", "filter", [[3, 1, None, 2]], [(1, lambda x: call("gt", x, lit(1)))]),
    ("filter({}, (x, i) -> i > 1)", "filter", [[3, 1, None, 2]], [(2, lambda x, i: call("gt", i, lit(1)))]),
    ("exists({}, x -> x > 2)", "exists", [[3, 1, None]], [(1, lambda x: call("gt", x, lit(2)))]),
    ("exists({}, x -> x > 9)", "exists", [[3, 1, None]], [(1, lambda x: call("gt", x, lit(9)))]),
    ("exists({}, x -> x > 9)", "exists", [[3, 1]], [(1, lambda x: call("gt", x, lit(9)))]),
    ("forall({}, x -> x > 0)", "forall", [[3, 1, None]], [(1, lambda x: call("gt", x, lit(0)))]),
    ("forall({}, x -> x > 1)", "forall", [[3, 1, None]], [(1, lambda x: call("gt", x, lit(1)))]),
    (
        "aggregate({}, {}, (a, x) -> a + x)",
        "aggregate",
        [[3, 1, 2], 10],
        [(2, lambda a, x: call("add", a, x))],
    ),
    (
        "aggregate({}, {}, (a, x) -> a + x, a -> a * 10)",
        "aggregate",
        [[3, 1, 2], 0],
        [(2, lambda a, x: call("add", a, x)), (1, lambda a: call("mul", a, lit(10)))],
    ),
    (
        "aggregate({}, {}, (a, x) -> a + x)",
        "aggregate",
        [[3, None], 0],
        [(2, lambda a, x: call("add", a, x))],
    ),
    ("array_sort({}, (a, b) -> b - a)", "array_sort", [[3, 1, 2]], [(2, lambda a, b: call("sub", b, a))]),
    (
        "zip_with({}, {}, (a, b) -> a + b)",
        "zip_with",
        [[1, 2, 3], [10, 20]],
        [(2, lambda a, b: call("add", a, b))],
    ),
    (
        "map_filter({}, (k, v) -> v > 1)",
        "map_filter",
        [{1: 1, 2: 2}],
        [(2, lambda k, v: call("gt", v, lit(1)))],
    ),
    (
        "transform_keys({}, (k, v) -> k + 1)",
        "transform_keys",
        [{1: 1, 2: 2}],
        [(2, lambda k, v: call("add", k, lit(1)))],
    ),
    ("transform_keys({}, (k, v) -> 7)", "transform_keys", [{1: 1, 2: 2}], [(2, lambda k, v: lit(7))]),
    (
        "transform_values({}, (k, v) -> k + v)",
        "transform_values",
        [{1: 1, 2: 2}],
        [(2, lambda k, v: call("add", k, v))],
    ),
    (
        "map_zip_with({}, {}, (k, a, b) -> coalesce(a, 0) + coalesce(b, 0))",
        "map_zip_with",
        [{1: 1, 2: 2}, {2: 20, 3: 30}],
        [(3, lambda k, a, b: call("add", call("coalesce", a, lit(0)), call("coalesce", b, lit(0))))],
    ),
]


def with_lambdas(name: str, plain: list[Any], lambdas: list[tuple[int, Any]]) -> Any:
    args = [term(a) for a in plain]
    for count, body in lambdas:
        types = lambda_parameters(name, len(args), count, args)
        parameters = tuple(Variable(f"p{i}", t, True) for i, t in enumerate(types))
        inner = body(*parameters)
        args.append(Lambda(parameters, inner, inner.type))
    return call(name, *args)


def test_functions_of_functions_mean_what_spark_means(spark: SparkSession) -> None:
    calls = [
        (text.format(*map(sql, plain)), lambda name=name, plain=plain, fs=fs: with_lambdas(name, plain, fs))
        for text, name, plain, fs in LAMBDAS
    ]
    found = differences(spark, calls)
    assert not found, "\n".join(found)


def test_every_function_is_asked_about() -> None:
    inner = {f.name for f in (*RING, *BOUNDS, *READS)}
    asked = set(CASES) | {name for _, name, _, _ in LAMBDAS} | inner
    assert sorted(set(FUNCTIONS) - asked) == []
