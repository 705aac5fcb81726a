"""A semi join with a side that matches at most once is a join.

Law. A semi c B = πA(A ⋈c B) if no row of A meets two rows of B.

    FROM c WHERE b IN (SELECT id FROM p), id being the key of p      c JOIN p ON c.b = p.id, columns of c only
"""

from __future__ import annotations

from evercurrent.algebra import build
from evercurrent.algebra.joins import matches_once
from evercurrent.algebra.nodes import Plan, Semi, columns
from evercurrent.algebra.walk import rewrite
from evercurrent.catalog.catalog import Knowledge


def semi_to_join(plan: Plan, knowledge: Knowledge) -> Plan:
    def join(p: Plan) -> Plan:
        match p:
            case Semi(left, right, condition, False) if matches_once(left, right, condition, knowledge):
                return build.project(build.join(left, right, condition), ((c, c) for c in columns(left)))
            case _:
                return p

    return rewrite(plan, join)
