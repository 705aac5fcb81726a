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

if TYPE_CHECKING:
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
    from evercurrent.rows.results import Result
    from evercurrent.rows.subscriptions import Change, SubscriberWarning, Subscription
    from evercurrent.session.feed import Feed
    from evercurrent.session.stats import Stats
    from evercurrent.session.transactions import Transaction
    from evercurrent.statements.handles import Table, View
    from evercurrent.statements.live_views import LiveView
    from evercurrent.statements.protocol import AnyDatabase
    from evercurrent.statements.report import Report
    from evercurrent.warehouse.maintenance.called_functions import MissingFunctionWarning

__version__ = "0.1.0"

# Found when they are first used: a task of Spark imports modules of this package, and neither the compiler nor a database.
_PLACES = {
    "AnyDatabase": "statements.protocol",
    "AnyQuery": "frontend.python.core",
    "Bag": "data.collections",
    "Change": "rows.subscriptions",
    "ChangeStream": "rows.awaiting",
    "ConflictError": "errors",
    "ConstraintError": "errors",
    "CostWarning": "errors",
    "Database": "database",
    "Entity": "objects.classes.entities",
    "EvaluationError": "errors",
    "EvercurrentError": "errors",
    "Extent": "objects.extents",
    "Feed": "session.feed",
    "Grouped": "frontend.python.query",
    "InternalError": "errors",
    "Inverse": "objects.classes.entities",
    "Joined": "frontend.python.joined",
    "Joined3": "frontend.python.joined",
    "JoinedMany": "frontend.python.joined",
    "LimitError": "errors",
    "LiveView": "statements.live_views",
    "MissingFunctionWarning": "warehouse.maintenance.called_functions",
    "Monoid": "frontend.python.monoids",
    "Object": "objects.model.handles",
    "Query": "frontend.python.query",
    "QueryError": "errors",
    "QuotedNameWarning": "errors",
    "Record": "data.representation",
    "Report": "statements.report",
    "Result": "rows.results",
    "Rows": "frontend.python.grouping",
    "Set": "data.collections",
    "SizeError": "errors",
    "Stats": "session.stats",
    "StorageError": "errors",
    "SubscriberWarning": "rows.subscriptions",
    "Subscription": "rows.subscriptions",
    "Table": "statements.handles",
    "TableOf": "python_views.owner",
    "Transaction": "session.transactions",
    "TransactionError": "errors",
    "UNDEFINED": "data.collections",
    "UnsupportedError": "errors",
    "View": "statements.handles",
    "asc": "frontend.python.ordering",
    "call": "frontend.python.expressions",
    "connect": "database",
    "desc": "frontend.python.ordering",
    "empty": "objects.classes.entities",
    "is_none": "frontend.python.expressions",
    "isin": "frontend.python.expressions",
    "length": "frontend.python.expressions",
    "monoid": "frontend.python.monoids",
    "opaque": "frontend.python.opaque",
    "operation": "objects.classes.entities",
    "recursive": "frontend.python.recursion",
    "row": "frontend.python.expressions",
    "select": "frontend.python.selecting",
    "text": "frontend.python.expressions",
    "when": "frontend.python.expressions",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
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
