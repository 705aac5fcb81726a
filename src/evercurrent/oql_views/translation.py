"""The translation of OQL over a catalog: its macros, imports and operations are known to it.

views(context_of(catalog), "older", statement.body, statement.text)      the views of a definition
"""

from __future__ import annotations

from typing import cast

from evercurrent.catalog.catalog import Catalog
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.context import Context
from evercurrent.frontend.oql.parse import parse
from evercurrent.oql_views.methods import capture_for


def context_of(catalog: Catalog) -> Context:
    """Returns a new translation over a catalog."""
    macros = {name: cast(syntax.Define, parse(text)[0]) for name, text in catalog.macros.items()}
    return Context(catalog, macros, catalog.aliases, capture=capture_for(catalog.schema))
