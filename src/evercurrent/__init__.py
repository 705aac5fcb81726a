"""evercurrent: views that stay current.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total DECIMAL(12,2))")
>>> _ = db.execute("CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer")
>>> db.table("orders").insert({"id": 1, "customer": 7, "total": "9.50"})
1
>>> db.view("spend").rows()
[(7, Decimal('9.50'))]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evercurrent.data.collections import UNDEFINED, Bag, Set
from evercurrent.data.representation import Record
from evercurrent.database import Database, connect
from evercurrent.errors import (
    ConflictError,
    ConstraintError,
    CostWarning,
    EvaluationError,
    EvercurrentError,
    InternalError,
    LimitError,
    QueryError,
    QuotedNameWarning,
    SizeError,
    StorageError,
    TransactionError,
    UnsupportedError,
)
from evercurrent.rows.results import Result
from evercurrent.rows.subscriptions import Change, SubscriberWarning, Subscription
from evercurrent.session.feed import Feed
from evercurrent.session.stats import Stats
from evercurrent.session.transactions import Transaction
from evercurrent.statements.handles import Table, View
from evercurrent.statements.report import Report

if TYPE_CHECKING:
    from evercurrent.frontend.python.core import AnyQuery
    from evercurrent.frontend.python.expressions import call, is_none, isin, length, row, text, when
    from evercurrent.frontend.python.grouping import Rows
    from evercurrent.frontend.python.joined import Joined, Joined3, JoinedMany
    from evercurrent.frontend.python.monoids import Monoid, monoid
    from evercurrent.frontend.python.opaque import opaque
    from evercurrent.frontend.python.ordering import asc, desc
    from evercurrent.frontend.python.query import Grouped, Query
    from evercurrent.frontend.python.recursion import recursive
    from evercurrent.frontend.python.selecting import select
    from evercurrent.objects.classes.entities import Entity, Inverse, empty, operation
    from evercurrent.objects.extents import Extent
    from evercurrent.objects.model.handles import Object
    from evercurrent.python_views.owner import TableOf
    from evercurrent.rows.awaiting import ChangeStream
    from evercurrent.statements.live_views import LiveView
    from evercurrent.statements.protocol import AnyDatabase
    from evercurrent.warehouse.maintenance.called_functions import MissingFunctionWarning

__version__ = "0.1.0"

# Found when they are first used: the compiler is not imported with the package.
_PYTHON = {
    "AnyDatabase": "statements.protocol",
    "ChangeStream": "rows.awaiting",
    "Entity": "objects.classes.entities",
    "Extent": "objects.extents",
    "Inverse": "objects.classes.entities",
    "Object": "objects.model.handles",
    "empty": "objects.classes.entities",
    "operation": "objects.classes.entities",
    "AnyQuery": "frontend.python.core",
    "Grouped": "frontend.python.query",
    "Joined": "frontend.python.joined",
    "Joined3": "frontend.python.joined",
    "JoinedMany": "frontend.python.joined",
    "LiveView": "statements.live_views",
    "MissingFunctionWarning": "warehouse.maintenance.called_functions",
    "Monoid": "frontend.python.monoids",
    "Query": "frontend.python.query",
    "Rows": "frontend.python.grouping",
    "TableOf": "python_views.owner",
    "asc": "frontend.python.ordering",
    "call": "frontend.python.expressions",
    "desc": "frontend.python.ordering",
    "is_none": "frontend.python.expressions",
    "isin": "frontend.python.expressions",
    "length": "frontend.python.expressions",
    "monoid": "frontend.python.monoids",
    "opaque": "frontend.python.opaque",
    "recursive": "frontend.python.recursion",
    "row": "frontend.python.expressions",
    "select": "frontend.python.selecting",
    "text": "frontend.python.expressions",
    "when": "frontend.python.expressions",
}


def __getattr__(name: str) -> Any:
    if name not in _PYTHON:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_PYTHON[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "UNDEFINED",
    "AnyDatabase",
    "AnyQuery",
    "Bag",
    "Change",
    "ChangeStream",
    "ConflictError",
    "ConstraintError",
    "CostWarning",
    "Database",
    "Entity",
    "EvaluationError",
    "EvercurrentError",
    "Extent",
    "Feed",
    "Grouped",
    "InternalError",
    "Inverse",
    "Joined",
    "Joined3",
    "JoinedMany",
    "LimitError",
    "LiveView",
    "MissingFunctionWarning",
    "Monoid",
    "Object",
    "Query",
    "QueryError",
    "QuotedNameWarning",
    "Record",
    "Report",
    "Result",
    "Rows",
    "Set",
    "SizeError",
    "Stats",
    "StorageError",
    "SubscriberWarning",
    "Subscription",
    "Table",
    "TableOf",
    "Transaction",
    "TransactionError",
    "UnsupportedError",
    "View",
    "__version__",
    "asc",
    "call",
    "connect",
    "desc",
    "empty",
    "is_none",
    "isin",
    "length",
    "monoid",
    "opaque",
    "operation",
    "recursive",
    "row",
    "select",
    "text",
    "when",
]
