"""Plans of repeated statements: parsed once, compiled to functions of the parameters, and found by their text.

    db.execute("UPDATE orders SET total = ? WHERE id = ?", [12, 1])      the third time: a lookup, and two functions of (12, 1)

Law. A plan does what the statement does whose parameters are written as constants. In the plan parameters are variables; so that
nothing depends on their values, the plan is only made if the statement with variables becomes the one with constants when the
constants are put in. Where a type depends on a constant argument, there is no plan. If an expression fails, the statement is
run without its plan, which reports it.

A plan holds for one catalog, and for parameters of the same types. It is made when a text is seen for the second time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.nodes import Comprehension, Filter, Generator, Query, Values
from evercurrent.calculus.walk import nodes, rewrite
from evercurrent.catalog.lookup import require_table
from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.design.access_paths import AccessPlan, is_parameter
from evercurrent.errors import EvaluationError, EvercurrentError
from evercurrent.frontend.sql import statements as s
from evercurrent.frontend.sql.functions import may_read_clock
from evercurrent.frontend.sql.parameters import constant
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.statements import Modify, Select
from evercurrent.rows.results import Result
from evercurrent.session.plans.lookups import Lookups, find_rows
from evercurrent.session.plans.small_changes import small_change
from evercurrent.statements.order import order_rows
from evercurrent.term import build
from evercurrent.term.emit.functions import row_function
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.nodes import Call, Cast, Column, Field, Literal, Nested, Term, Variable
from evercurrent.term.simplify import simplify_node
from evercurrent.term.walk import nodes as term_nodes
from evercurrent.term.walk import rewrite as rewrite_term

if TYPE_CHECKING:
    from evercurrent.catalog.catalog import Catalog
    from evercurrent.session.session import Session
    from evercurrent.session.transactions import Transaction

MOST = 512
"""Plans that are kept; when there are more, all are forgotten."""

Parameters = Sequence[Any] | Mapping[str, Any] | None
Entries = list[tuple[Row, int]]
Find = Callable[["Session", Row, bool], Entries]
"""From the values of parameters to the rows of the statement's query, over the committed or the pending state."""


@dataclass(slots=True)
class Plan:
    """What runs instead of a statement."""

    catalog: Catalog
    statement: Select | Modify
    find: Find
    shown: tuple[Member, ...] = ()


class Plans:
    """The plans of a database, and the texts that were seen once."""

    def __init__(self) -> None:
        self.catalog: Catalog | None = None
        self.found: dict[Any, Plan | None] = {}
        self.seen: set[Any] = set()

    def clear(self, catalog: Catalog) -> None:
        self.found, self.seen, self.catalog = {}, set(), catalog


class _Fails(Exception):
    """An expression of a plan has failed."""


def run_prepared(session: Session, text: str, parameters: Parameters, pending: bool | None) -> Result | None:
    """Runs a statement by its plan; None, if it has none. `pending` says which state a query reads; None: any statement may run."""
    plans = session.plans
    if plans.catalog is not session.catalog:
        return None
    signature = sign(parameters)
    if signature is None:
        return None
    plan = plans.found.get((text, signature[0]))
    if plan is None or (pending is not None and isinstance(plan.statement, Modify)):
        return None
    try:
        if isinstance(plan.statement, Select):
            return _select(session, plan, plan.statement, signature[1], bool(pending))
        return _modify(session, plan, plan.statement, signature[1])
    except _Fails:
        return None


def prepare(session: Session, text: str, parameters: Parameters, statement: object) -> None:
    """Makes a plan for a statement that has been run, if its text was seen before and a plan is possible."""
    if not isinstance(statement, Select | Modify) or may_read_clock(text):
        return
    plans = session.plans
    if plans.catalog is not session.catalog or len(plans.found) > MOST or len(plans.seen) > MOST:
        plans.clear(session.catalog)
    signature = sign(parameters)
    if signature is None:
        return
    key = text, signature[0]
    if key not in plans.seen:
        plans.seen.add(key)
    elif key not in plans.found:
        plans.found[key] = _plan(session, text, parameters, statement)


# --- parameters --------------------------------------------------------------------------------------------


def sign(parameters: Parameters) -> tuple[tuple[Any, ...], Row] | None:
    """The types of parameters, which a plan is found by, and their values inside; None of what is refused anyway."""
    if not parameters:
        return (), ()
    if isinstance(parameters, Mapping):
        names: tuple[Any, ...] = tuple(parameters)
        given: Any = parameters.values()
    elif type(parameters) is list or type(parameters) is tuple:
        names, given = (), parameters
    else:
        return None
    kinds: list[Any] = [names]
    values: list[Any] = []
    for value in given:
        kind = type(value)
        if kind is int:
            kinds.append(1 if -(1 << 31) <= value < 1 << 31 else 2)
        elif value is None or (kind is str and value.isascii()):
            kinds.append(kind)
        else:
            try:
                literal = constant("", value)
            except EvercurrentError:
                return None
            kinds.append(literal.type)
            value = literal.value
        values.append(value)
    return tuple(kinds), tuple(values)


# --- making ------------------------------------------------------------------------------------------------


def _plan(session: Session, text: str, parameters: Parameters, statement: Select | Modify) -> Plan | None:
    constants: dict[str, Literal] = {}

    def make(name: str, value: Any) -> Term:
        constants[name] = made = constant(name, value)
        return Variable(name, made.type, nullable=True)

    try:
        template = parse_statement(text, session.catalog, "incremental", parameters, make)
    except EvercurrentError:
        return None
    if not isinstance(template, Select | Modify) or type(template) is not type(statement):
        return None
    if isinstance(template, Modify) and (template.conflict is not None or template.returning is not None):
        return None
    query, original = _query(template), _query(statement)
    if _depends_on_constants(query) or _put_in(query, constants) != original:
        return None
    names = [f":{name}" for name in parameters] if isinstance(parameters, Mapping) else list(constants)
    find = (
        _prepare_values(query, names) if isinstance(query, Values) else _prepare_query(session, query, names)
    )
    if find is None:
        return None
    shown: tuple[Member, ...] = ()
    if isinstance(template, Select):
        pairs = zip(template.names, query.fields, strict=False)
        shown = tuple(Member(name, f.type, f.nullable) for name, f in pairs)
    return Plan(session.catalog, template, find, shown)


def _query(statement: Select | Modify) -> Query:
    return statement.ordered.query if isinstance(statement, Select) else statement.query


def _depends_on_constants(query: Query) -> bool:
    """Whether a parameter is the argument of a function whose type depends on the value of a constant."""
    for node in nodes(query):
        if isinstance(node, Call) and FUNCTIONS[node.function].refine is not None:
            inside = (a.of if isinstance(a, Cast) else a for a in node.args)
            if any(isinstance(a, Variable) and is_parameter(a.name) for a in inside):
                return True
    return False


def _put_in(query: Query, constants: Mapping[str, Literal]) -> Query:
    """The query with constants for parameters, simplified as a front end would have."""

    def on_term(term: Term) -> Term:
        match term:
            case Variable(name) if name in constants:
                return constants[name]
            case Cast(of, type, strict):
                return build.cast(of, type, strict=strict)
            case Call():
                return simplify_node(term)
            case _:
                return term

    return rewrite(query, lambda q: q, on_term)


def _is_plain(term: Term) -> bool:
    return not any(isinstance(t, Nested) for t in term_nodes(term))


def _over_columns(term: Term, variable: str) -> Term:
    """The term over the columns of a row and of the parameters, instead of variables."""

    def on_term(t: Term) -> Term:
        match t:
            case Field(Column(name, _, _), field, type, nullable) if name == f"\0{variable}":
                return Column(f"\0{field}", type, nullable)
            case Variable(name, type, nullable) if name == variable:
                return Column(f"\0{variable}", type, nullable)
            case Variable(name, type, nullable) if is_parameter(name):
                return Column(name, type, nullable)
            case _:
                return t

    return rewrite_term(term, on_term)


def _parameter_columns(query: Query, names: Sequence[str]) -> list[Column]:
    types = {n.name: n for n in nodes(query) if isinstance(n, Variable)}
    found = [types.get(name) for name in names]
    return [
        Column(n, v.type if v is not None else build.null().type) for n, v in zip(names, found, strict=True)
    ]


def _prepare_values(query: Values, names: Sequence[str]) -> Find | None:
    """INSERT of VALUES: rows of functions of the parameters."""
    if not all(_is_plain(term) for row in query.rows for term in row):
        return None
    columns = _parameter_columns(query, names)
    functions = [row_function(columns, [_over_columns(term, "") for term in row]) for row in query.rows]

    def find(session: Session, values: Row, pending: bool) -> Entries:
        return [(function(values), 1) for function in functions]

    return find


def _prepare_query(session: Session, query: Query, names: Sequence[str]) -> Find | None:
    """A query all of whose rows are looked up."""
    from evercurrent.session.target import plan_statement

    access = plan_statement(session, query)
    if access.scanned or not access.lookups:
        return None
    simple = _by_key(access, names)
    if simple is not None:
        return simple

    def find(session: Session, values: Row, pending: bool) -> Entries:
        parameters = dict(zip(names, values, strict=True))
        parts = Lookups(session, pending).parts(access, parameters)
        return list(evaluate(access.query, lambda name: parts[name].items(), parameters).items())

    return find


def _by_key(access: AccessPlan, names: Sequence[str]) -> Find | None:
    """The rows of one table under a key, filtered and computed by functions of the row and the parameters."""
    query = access.query
    if not isinstance(query, Comprehension) or query.monoid != "bag" or len(access.lookups) != 1:
        return None
    (lookup,) = access.lookups
    generators = [q for q in query.qualifiers if isinstance(q, Generator)]
    filters = [q.condition for q in query.qualifiers if isinstance(q, Filter)]
    if len(generators) != 1 or len(generators) + len(filters) != len(query.qualifiers):
        return None
    if not all(map(_is_plain, (*query.head, *filters))):
        return None
    variable, fields = generators[0].variable.name, generators[0].source.fields
    given = _parameter_columns(query, names)
    columns = [Column(f"\0{f.name}", f.type, f.nullable) for f in fields] + given
    head = [_over_columns(term, variable) for term in query.head]
    if any(
        isinstance(t, Variable | Field) or Column(f"\0{variable}", t.type) == t
        for term in head
        for t in term_nodes(term)
    ):
        return None
    holds = row_function(columns, [_over_columns(build.conjunction(filters), variable)])
    output = row_function(columns, head)
    limits = [limit for limit in (lookup.low, lookup.high) if limit is not None]
    looked_up = [term for terms in lookup.equal for term in terms] + [term for term, _ in limits]
    keys = row_function(given, [_over_columns(term, "") for term in looked_up])
    widths = [len(terms) for terms in lookup.equal]
    table = lookup.table.lower()

    def find(session: Session, values: Row, pending: bool) -> Entries:
        store = session.stores[table]
        transaction = session.transaction if pending else None
        change = None if transaction is None else transaction.pending_change(table)
        wanted = list(keys(values))
        low = high = None
        if lookup.high is not None:
            high = (wanted.pop(), lookup.high[1])
        if lookup.low is not None:
            low = (wanted.pop(), lookup.low[1])
        if (low is not None and low[0] is None) or (high is not None and high[0] is None):
            return []
        choices, at = [], 0
        for width in widths:
            choices.append(wanted[at : at + width])
            at += width
        count = store.count if change is None else change.count
        return [
            (output(row + values), count(row))
            for prefix in dict.fromkeys(product(*choices))
            if None not in prefix
            for row in find_rows(store, change, lookup, prefix, low, high)
            if holds(row + values)[0] is True
        ]

    return find


# --- running -----------------------------------------------------------------------------------------------


def _entries(session: Session, plan: Plan, values: Row, pending: bool) -> Entries:
    if session.catalog is not plan.catalog:
        raise _Fails
    try:
        return plan.find(session, values, pending)
    except EvaluationError as error:
        raise _Fails from error


def _select(session: Session, plan: Plan, statement: Select, values: Row, pending: bool) -> Result:
    with session.lock:
        entries = _entries(session, plan, values, pending)
    rows = [row for row, weight in entries for _ in range(weight)]
    ordered = statement.ordered
    if ordered.order:
        rows = order_rows(rows, ordered.query.fields, ordered.order)
    if len(plan.shown) < len(ordered.query.fields):
        rows = [row[: len(plan.shown)] for row in rows]
    return Result("SELECT", len(rows), plan.shown, rows)


def _modify(session: Session, plan: Plan, statement: Modify, values: Row) -> Result:
    with session.lock:
        if session.transaction is None and _small(session, plan, statement, values):
            return Result(statement.kind.upper(), 1)
    with session.changing() as transaction:
        count = _change(session, transaction, plan, statement, values)
    return Result(statement.kind.upper(), count)


def _small(session: Session, plan: Plan, statement: Modify, values: Row) -> bool:
    """Makes the change of a single row the short way, if that is what it is."""
    small = small_change(session, statement.table.lower())
    if small is None:
        return False
    entries = _entries(session, plan, values, False)
    if len(entries) != 1 or entries[0][1] != 1:
        return False
    row = entries[0][0]
    width = len(row) // 2 + 1
    match row[0]:
        case s.INSERT:
            return small.insert(row[width:])
        case s.DELETE:
            return small.delete(row[1:width])
        case s.UPDATE:
            return small.update(row[1:width], row[width:])
        case _:
            return False


def _change(session: Session, transaction: Transaction, plan: Plan, statement: Modify, values: Row) -> int:
    from evercurrent.statements.execute import change_rows

    entries = _entries(session, plan, values, True)
    if statement.kind == "insert" and isinstance(statement.query, Values):
        width = len(entries[0][0]) // 2 + 1
        transaction.change(statement.table.lower(), [(row[width:], 1) for row, _ in entries])
        return len(entries)
    return change_rows(transaction, require_table(session.catalog, statement.table), entries)
