"""The adapter of dbt for evercurrent.

connections  what dbt sees of an open database: connections, cursors, errors
databases    which databases are open, and who closes them
impl         what dbt asks of a database: relations, columns, definitions, the catalog
relation     names with a schema, and the kinds of relations
sources      sources of a dbt project as sources of a database
"""

from dbt.adapters.base import AdapterPlugin
from dbt.adapters.evercurrent.connections import EvercurrentConnectionManager, EvercurrentCredentials
from dbt.adapters.evercurrent.databases import share
from dbt.adapters.evercurrent.impl import EvercurrentAdapter
from dbt.include import evercurrent

Plugin = AdapterPlugin(
    adapter=EvercurrentAdapter,  # type: ignore[arg-type]
    credentials=EvercurrentCredentials,
    include_path=evercurrent.PACKAGE_PATH,
)

__all__ = ["EvercurrentAdapter", "EvercurrentConnectionManager", "EvercurrentCredentials", "Plugin", "share"]
