"""The programs of Kafka, and Spark's connector for it, fetched from Maven's repository into `.data/kafka`.

python -m tests.kafka.jars         fetches what is missing; says why if it cannot
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / ".data" / "kafka"
KAFKA = "4.3.1"
SPARK = "4.0.0"
"""The newest Spark of which the connector, its part for tokens and the module for Avro were found together."""
GROUPS = {
    "broker": [("org.apache.kafka", "kafka_2.13", KAFKA), ("org.apache.kafka", "kafka-tools", KAFKA)],
    "connector": [
        ("org.apache.spark", "spark-sql-kafka-0-10_2.13", SPARK),
        ("org.apache.spark", "spark-avro_2.13", SPARK),
    ],
}
CONNECTOR = ("spark-sql-kafka", "spark-avro", "spark-token-provider", "kafka-clients", "commons-pool2")
"""What Spark itself does not have of it."""
SECONDS = 900


def fetch(group: str) -> str | None:
    """Fetches the jars of a group, unless they are there; returns why it cannot."""
    if folder(group).exists():
        return None
    if shutil.which("mvn") is None:
        return "there is no mvn: install Maven, which fetches Kafka"
    work = ROOT / f"{group}.pom"
    work.mkdir(parents=True, exist_ok=True)
    wanted = "".join(
        f"<dependency><groupId>{g}</groupId><artifactId>{a}</artifactId><version>{v}</version></dependency>"
        for g, a, v in GROUPS[group]
    )
    (work / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>evercurrent</groupId><artifactId>fetched</artifactId><version>1</version>"
        f"<dependencies>{wanted}</dependencies></project>",
        encoding="utf-8",
    )
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
    done = subprocess.run(
        [*command, f"-DoutputDirectory={work / 'jars'}"],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        return f"Maven cannot fetch {group}: {(said or ['no reason'])[0][:300]}"
    (work / "jars").rename(folder(group))
    return None


def folder(group: str) -> Path:
    return ROOT / f"{group}-{KAFKA if group == 'broker' else SPARK}"


def missing() -> str | None:
    """Why the tests cannot run; None if they can."""
    for group in GROUPS:
        if not folder(group).exists():
            return "Kafka has not been fetched: make test-kafka fetches it"
    return None


def connector() -> str:
    """The jars of Spark's connector, as `spark.jars` names them."""
    return ",".join(str(p) for p in sorted(folder("connector").glob("*.jar")) if p.name.startswith(CONNECTOR))


if __name__ == "__main__":
    for each in GROUPS:
        problem = fetch(each)
        if problem is not None:
            print(f"skipped: {problem}", file=sys.stderr)
            raise SystemExit(75)
