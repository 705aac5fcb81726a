"""ON CONFLICT and RETURNING: what an INSERT does with a key that is there, and which rows a change returns.

    t has (1, 2)      INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n RETURNING n
                      t has (1, 7), and (7) is returned

`excluded` is the row that was to be inserted. Both are terms over the columns of one row, so they see no other rows.
"""

from __future__ import annotations

from sqlglot import exp

from evercurrent.catalog.nodes import Table
from evercurrent.frontend.sql import expressions
from evercurrent.frontend.sql.naming import name_for
from evercurrent.frontend.sql.scope import Env, Rows, Visible
from evercurrent.frontend.sql.statements import Conflict, Returning
from evercurrent.term.nodes import Column, Term


def conflict(env: Env, node: exp.Insert, table: Table) -> Conflict | None:
    """ON CONFLICT [(key)] DO NOTHING or DO UPDATE SET ...; INSERT OR REPLACE; INSERT OR IGNORE."""
    alternative = str(node.args.get("alternative") or "").upper()
    if alternative not in ("", "REPLACE", "IGNORE"):
        raise env.unsupported_error(
            f"INSERT OR {alternative}", node, hint="INSERT ... ON CONFLICT says what to do"
        )
    if alternative or node.args.get("ignore"):
        _require_key(env, node, table)
        return Conflict(replaces=alternative == "REPLACE")
    found = node.args.get("conflict")
    if found is None:
        return None
    if found.args.get("duplicate") or found.args.get("constraint"):
        what = "ON DUPLICATE KEY" if found.args.get("duplicate") else "ON CONFLICT ON CONSTRAINT"
        raise env.unsupported_error(what, node, hint="ON CONFLICT (columns of the key) DO UPDATE SET ...")
    columns = _key(env, found, table)
    _require_key(env, node, table)
    action = found.args.get("action")
    if action is not None and action.name.upper() == "DO NOTHING":
        return Conflict(columns)
    if not columns:
        key = table.primary_key
        if key is None:
            raise env.wrong(
                "DO UPDATE needs the key that is meant", node, hint="ON CONFLICT (column) DO UPDATE ..."
            )
        columns = key.columns
    return _read_update(env, node, found, table, columns)


def _read_update(
    env: Env, node: exp.Insert, found: exp.OnConflict, table: Table, columns: tuple[str, ...]
) -> Conflict:
    from evercurrent.frontend.sql.dml import assign

    for part in (*found.expressions, *filter(None, [found.args.get("where")])):
        _refuse_queries(env, part, "ON CONFLICT")
    alias = node.this.alias if isinstance(node.this, exp.Table) else ""
    own = (alias,) if alias else tuple(table.name.split("."))
    old = [Visible(c.name, Column(f"old.{c.name}", c.type, c.nullable), own) for c in table.columns]
    new = [
        Visible(c.name, Column(f"new.{c.name}", c.type, c.nullable), ("excluded",), bare=False)
        for c in table.columns
    ]
    level = Rows(env.within(None), [*old, *new], "ON CONFLICT")
    update = assign(level, table, [v.term for v in old], found.expressions, found)
    where = found.args.get("where")
    condition = None if where is None else expressions.condition(level, where.this, "WHERE")
    return Conflict(columns, update, condition)


def _key(env: Env, found: exp.OnConflict, table: Table) -> tuple[str, ...]:
    """The columns of the key that ON CONFLICT names."""
    listed = [k.this if isinstance(k, exp.Ordered) else k for k in found.args.get("conflict_keys") or ()]
    names = [k.name for k in listed]
    if not names:
        return ()
    for key in (table.primary_key, *table.unique):
        if key is not None and {c.lower() for c in key.columns} == {n.lower() for n in names}:
            return key.columns
    keys = [f"({', '.join(k.columns)})" for k in (table.primary_key, *table.unique) if k is not None]
    hint = f"its keys are {', '.join(keys)}" if keys else "declare PRIMARY KEY or UNIQUE"
    raise env.wrong(f"({', '.join(names)}) is not a key of {table.name}", listed[0], found, hint=hint)


def _require_key(env: Env, node: exp.Expr, table: Table) -> None:
    if table.primary_key is None and not table.unique:
        raise env.wrong(
            f"{table.name} has no key, so no row can conflict", node, hint="declare PRIMARY KEY or UNIQUE"
        )


def read_returning(env: Env, node: exp.Expr, table: Table) -> Returning | None:
    """RETURNING, over the new row of an INSERT or UPDATE and the old one of a DELETE."""
    found = node.args.get("returning")
    if found is None:
        return None
    level = Rows(
        env.within(None),
        [
            Visible(c.name, Column(c.name, c.type, c.nullable), tuple(table.name.split(".")))
            for c in table.columns
        ],
        "RETURNING",
    )
    names: list[str] = []
    terms: list[Term] = []
    for item in found.expressions:
        _refuse_queries(env, item, "RETURNING")
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            names += [v.name for v in level.visible]
            terms += [v.term for v in level.visible]
            continue
        names.append(item.alias if isinstance(item, exp.Alias) else name_for(item))
        terms.append(expressions.term(level, item.this if isinstance(item, exp.Alias) else item))
    return Returning(tuple(names), tuple(terms))


def _refuse_queries(env: Env, node: exp.Expr, where: str) -> None:
    inner = node.find(exp.Query)
    if inner is not None:
        raise env.unsupported_error(f"a query in {where}", inner, node)
