"""The stages of keyed relations as source: what has changed in the touched groups, and which of that may wait.

def stage_4():      f(new) - f(old) for the touched keys, and the rules that follow
def sift_4():       the same for rows that come or go; rows of which an attribute changed wait in `late4` (see `delta.attributes`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercurrent.data.types import Reference
from evercurrent.delta.program import Finalize, Keyed
from evercurrent.engine.live.keyed import is_unit
from evercurrent.term.emit.writer import Writer

if TYPE_CHECKING:
    from evercurrent.engine.live.emit import Emitter


def write_changes_of_keys(e: Emitter, w: Writer, r: Keyed) -> None:
    """f(new) - f(old) for the touched keys, into `delta`."""
    n = e.numbers[r.name]
    if r.name in e.checked:
        with w.block(f"for key in t{n}:"):
            w.line(f"p = {e.states[r.state][0]}.get(key)")
            with w.block("if p is not None:"):
                w.line(f"output_{n}(key, p)")
        return
    if not isinstance(r.function, Finalize):
        with w.block(f"for key, old in t{n}.items():"):
            w.line(f"g{n}.change(key, old, delta)")
        return
    if r.name in e.attributes:
        w.line(f"t{n}.update(late{n})")
        w.line(f"late{n}.clear()")
    unit = is_unit(r, e.storages[r.state].layout)
    with w.block(f"for key, old in t{n}.items():"):
        _write_new(e, w, r)
        with w.block("if new != old:"):
            for name, sign in (("old", "-"), ("new", "+")):
                with w.block(f"if {name} is not None:"):
                    row, many = (name, "1") if unit else ("row", "m")
                    if not unit:
                        w.line(f"row, m = {name}")
                    w.line(f"c = delta.get({row}, 0) {sign} {many}")
                    with w.block("if c:"):
                        w.line(f"delta[{row}] = c")
                    with w.block("else:"):
                        w.line(f"del delta[{row}]")


def _write_new(e: Emitter, w: Writer, r: Keyed) -> None:
    w.line(f"p = {e.states[r.state][0]}.get(key)")
    w.line(f"new = None if p is None else output_{e.numbers[r.name]}(key, p)")


def write_sift(e: Emitter, w: Writer, r: Keyed, journal: bool) -> None:
    """Delivers rows that come or go, or refer to something else than before; lets the other changes wait.

    `late` has the rows that were last delivered, by key. Whatever changes in it can be undone.
    """
    n = e.numbers[r.name]
    late = f"late{n}"
    other = [f" or old[{i}] != new[{i}]" for i, c in enumerate(r.columns) if isinstance(c.type, Reference)]
    with w.block(f"def sift_{n}():"):
        w.line("delta = {}")
        with w.block(f"for key, old in t{n}.items():"):
            _write_new(e, w, r)
            with w.block(f"if old is None or new is None{''.join(other)}:"):
                with w.block(f"if key in {late}:"):
                    w.line(f"old = {late}[key]")
                    if journal:
                        w.line(f"journal(({late}, key, old))")
                    w.line(f"del {late}[key]")
                with w.block("if old != new:"):
                    with w.block("if old is not None:"):
                        w.line("delta[old] = -1")
                    with w.block("if new is not None:"):
                        w.line("delta[new] = 1")
            with w.block(f"elif key not in {late}:"):
                if journal:
                    w.line(f"journal(({late}, key, None))")
                w.line(f"{late}[key] = old")
        w.line(f"t{n}.clear()")
        with w.block("if delta:"):
            w.line(f"run_{n}(deletions_first(delta))")
    w.line()
