"""DROP: refused where something depends on what is dropped, unless CASCADE takes that along.

A table that refers to a dropped one by a foreign key is not dropped: it loses the foreign key.
"""

from __future__ import annotations

from evercurrent.catalog.lookup import to_drop
from evercurrent.catalog.removal import remove, remove_dependant
from evercurrent.session.installation import defining, install
from evercurrent.session.session import Session


def drop(session: Session, kind: str, name: str, *, quietly: bool, cascade: bool) -> None:
    """DROP TABLE, VIEW or ASSERTION [IF EXISTS] [CASCADE]."""
    with defining(session):
        catalog = session.catalog
        gone = to_drop(catalog, kind, name, quietly=quietly, cascade=cascade)
        if gone is None:
            return
        for dependant in gone:
            catalog = remove_dependant(catalog, dependant, name)
        catalog = remove(catalog, kind, name)
        install(session, catalog)
