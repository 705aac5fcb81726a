"""The macros of the adapter, which dbt reads as a project of its own."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
