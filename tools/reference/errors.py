"""The exception tree, with the docstring of each class."""

from __future__ import annotations

import inspect

from evercurrent import errors
from tools.reference.engine import NOTICE, code, row, table


def classes() -> list[type[Exception]]:
    """The exceptions of the package in the order of the file."""
    found = [c for c in vars(errors).values() if inspect.isclass(c) and c.__module__ == errors.__name__]
    return [c for c in found if issubclass(c, Exception)]


def errors_page() -> str:
    tree = (errors.__doc__ or "").split("\n\n")[1]
    page = [
        "# Errors",
        "",
        NOTICE,
        "",
        "Every error that evercurrent raises on purpose is an `EvercurrentError`. Its message names the thing, shows the place where",
        "there is a text to point into, and says what to do. Where an error is raised, nothing has changed.",
        "",
        "```text",
        inspect.cleandoc(tree),
        "```",
        "",
        *table("class", "kind of", "meaning"),
    ]
    for found in classes():
        meaning = " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split())
        page.append(row(code(found.__name__), code(found.__bases__[0].__name__), meaning))
    page += [
        "",
        "## What an error carries",
        "",
        *table("attribute", "of", "what it is"),
        row(code("message"), "every error", "the first line, without place and hint"),
        row(code("place"), "every error", "the text and the position in it, or None"),
        row(code("hint"), "every error", "what to do, or None"),
        row(code("constraint"), code("ConstraintError"), "the name of the constraint or assertion"),
        row(code("rows"), code("ConstraintError"), "violating rows, at most a sample"),
        row(code("count"), code("ConstraintError"), "how many rows violate it"),
        "",
    ]
    return "\n".join(page)
