"""CREATE TABLE: columns and constraints.

    CREATE TABLE orders (
        id BIGINT PRIMARY KEY,                                  Unique("orders_pk", ("id",))
        customer BIGINT NOT NULL REFERENCES customers,          ForeignKey("orders_fk_1", ("customer",), "customers", ("id",))
        total DECIMAL(12,2) DEFAULT 0 CHECK (total >= 0),       a default, and a Check
        CONSTRAINT dated UNIQUE (customer, id))                 Unique("dated", ("customer", "id"))
    WITH (stored = false)                                       Table("orders", ..., stored=False)

Options stand behind WITH.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from evercurrent.catalog.nodes import Check, ForeignKey, Table, TableColumn, Unique
from evercurrent.data.types import Map, Type
from evercurrent.errors import QueryError
from evercurrent.frontend.sql import expressions
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.scope import Env, Rows, Visible
from evercurrent.frontend.sql.types import UnknownType, type_of
from evercurrent.term import build
from evercurrent.term.nodes import Column, Literal, Term


def require_table(env: Env, name: str, node: exp.Expr | None) -> Table:
    """A table of the catalog, to be changed."""
    found = env.catalog.table(name)
    if found is None:
        if env.catalog.view(name) is not None:
            raise env.wrong(f"{name} is a view; only tables can be changed", node)
        hint = suggestion(name, [t.name for t in env.catalog.tables.values()])
        raise env.wrong(f"there is no table {name}", node, hint=hint)
    return found


@dataclass(slots=True)
class Draft:
    """A table while its definition is read."""

    name: str
    columns: list[TableColumn] = field(default_factory=list)
    keys: list[tuple[Unique, exp.Expr]] = field(default_factory=list)
    unique: list[tuple[Unique, exp.Expr]] = field(default_factory=list)
    references: list[tuple[str | None, list[str], exp.Reference, exp.Expr]] = field(default_factory=list)
    checks: list[tuple[str | None, exp.Expr]] = field(default_factory=list)


def table(env: Env, node: exp.Create, options: dict[str, str]) -> Table:
    if not isinstance(node.this, exp.Schema):
        raise env.wrong("a table needs its columns in parentheses", node)
    target = node.this.this
    draft = Draft(".".join(p.name for p in target.parts))
    for element in node.this.expressions:
        _element(env, draft, element)
    _check_names(env, draft, node)
    if len(draft.keys) > 1:
        raise env.wrong("a table has one primary key at most", draft.keys[1][1], node)
    for unique, at in (*draft.keys, *draft.unique):
        _check_columns(env, draft, unique.columns, at)
        for column in unique.columns:
            if isinstance(_type_of(draft, column), Map):
                raise env.wrong(f"{column} is a MAP, which cannot be part of a key", at)
    key = draft.keys[0][0] if draft.keys else None
    required = {c.lower() for c in key.columns} if key else set()
    columns = tuple(
        TableColumn(c.name, c.type, c.nullable and c.name.lower() not in required, c.default)
        for c in draft.columns
    )
    stored = _is_stored(env, options, node)
    spelling = {c.name.lower(): c.name for c in draft.columns}

    def spell(key: Unique) -> Unique:
        return Unique(key.name, tuple(spelling[c.lower()] for c in key.columns))

    return Table(
        draft.name,
        columns,
        None if key is None else spell(key),
        tuple(spell(u) for u, _ in draft.unique),
        tuple(_foreign_key(env, draft, i, r, key) for i, r in enumerate(draft.references, 1)),
        tuple(_check(env, draft, i, name, at) for i, (name, at) in enumerate(draft.checks, 1)),
        stored,
    )


def _is_stored(env: Env, options: dict[str, str], node: exp.Create) -> bool:
    value = options.get("stored", "true")
    if value not in ("true", "false"):
        raise env.wrong("stored is true or false", node.args.get("properties"), node)
    return value == "true"


def _type_of(draft: Draft, name: str) -> Type:
    return next(c.type for c in draft.columns if c.name.lower() == name.lower())


def _check_names(env: Env, draft: Draft, node: exp.Create) -> None:
    if not draft.columns:
        raise env.wrong("a table needs at least one column", node)
    seen: set[str] = set()
    for column in draft.columns:
        if column.name.lower() in seen:
            raise env.wrong(f"two columns are called {column.name}", node)
        seen.add(column.name.lower())


def _check_columns(env: Env, draft: Draft, columns: Sequence[str], at: exp.Expr) -> None:
    known = [c.name for c in draft.columns]
    for column in columns:
        if column.lower() not in (k.lower() for k in known):
            raise env.wrong(
                f"there is no column {column} in {draft.name}", at, hint=suggestion(column, known)
            )
    if len({c.lower() for c in columns}) != len(columns):
        raise env.wrong("this key lists a column twice", at)


# --- elements ------------------------------------------------------------------------------------------------


def _element(env: Env, draft: Draft, element: exp.Expr) -> None:
    match element:
        case exp.ColumnDef():
            _column(env, draft, element)
        case exp.Constraint():
            for part in element.expressions:
                _constraint(env, draft, part, element.name, element)
        case _:
            _constraint(env, draft, element, None, element)


def _constraint(env: Env, draft: Draft, node: exp.Expr, name: str | None, at: exp.Expr) -> None:
    match node:
        case exp.PrimaryKey():
            columns = tuple(_column_name(c) for c in node.expressions)
            draft.keys.append((Unique(name or f"{draft.name}_pk", columns), at))
        case exp.UniqueColumnConstraint():
            _refuse_equal_nulls(env, node, at)
            listed = node.this.expressions if node.this is not None else []
            columns = tuple(_column_name(c) for c in listed)
            draft.unique.append((Unique(name or f"{draft.name}_unique_{'_'.join(columns)}", columns), at))
        case exp.ForeignKey() if isinstance(node.args.get("reference"), exp.Reference):
            _refuse_actions(env, node, node.args["reference"])
            columns_ = [_column_name(c) for c in node.expressions]
            draft.references.append((name, columns_, node.args["reference"], at))
        case exp.CheckColumnConstraint():
            draft.checks.append((name, node.this))
        case _:
            raise env.unsupported_error(f"'{node.sql(dialect='spark')[:60]}' in CREATE TABLE", node, at)


def _column_name(node: exp.Expr) -> str:
    inner = node.this if isinstance(node, exp.Ordered) else node
    return str(inner.name)


def _refuse_actions(env: Env, node: exp.Expr, reference: exp.Reference) -> None:
    texts = [str(o).upper() for o in reference.args.get("options") or ()]
    texts += [f"ON {k.upper()}" for k in ("delete", "update") if node.args.get(k)]
    for text in texts:
        if text.startswith("ON ") and "NO ACTION" not in text and "RESTRICT" not in text:
            raise env.unsupported_error(f"{text} of a foreign key", node)


def _refuse_equal_nulls(env: Env, constraint: exp.Expr, node: exp.Expr) -> None:
    if constraint.args.get("nulls"):
        raise env.unsupported_error(
            "UNIQUE NULLS NOT DISTINCT",
            node,
            hint="NULLs are distinct from each other; NOT NULL refuses them",
        )


def read_added_column(env: Env, table: str, node: exp.ColumnDef) -> TableColumn:
    """A column that ALTER TABLE adds: it has a type, a default and perhaps NOT NULL, and no other constraint."""
    draft = Draft(table)
    _column(env, draft, node)
    if draft.keys or draft.unique or draft.references or draft.checks:
        raise env.unsupported_error(
            "a key or CHECK on an added column", node, hint="create a table that has it"
        )
    return draft.columns[0]


def _column(env: Env, draft: Draft, node: exp.ColumnDef) -> None:
    name = node.name
    try:
        type_ = type_of(node.args.get("kind"))
    except UnknownType as error:
        if error.unsupported:
            raise env.unsupported_error(error.message, node) from None
        raise env.wrong(error.message, node) from None
    nullable, default = True, None
    for constraint in node.args.get("constraints") or ():
        kind, own = constraint.args.get("kind"), constraint.name or None
        match kind:
            case exp.NotNullColumnConstraint():
                nullable = bool(kind.args.get("allow_null"))
            case exp.PrimaryKeyColumnConstraint():
                draft.keys.append((Unique(own or f"{draft.name}_pk", (name,)), node))
            case exp.UniqueColumnConstraint():
                _refuse_equal_nulls(env, kind, node)
                draft.unique.append((Unique(own or f"{draft.name}_unique_{name}", (name,)), node))
            case exp.DefaultColumnConstraint():
                default = _default(env, kind.this, type_, node)
            case exp.CheckColumnConstraint():
                draft.checks.append((own, kind.this))
            case exp.Reference():
                _refuse_actions(env, node, kind)
                draft.references.append((own, [name], kind, node))
            case exp.CommentColumnConstraint():
                pass
            case _:
                shown = kind.sql(dialect="spark")[:60] if kind is not None else "this"
                raise env.unsupported_error(f"'{shown}' on a column", constraint, node)
    draft.columns.append(TableColumn(name, type_, nullable, default))


def _default(env: Env, node: exp.Expr, type_: Type, at: exp.Expr) -> Term:
    found = build.cast(expressions.term(Rows(env, (), "DEFAULT"), node), type_, place=env.place(node, at))
    if not isinstance(found, Literal):
        raise env.unsupported_error("a DEFAULT that is not constant", node, at)
    return found


# --- constraints that look around ----------------------------------------------------------------------------


def _check(env: Env, draft: Draft, number: int, name: str | None, node: exp.Expr) -> Check:
    visible = [Visible(c.name, Column(c.name, c.type, c.nullable), (draft.name,)) for c in draft.columns]
    subquery = node.find(exp.Query)
    if subquery is not None:
        raise env.unsupported_error("a subquery in CHECK", subquery, node, hint="use CREATE ASSERTION")
    condition = expressions.condition(Rows(env.within(None), visible, "CHECK"), node, "CHECK")
    text = str(node.sql(dialect="spark", normalize_functions=False, comments=False))
    return Check(name or f"{draft.name}_check_{number}", condition, text)


def _foreign_key(
    env: Env,
    draft: Draft,
    number: int,
    found: tuple[str | None, list[str], exp.Reference, exp.Expr],
    own_key: Unique | None,
) -> ForeignKey:
    name, columns, reference, at = found
    _check_columns(env, draft, columns, at)
    target = reference.this
    listed = [_column_name(c) for c in target.expressions] if isinstance(target, exp.Schema) else []
    parent_node = target.this if isinstance(target, exp.Schema) else target
    parent_name = ".".join(p.name for p in parent_node.parts)
    if parent_name.lower() == draft.name.lower():
        parent, fields, keys = (
            draft.name,
            {c.name: c.type for c in draft.columns},
            [own_key, *(u for u, _ in draft.unique)],
        )
    else:
        known = require_table(env, parent_name, parent_node)
        parent, fields = known.name, {c.name: c.type for c in known.columns}
        keys = [known.primary_key, *known.unique]
    parent_columns = _find_referred(env, parent, listed, keys, at)
    if len(parent_columns) != len(columns):
        raise env.wrong(f"{len(columns)} columns cannot refer to {len(parent_columns)}", at)
    lowered = {n.lower(): (n, t) for n, t in fields.items()}
    for mine, theirs in zip(columns, parent_columns, strict=True):
        _check_types(env, draft, mine, lowered[theirs.lower()][1], parent, theirs, at)
    spelled = {c.name.lower(): c.name for c in draft.columns}
    return ForeignKey(
        name or f"{draft.name}_fk_{number}",
        tuple(spelled[c.lower()] for c in columns),
        parent,
        tuple(lowered[c.lower()][0] for c in parent_columns),
    )


def _find_referred(
    env: Env, parent: str, listed: list[str], keys: Sequence[Unique | None], at: exp.Expr
) -> Sequence[str]:
    """The columns that a foreign key refers to: a key of the parent."""
    if not listed:
        if keys[0] is None:
            raise env.wrong(
                f"{parent} has no primary key to refer to", at, hint="name the columns of a UNIQUE key"
            )
        return keys[0].columns
    wanted = {c.lower() for c in listed}
    if not any(k is not None and {c.lower() for c in k.columns} == wanted for k in keys):
        raise env.wrong(
            f"({', '.join(listed)}) is not a key of {parent}",
            at,
            hint="refer to its primary key or a UNIQUE key",
        )
    return listed


def _check_types(
    env: Env, draft: Draft, column: str, other: Type, parent: str, parent_column: str, at: exp.Expr
) -> None:
    mine = _type_of(draft, column)
    try:
        build.common_type([mine, other])
    except QueryError:
        raise env.wrong(f"{column} is {mine}, but {parent}.{parent_column} is {other}", at) from None
