"""`python -m tools.reference` writes the reference pages."""

from tools.reference.pages import write

write()
