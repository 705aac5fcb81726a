"""Drops DISTINCT where the rows have a key, and so are different already.

Law. δ(A) = A if A has a key; grouping by the columns of a key and computing nothing is a projection.

    SELECT DISTINCT k, b FROM c, k being the key of c      SELECT k, b FROM c
"""

from __future__ import annotations

from evercurrent.algebra import build, keys
from evercurrent.algebra.nodes import Aggregate, Distinct, Plan
from evercurrent.algebra.walk import rewrite
from evercurrent.catalog.catalog import Knowledge


def eliminate_distinct(plan: Plan, knowledge: Knowledge) -> Plan:
    def eliminate(p: Plan) -> Plan:
        match p:
            case Distinct(Distinct() as source):
                return source
            case Distinct(source) if keys.keys(source, knowledge):
                return source
            case Aggregate(source, by, (), False):
                by_name = build.project(source, by)
                if keys.keys(by_name, knowledge):
                    return by_name
                return p
            case _:
                return p

    return rewrite(plan, eliminate)
