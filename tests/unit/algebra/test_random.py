"""Random queries of the calculus: lowered, normalised or not, and optimised, they mean what the reference evaluator says."""

from __future__ import annotations

from random import Random

import pytest

from evercurrent.algebra.check import check
from evercurrent.algebra.evaluate import evaluate
from evercurrent.algebra.lower import lower
from evercurrent.algebra.optimise import BATCHES
from evercurrent.algebra.show import show
from evercurrent.calculus.evaluate import evaluate as reference
from evercurrent.calculus.normalize import normalize
from evercurrent.catalog.catalog import Catalog
from evercurrent.rewriting import run
from tests.unit.algebra.plans import outcome
from tests.unit.calculus.random_queries import random_data, random_query

ONCE_WRONG = [5067, 7010, 7066, 7139]
"""Seeds that have found mistakes."""


@pytest.mark.parametrize("seed", [*range(60), *ONCE_WRONG])
def test_random_query(seed: int) -> None:
    rng = Random(seed)
    query = random_query(rng, 3)
    plain = check(lower(query))
    normal = check(lower(normalize(query)))
    best = run(BATCHES, normal, Catalog(), check=check)
    for _ in range(3):
        relations = random_data(rng)
        expected = outcome(lambda: reference(query, lambda n: relations[n].items()))  # noqa: B023
        for plan in (plain, normal, best):
            found = outcome(lambda: evaluate(plan, lambda n: relations[n].items()))  # noqa: B023
            if not (isinstance(expected, str) and isinstance(found, str)):
                assert found == expected, f"seed {seed}\n{show(plan)}\n{relations}"
