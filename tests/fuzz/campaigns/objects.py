"""Random graphs of objects, OQL queries as views in every mode, and events, compared with the OQL oracle.

The graphs, queries and events are those of `tests/oql`. Views are defined before, among and after the objects; transactions hold
one to five events.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.object_histories import Step, event_as_data, follow, script
from tests.fuzz.shortening import fails_like, shortened
from tests.laws.chooser import Seeded
from tests.oql import schemas
from tests.oql.events import apply, event
from tests.oql.oracle.model import Model
from tests.oql.queries import query

SCHEMAS = ("COMPANY", "SHOP", "ZOO", "ZOO_OF_ARRAYS")
MODES = ("strict", "strict", "lazy", "hybrid")


@dataclass(frozen=True)
class Objects:
    name: str = "objects"
    needs_spark: bool = False
    transactions: int = 40

    def run(self, seed: int, tally: Tally) -> None:
        schema, steps = self.history(seed)
        following = partial(follow, schema)
        try:
            following(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, following))
            raise Difference(str(error), script(schema, short, str(error))) from error

    def history(self, seed: int) -> tuple[str, list[Step]]:
        c = Seeded(seed)
        schema = c.pick(SCHEMAS)
        model = Model(list(getattr(schemas, schema).classes))
        steps: list[Step] = []

        def view(depth: int) -> None:
            name = f"v{sum(s[0] == 'view' for s in steps)}"
            steps.append(("view", name, query(c, model, depth), c.pick(MODES)))

        def change(most: int) -> None:
            events: list[tuple[Any, ...]] = []
            for _ in range(c.number(1, most)):
                e = event(c, model)
                made = apply(model, e)
                events.append(event_as_data(e, 0 if made is None else made.number))
            single = len(events) == 1 and c.chance(70)
            steps.append(("change", "single" if single else "commit", events))

        if c.chance(40):
            view(1)
        for _ in range(c.number(2, 6)):
            change(5)
        for _ in range(c.number(1, 3)):
            view(c.pick((1, 2)))
        for _ in range(self.transactions):
            change(c.pick((1, 3, 5)))
        return schema, steps


CAMPAIGN = Objects()
