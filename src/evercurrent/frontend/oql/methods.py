"""Operations of classes."""

from __future__ import annotations

from evercurrent.frontend.oql.context import Context, unsupported
from evercurrent.frontend.oql.values import Expr, One
from evercurrent.source import Place


def operation(
    context: Context, object: One, of: str, name: str, args: list[Expr], place: Place | None
) -> Expr:
    raise unsupported(f"the operation {name}", place)
