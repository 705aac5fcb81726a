"""An aggregate over groups of one row is a term of that row.

Law. γ k; f(x) (A) = π k, f{x} (A) if no two rows of A agree on k: the sum of one value is the value, the count of one row
is 1. "single" (the only row of a scalar subquery) thus needs no check where a key makes it true.

    SELECT k, sum(b) ... GROUP BY k, k being a key      SELECT k, CAST(b AS BIGINT) ...
"""

from __future__ import annotations

from evercurrent.algebra import build, keys
from evercurrent.algebra.nodes import Aggregate, Plan
from evercurrent.algebra.walk import rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import call, case, cast, lit
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Term
from evercurrent.term.nullable import nullable


def aggregate_of_one(plan: Plan, knowledge: Knowledge) -> Plan:
    def simplify(p: Plan) -> Plan:
        match p:
            case Aggregate(source, by, aggregates, False) if aggregates:
                values = [of_one(a) for _, a in aggregates]
                known = [v for v in values if v is not None]
                if len(known) < len(values) or not _unique(p, knowledge):
                    return p
                outputs = [
                    (c if not nullable(v) or c.nullable else type(c)(c.name, c.type, True), v)
                    for (c, _), v in zip(aggregates, known, strict=True)
                ]
                return build.project(source, (*by, *outputs))
            case _:
                return p

    return rewrite(plan, simplify)


def _unique(plan: Aggregate, knowledge: Knowledge) -> bool:
    return bool(keys.keys(build.project(plan.input, plan.keys), knowledge))


def of_one(a: AggregateTerm) -> Term | None:
    """The aggregate over one row, as a term of the row; None where that cannot be said."""
    match a.function, a.args:
        case "count", args:
            value: Term = lit(1, a.type)
            present = [call("is_not_null", x) for x in args if nullable(x)]
            conditions = [*present, *([] if a.where is None else [a.where])]
            for condition in conditions:
                value = case([(condition, value)], lit(0, a.type))
            return value
        case "single" | "min" | "max" | "sum", (x,):
            value = cast(x, a.type)
            return value if a.where is None else case([(a.where, value)], lit(None, a.type))
        case _:
            return None
