"""The four queries of the streams, and the TPC-H tables with and without knowledge.

ORDER BY and LIMIT are left out of the streams, as in the literature on single-row streams: they measure the trigger,
not the reading. The 22 views of `bench.tpch_views` have them.
"""

from __future__ import annotations

import re

COLUMNS = {
    "region": "r_regionkey BIGINT, r_name STRING, r_comment STRING",
    "nation": "n_nationkey BIGINT, n_name STRING, n_regionkey BIGINT, n_comment STRING",
    "supplier": "s_suppkey BIGINT, s_name STRING, s_address STRING, s_nationkey BIGINT, s_phone STRING, "
    "s_acctbal DECIMAL(15,2), s_comment STRING",
    "part": "p_partkey BIGINT, p_name STRING, p_mfgr STRING, p_brand STRING, p_type STRING, p_size INT, "
    "p_container STRING, p_retailprice DECIMAL(15,2), p_comment STRING",
    "partsupp": "ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty INT, ps_supplycost DECIMAL(15,2), "
    "ps_comment STRING",
    "customer": "c_custkey BIGINT, c_name STRING, c_address STRING, c_nationkey BIGINT, c_phone STRING, "
    "c_acctbal DECIMAL(15,2), c_mktsegment STRING, c_comment STRING",
    "orders": "o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus STRING, o_totalprice DECIMAL(15,2), "
    "o_orderdate DATE, o_orderpriority STRING, o_clerk STRING, o_shippriority INT, o_comment STRING",
    "lineitem": "l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INT, "
    "l_quantity DECIMAL(15,2), l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), "
    "l_returnflag STRING, l_linestatus STRING, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, "
    "l_shipinstruct STRING, l_shipmode STRING, l_comment STRING",
}

KNOWLEDGE = {
    "region": "PRIMARY KEY (r_regionkey)",
    "nation": "PRIMARY KEY (n_nationkey), FOREIGN KEY (n_regionkey) REFERENCES region (r_regionkey)",
    "supplier": "PRIMARY KEY (s_suppkey), FOREIGN KEY (s_nationkey) REFERENCES nation (n_nationkey)",
    "part": "PRIMARY KEY (p_partkey)",
    "partsupp": "PRIMARY KEY (ps_partkey, ps_suppkey), FOREIGN KEY (ps_partkey) REFERENCES part (p_partkey), "
    "FOREIGN KEY (ps_suppkey) REFERENCES supplier (s_suppkey)",
    "customer": "PRIMARY KEY (c_custkey), FOREIGN KEY (c_nationkey) REFERENCES nation (n_nationkey)",
    "orders": "PRIMARY KEY (o_orderkey), FOREIGN KEY (o_custkey) REFERENCES customer (c_custkey)",
    "lineitem": "PRIMARY KEY (l_orderkey, l_linenumber), "
    "FOREIGN KEY (l_orderkey) REFERENCES orders (o_orderkey), "
    "FOREIGN KEY (l_partkey) REFERENCES part (p_partkey), "
    "FOREIGN KEY (l_suppkey) REFERENCES supplier (s_suppkey)",
}


def table(name: str, *, known: bool, stored: bool = True, only: frozenset[str] = frozenset(COLUMNS)) -> str:
    """CREATE TABLE; `known` declares keys and references, to tables in `only`.

    Where nothing is known, columns may be NULL as well; where keys are declared, all columns are NOT NULL, as in TPC-H.
    """
    columns = COLUMNS[name]
    parts = [columns]
    if known:
        parts = [re.sub(r"(, (?=[a-z]+_)|$)", r" NOT NULL\1", columns)]
        rules = re.split(r", (?=FOREIGN)", KNOWLEDGE[name])
        parts += [r for r in rules if "REFERENCES" not in r or r.split("REFERENCES ")[1].split()[0] in only]
    options = "" if stored else " TBLPROPERTIES ('stored' = 'false')"
    return f"CREATE TABLE {name} ({', '.join(parts)}){options}"


QUERIES = {
    "Q3": """
SELECT l_orderkey, SUM(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority""",
    "Q5": """
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'
GROUP BY n_name""",
    "Q17": """
SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly
FROM lineitem, part
WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
  AND l_quantity < (SELECT 0.2 * AVG(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)""",
    "Q18": """
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, SUM(l_quantity) AS quantity
FROM customer, orders, lineitem
WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 300)
  AND c_custkey = o_custkey AND o_orderkey = l_orderkey
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice""",
}

TABLES = {
    "Q3": ("customer", "orders", "lineitem"),
    "Q5": ("region", "nation", "supplier", "customer", "orders", "lineitem"),
    "Q17": ("part", "lineitem"),
    "Q18": ("customer", "orders", "lineitem"),
}
