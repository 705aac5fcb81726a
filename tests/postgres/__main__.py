"""`python -m tests.postgres --kills 100 --server-kills 50`: the campaign of kills, against a server of its own."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.postgres.campaign import run
from tests.postgres.cluster import Cluster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--server-kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="evercurrent_pg", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        cluster = Cluster(Path(folder) / "server")
        try:
            tally = run(cluster, Path(folder) / "shop.db", given.kills, given.server_kills, given.seed)
        finally:
            cluster.stop()
    print(
        f"{tally.writer_kills} kills of the writer and {tally.server_kills} of PostgreSQL, {tally.transactions} transactions: "
        "nothing lost, nothing doubled, nothing half there"
    )


if __name__ == "__main__":
    main()
