"""Statements that are not supported, each with what to use instead.

>>> INSTEAD["SAVEPOINT"]
'there are no savepoints: ROLLBACK undoes the whole transaction'
"""

from __future__ import annotations

from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.sql.syntax import Tokens

INSTEAD = {
    "ANALYZE": "there are no statistics to collect: plans do not depend on them",
    "ATTACH": "ec.connect() opens another database; rows go from one to the other with table.insert(other.table(...))",
    "CACHE": "a view is kept in memory already",
    "CALL": "db.execute runs statements, and functions are part of queries",
    "CHECKPOINT": "every transaction is complete when it is committed",
    "COMMENT": "keep what there is to say beside the statement",
    "DECLARE": "parameters carry values: db.execute(text, {'name': value})",
    "DETACH": "db.close() ends the use of a database",
    "EXECUTE": "db.execute(text, parameters) runs a statement with other values each time",
    "GRANT": "whoever has the database object may do everything with it",
    "LISTEN": "db.view(name).subscribe(function) calls a function for each change",
    "KILL": "an interrupt of the process undoes the transaction that is open",
    "LOAD": "COPY table FROM 'path', or db.create_table(name, frame)",
    "LOCK": "a transaction holds the database from its beginning to its end",
    "OPTIMIZE": "db.compact() merges files, on Spark",
    "PRAGMA": "the options of a database are arguments of ec.connect",
    "PREPARE": "db.execute(text, parameters) runs a statement with other values each time",
    "REFRESH": "views are always current; db.refresh() takes in the changes of sources",
    "REINDEX": "keys and views are indexed at all times",
    "RELEASE": "there are no savepoints: ROLLBACK undoes the whole transaction",
    "REPLACE": "INSERT OR REPLACE INTO, or INSERT ... ON CONFLICT (key) DO UPDATE SET ...",
    "RESET": "the options of a database are arguments of ec.connect",
    "REVOKE": "whoever has the database object may do everything with it",
    "SAVEPOINT": "there are no savepoints: ROLLBACK undoes the whole transaction",
    "SUBSCRIBE": "db.view(name).subscribe(function), or `async for change in db.view(name).changes()`",
    "SUMMARIZE": "DESCRIBE name says what the columns are; db[name].to_pandas().describe() summarises them",
    "TAIL": "db.view(name).subscribe(function) calls a function for each change",
    "SET": "options are arguments of methods, and values are parameters: db.execute(text, {'name': value})",
    "UNCACHE": "a view is kept in memory already",
    "UNLISTEN": "subscription.cancel() ends a subscription",
    "USE": "there is one schema; a name with a dot is a name",
    "VACUUM": "db.vacuum() removes the files of old versions, on Spark",
}


CREATE = {
    "TRIGGER": 'db.table(name).subscribe(function) calls a function after each transaction; when="before" may refuse it',
    "TYPE": "declare the columns with the types that there are; CHECK (c IN ('a', 'b')) restricts the values of one",
    "SINK": "db.serve() serves views, db.publish(view) writes Delta tables on Spark",
    "SOURCE": "db.source(name, ...) reads what others write",
}


def refuse_early(tokens: Tokens) -> None:
    """Refuses a statement that the grammar may not know at all."""
    if tokens.word(0) == "CREATE" and tokens.word(1) in CREATE:
        what = tokens.word(1)
        raise UnsupportedError(f"CREATE {what} is not supported", place=tokens.place(0), hint=CREATE[what])
    if tokens.word(0) in INSTEAD:
        raise refusal_error(tokens)


def refusal_error(tokens: Tokens) -> QueryError | UnsupportedError:
    """Returns the error of a statement that is not supported, or is none."""
    word = tokens.word(0)
    if word in INSTEAD:
        return UnsupportedError(f"{word} is not supported", place=tokens.place(0), hint=INSTEAD[word])
    return QueryError(
        "this is not a statement",
        place=tokens.place(0),
        hint="statements begin with SELECT, INSERT, UPDATE, DELETE, MERGE, CREATE, DROP, ALTER, COPY, SHOW or EXPLAIN",
    )
