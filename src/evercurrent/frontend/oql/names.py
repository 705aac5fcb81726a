"""Named objects in queries: what is bound to a name is looked up, so that views follow when it changes.

    Boss.name      the name of the employee whose identity named_objects has for 'Boss'

After `db.bind("Boss", ben)` every view that uses the name is updated.
"""

from __future__ import annotations

from evercurrent.calculus.nodes import Comprehension, Filter, Scalar
from evercurrent.calculus.paths import step
from evercurrent.catalog.extents import OID
from evercurrent.data.types import Member, Reference
from evercurrent.frontend.oql.context import Context
from evercurrent.frontend.oql.kinds import Obj
from evercurrent.frontend.oql.steps import scan
from evercurrent.frontend.oql.values import One
from evercurrent.term import build
from evercurrent.term.nodes import Cast

NAMES = "named_objects"
"""The table of names and identities."""


def find_named_object(context: Context, name: str) -> One | None:
    """The object that is bound to a name; nil if it is gone."""
    of = context.catalog.objects.get(name)
    if of is None:
        return None
    variable, generator = scan(context, NAMES)
    same = Filter(build.call("eq", build.field(variable, "name"), build.lit(name)))
    head = Cast(build.field(variable, "oid"), Reference(of))
    bound = Scalar(
        Comprehension("bag", (head,), (generator, same), (Member("oid", Reference(of)),)), Reference(of)
    )
    return One(Obj(of), step(context.schema, bound, OID))
