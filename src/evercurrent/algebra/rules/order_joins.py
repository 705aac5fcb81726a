"""Joins in an order led by keys and foreign keys.

Law. Inner joins are associative and commutative. The order starts from a relation that no other one looks up by key (a
child of foreign keys), goes on with what is looked up by a key, then with what is joined by an equality, and takes
products last. The result is a left-deep tree with flat conditions.

    FROM p, t, c WHERE c.o = p.id AND t.a = c.b, id being the key of p      (t JOIN c ON t.a = c.b) JOIN p ON c.o = p.id
"""

from __future__ import annotations

from evercurrent.algebra import build, keys
from evercurrent.algebra.joins import flatten, join_factors, names, reads
from evercurrent.algebra.nodes import Join, Plan, columns
from evercurrent.algebra.walk import with_children
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.nodes import Call, Term


def order_joins(plan: Plan, knowledge: Knowledge) -> Plan:
    if not isinstance(plan, Join):
        return with_children(plan, lambda p: order_joins(p, knowledge))
    factors, conditions = flatten(plan)
    factors = [with_children(f, lambda p: order_joins(p, knowledge)) for f in factors]
    ordered = arrange(factors, conditions, knowledge)
    found = join_factors(ordered, conditions)
    by_name = {c.name: c for c in columns(found)}
    return build.project(found, ((by_name[c.name], by_name[c.name]) for c in columns(plan)))


def arrange(factors: list[Plan], conditions: list[Term], knowledge: Knowledge) -> list[Plan]:
    unique = [keys.keys(f, knowledge) for f in factors]
    own = [names(f) for f in factors]

    def is_lookup(i: int, available: set[str]) -> bool:
        """Whether a row of what is available determines the row of the i-th factor."""
        given = _find_determined(own[i], available, conditions)
        return any(key <= given for key in unique[i])

    everything = set[str]().union(*own)
    children = [i for i in range(len(factors)) if not is_lookup(i, everything - own[i])]
    first = children[0] if children else 0
    order, rest = [first], [i for i in range(len(factors)) if i != first]
    available = set(own[first])
    while rest:
        best = min(
            rest,
            key=lambda i: (
                not is_lookup(i, available),
                not _find_determined(own[i], available, conditions),
                rest.index(i),
            ),
        )
        rest.remove(best)
        order.append(best)
        available |= own[best]
    return [factors[i] for i in order]


def _find_determined(own: set[str], available: set[str], conditions: list[Term]) -> set[str]:
    """The columns of a factor whose values follow from what is available, by equality."""
    found: set[str] = set()
    for condition in conditions:
        match condition:
            case Call("eq", (a, b)):
                for one, other in ((a, b), (b, a)):
                    if len(reads(one)) == 1 and reads(one) <= own and reads(other) <= available:
                        found |= reads(one)
    return found
