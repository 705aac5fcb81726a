"""A REST catalog and a Hive metastore on loopback, each a JVM that ends with its block.

    with rest_catalog(folder) as uri:           http://127.0.0.1:40123, by Iceberg's own servlet over a catalog in SQLite
    with hive_metastore(folder) as uri:         thrift://127.0.0.1:40124, by Hive's own server, which PySpark contains

Both programs would listen on all addresses if they were started by their own `main`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import JavaGateway

from tests.loopback import PATIENCE, answers, free_port

SPARK_JARS = Path(pyspark.__file__).parent / "jars"
REST_JARS = Path(os.environ.get("EVERCURRENT_ICEBERG_REST_JARS", "-"))


@contextmanager
def jvm_with(classpath: str, log: Path) -> Iterator[Any]:
    """The classes of a JVM of its own."""
    with log.open("w") as out:
        gateway = JavaGateway.launch_gateway(
            jarpath=str(next(SPARK_JARS.glob("py4j-*.jar"))),
            classpath=classpath,
            javaopts=["-Xmx512m"],
            die_on_exit=True,
            redirect_stdout=out,
            redirect_stderr=out,
        )
        try:
            yield gateway.jvm
        finally:
            gateway.shutdown()
            gateway.java_process.kill()
            gateway.java_process.wait()


def wait_for(port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not answers(port):
        if time.monotonic() > deadline:
            raise RuntimeError(f"no answer on port {port}:\n{log.read_text()[-3000:]}")
        time.sleep(0.1)


def java_map(jvm: Any, values: Mapping[str, str]) -> Any:
    made = jvm.java.util.HashMap()
    for key, value in values.items():
        made.put(key, value)
    return made


@contextmanager
def rest_catalog(folder: Path) -> Iterator[str]:
    port, log = free_port(), folder / "rest.log"
    hadoop = os.pathsep.join(str(p) for p in SPARK_JARS.glob("hadoop-client-*.jar"))
    with jvm_with(f"{REST_JARS}/*{os.pathsep}{hadoop}", log) as jvm:
        behind = jvm.org.apache.iceberg.jdbc.JdbcCatalog()
        behind.setConf(jvm.org.apache.hadoop.conf.Configuration())
        place = {"uri": f"jdbc:sqlite:{folder}/catalog.db", "warehouse": f"file://{folder}/tables"}
        behind.initialize("behind", java_map(jvm, {**place, "jdbc.schema-version": "V1"}))
        rest, ee10 = jvm.org.apache.iceberg.rest, jvm.org.eclipse.jetty.ee10.servlet
        handler = ee10.ServletContextHandler()
        handler.addServlet(ee10.ServletHolder(rest.RESTCatalogServlet(rest.RESTCatalogAdapter(behind))), "/*")
        server = jvm.org.eclipse.jetty.server.Server(jvm.java.net.InetSocketAddress("127.0.0.1", port))
        server.setHandler(handler)
        server.start()
        yield f"http://127.0.0.1:{port}"


METASTORE: Mapping[str, str] = {
    "datanucleus.schema.autoCreateTables": "true",
    "hive.metastore.schema.verification": "false",
    "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    "datanucleus.connectionPoolingType": "HikariCP",  # of the pools that Hive knows, PySpark has this one
}


@contextmanager
def hive_metastore(folder: Path) -> Iterator[str]:
    port, log = free_port(), folder / "metastore.log"
    with jvm_with(f"{SPARK_JARS}/*", log) as jvm:
        hive, thrift = jvm.org.apache.hadoop.hive, jvm.org.apache.thrift
        conf = hive.conf.HiveConf()
        for key, value in {**METASTORE, "hive.metastore.warehouse.dir": f"file://{folder}/tables"}.items():
            conf.set(key, value)
        jvm.java.lang.System.setProperty("derby.system.home", str(folder))
        hive.metastore.txn.TxnDbUtil.setConfValues(conf)
        hive.metastore.txn.TxnDbUtil.prepDb(conf)  # the tables of locks, which Iceberg asks for
        store = hive.metastore.HiveMetaStore.HMSHandler("metastore", conf, False)
        handler = hive.metastore.RetryingHMSHandler.getProxy(conf, store, False)
        transport = thrift.transport.TServerSocket(jvm.java.net.InetSocketAddress("127.0.0.1", port))
        arguments = thrift.server.TThreadPoolServer.Args(transport)
        arguments.processor(hive.metastore.TSetIpAddressProcessor(handler))
        server = thrift.server.TThreadPoolServer(arguments)
        serve: Callable[[], None] = server.serve
        threading.Thread(target=serve_until_closed, args=(serve,), daemon=True).start()
        wait_for(port, log)
        yield f"thrift://127.0.0.1:{port}"


def serve_until_closed(serve: Callable[[], None]) -> None:
    try:
        serve()
    except Exception:
        return  # the JVM has ended with its block
