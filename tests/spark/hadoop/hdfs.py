"""A small cluster of HDFS in this process, from the jar that `make hdfs-jar` fetches, and a warehouse on it.

python -m tests.spark.hadoop.hdfs JAR FOLDER
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

VERSION = "3.5.0"


def jar() -> Path:
    """Where the jar lies that Maven has fetched."""
    local = Path(os.environ.get("MAVEN_REPOSITORY", Path.home() / ".m2" / "repository"))
    name = f"hadoop-client-minicluster-{VERSION}.jar"
    return local / "org" / "apache" / "hadoop" / "hadoop-client-minicluster" / VERSION / name


def cluster(spark: Any, folder: Path) -> Any:
    """Start a name node and a data node, on loopback."""
    jvm = spark._jvm
    conf = jvm.org.apache.hadoop.hdfs.HdfsConfiguration()
    conf.set("hdfs.minidfs.basedir", str(folder / "hdfs"))
    conf.set("dfs.namenode.http-address", "127.0.0.1:0")
    conf.set("dfs.datanode.http.address", "127.0.0.1:0")
    made = jvm.org.apache.hadoop.hdfs.MiniDFSCluster.Builder(conf).numDataNodes(1).build()
    made.waitActive()
    return made


def main(folder: Path) -> None:
    from pyspark.sql import SparkSession

    from tests.spark.hadoop.exercise import look_at_files, race, use_a_warehouse

    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraClassPath", str(jar()))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    found = cluster(spark, folder)
    try:
        url = f"hdfs://127.0.0.1:{found.getNameNodePort()}"
        for name, step in (("operations", look_at_files), ("race", race), ("warehouse", use_a_warehouse)):
            begin = time.perf_counter()
            step(spark, f"{url}/{name}", {})
            print(f"{name}: {time.perf_counter() - begin:.1f} s", flush=True)
    finally:
        found.shutdown()
        spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
