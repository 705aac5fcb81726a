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

from evercurrent.database import Database, connect
from evercurrent.errors import (
    ConflictError,
    ConstraintError,
    EvaluationError,
    EvercurrentError,
    InternalError,
    QueryError,
    StorageError,
    TransactionError,
    UnsupportedError,
)
from evercurrent.session.feed import Feed
from evercurrent.session.results import Result
from evercurrent.session.stats import Stats
from evercurrent.session.subscriptions import Change, SubscriberWarning, Subscription
from evercurrent.session.tables import Table
from evercurrent.session.transactions import Transaction
from evercurrent.session.verify import Report
from evercurrent.session.views import View

__version__ = "0.1.0"

__all__ = [
    "Change",
    "ConflictError",
    "ConstraintError",
    "Database",
    "EvaluationError",
    "EvercurrentError",
    "Feed",
    "InternalError",
    "QueryError",
    "Report",
    "Result",
    "Stats",
    "StorageError",
    "SubscriberWarning",
    "Subscription",
    "Table",
    "Transaction",
    "TransactionError",
    "UnsupportedError",
    "View",
    "__version__",
    "connect",
]
