"""From the definitions that a version keeps to its catalog and program.

open_version(core, 7)      the driver is at version 7 from now on
"""

from __future__ import annotations

from evercurrent.definitions.reading import catalog_of
from evercurrent.design.compile import Design
from evercurrent.errors import EvercurrentError, StorageError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.drafts import compile_catalog
from evercurrent.warehouse.maintenance.publish import publish
from evercurrent.warehouse.version import Version


def open_version(core: Core, version: int) -> None:
    """Goes to a version: reads its definitions and compiles them."""
    snapshot = core.engine.log.snapshot(version)
    try:
        catalog = catalog_of(snapshot.definitions, core.functions)
        compiled = compile_catalog(catalog, Design())
    except EvercurrentError:
        raise
    except Exception as problem:  # a definition that we have not written can be wrong in any way
        raise StorageError(
            f"the definitions of version {version} cannot be read: {type(problem).__name__}: {problem}"
        ) from problem
    core.install(Version(version, compiled, snapshot))
    core.published.clear()
    publish(core)
