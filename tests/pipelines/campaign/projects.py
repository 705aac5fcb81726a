"""The projects: files of `transformations/`. `{lake}` stands for the folder of the sources."""

from __future__ import annotations

PY = "from pyspark import pipelines as dp\nfrom pyspark.sql import functions as F, Window\n\n"

PROJECTS: dict[str, dict[str, str]] = {
    "init": {
        "a.py": PY + "@dp.materialized_view\ndef example_python():\n    return spark.range(10)\n",
        "b.sql": "CREATE MATERIALIZED VIEW example_sql AS SELECT id FROM example_python WHERE id % 2 = 0",
    },
    "medallion_sql": {
        "bronze.sql": "CREATE MATERIALIZED VIEW bronze_orders AS SELECT * FROM raw_orders;",
        "silver.sql": """
            CREATE MATERIALIZED VIEW silver_orders COMMENT 'orders that count' AS
            SELECT order_id, customer_id, upper(product) AS product, amount, day, date_trunc('MONTH', day) AS month
            FROM bronze_orders WHERE status <> 'cancelled' AND amount > 5;
        """,
        "gold.sql": """
            CREATE MATERIALIZED VIEW gold_months AS
            SELECT month, product, count(*) AS orders, sum(amount) AS revenue, max(amount) AS best
            FROM silver_orders GROUP BY month, product;
            CREATE MATERIALIZED VIEW gold_best AS SELECT * FROM gold_months WHERE revenue > 300;
        """,
    },
    "medallion_python": {
        "pipeline.py": PY
        + """
@dp.materialized_view(comment="as it came")
def bronze():
    return spark.read.table("raw_events")

@dp.materialized_view
def silver():
    return (spark.read.table("bronze").dropDuplicates()
            .select("event_id", "user_id", "kind", F.to_date("at").alias("day"), F.hour("at").alias("hour")))

@dp.materialized_view
def gold_daily():
    return (spark.table("silver").groupBy("day", "kind")
            .agg(F.count("*").alias("events"), F.countDistinct("user_id").alias("users")).orderBy("day"))

@dp.materialized_view
def gold_funnel():
    s = spark.table("silver")
    return s.groupBy("day").agg(
        F.sum(F.when(F.col("kind") == "view", 1).otherwise(0)).alias("views"),
        F.sum(F.when(F.col("kind") == "buy", 1).otherwise(0)).alias("buys"),
    ).withColumn("rate", F.round(F.col("buys") / F.col("views"), 3))
"""
    },
    "joins": {
        "joins.py": PY
        + """
@dp.materialized_view
def current_customers():
    newest = Window.partitionBy("customer_id").orderBy(F.desc("version"))
    return (spark.table("raw_customers").withColumn("n", F.row_number().over(newest)).where("n = 1")
            .select("customer_id", "name", "country", "version"))

@dp.materialized_view
def enriched():
    o, c = spark.table("raw_orders").alias("o"), spark.table("current_customers").alias("c")
    return (o.join(c, F.col("o.customer_id") == F.col("c.customer_id"), "left")
             .select("o.order_id", "c.name", F.coalesce("c.country", F.lit("??")).alias("country"), "o.amount"))

@dp.materialized_view
def silent_customers():
    return spark.table("current_customers").join(spark.table("raw_orders"), "customer_id", "left_anti")
""",
        "by_country.sql": """
            CREATE MATERIALIZED VIEW by_country AS
            SELECT country, count(DISTINCT name) AS customers, sum(amount) AS total FROM enriched GROUP BY country;
            CREATE MATERIALIZED VIEW pairs AS
            SELECT a.customer_id AS a, b.customer_id AS b, a.country FROM current_customers a
            JOIN current_customers b ON a.country = b.country AND a.customer_id < b.customer_id WHERE a.customer_id < 10;
        """,
    },
    "windows": {
        "windows.sql": """
            CREATE MATERIALIZED VIEW running AS
            SELECT order_id, customer_id, day, amount,
                   sum(amount) OVER (PARTITION BY customer_id ORDER BY day, order_id) AS so_far,
                   lag(amount) OVER (PARTITION BY customer_id ORDER BY day, order_id) AS before
            FROM raw_orders;
            CREATE MATERIALIZED VIEW top3 AS
            SELECT * FROM (SELECT product, order_id, amount,
                rank() OVER (PARTITION BY product ORDER BY amount DESC, order_id) AS place FROM raw_orders) WHERE place <= 3;
        """,
        "more.py": PY
        + """
@dp.materialized_view
def moving():
    w = Window.partitionBy("product").orderBy("day", "order_id").rowsBetween(-2, 0)
    return spark.table("raw_orders").select("order_id", "product", F.max("amount").over(w).alias("peak"), F.count("*").over(w).alias("n"))

@dp.materialized_view
def best_ten():
    return spark.table("raw_orders").orderBy(F.desc("amount"), "order_id").limit(10)
""",
    },
    "deduplication": {
        "dedup.py": PY
        + """
@dp.materialized_view
def unique_events():
    return spark.table("raw_events").dropDuplicates(["event_id", "user_id", "kind", "at"])

@dp.materialized_view
def latest_event():
    w = Window.partitionBy("user_id").orderBy(F.col("at").desc(), F.col("event_id").desc())
    return spark.table("unique_events").withColumn("n", F.row_number().over(w)).filter("n = 1").select("user_id", "event_id", "kind", "at")

@dp.materialized_view
def kinds():
    return spark.table("raw_events").select("kind").distinct()
""",
    },
    "scd": {
        "scd.sql": """
            CREATE MATERIALIZED VIEW customer_history AS
            SELECT customer_id, name, country, version AS valid_from,
                   lead(version) OVER (PARTITION BY customer_id ORDER BY version) AS valid_to
            FROM raw_customers;
            CREATE MATERIALIZED VIEW customer_now AS SELECT customer_id, name, country FROM customer_history WHERE valid_to IS NULL;
            CREATE MATERIALIZED VIEW moves AS
            SELECT a.customer_id, a.country AS moved_from, b.country AS moved_to, b.valid_from AS at
            FROM customer_history a JOIN customer_history b ON a.customer_id = b.customer_id AND a.valid_to = b.valid_from
            WHERE NOT (a.country <=> b.country);
        """,
    },
    "streams": {
        "streams.py": PY
        + """
@dp.table
def clicks():
    return spark.readStream.format("json").schema("click INT, page STRING, user INT").load("{lake}/clicks")

dp.create_streaming_table("visits")

@dp.append_flow(target="visits")
def from_clicks():
    return spark.readStream.table("clicks").select(F.col("user").alias("user_id"), F.col("page").alias("what"))
""",
        "after.sql": """
            CREATE STREAMING TABLE first_pages AS SELECT click, page FROM STREAM clicks WHERE page IN ('/p1', '/p2');
            CREATE MATERIALIZED VIEW visits_by_user AS SELECT user_id, what, count(*) AS n FROM visits GROUP BY user_id, what;
            CREATE MATERIALIZED VIEW pages AS SELECT page, count(*) AS n FROM first_pages GROUP BY page;
        """,
    },
    "temporary_views": {
        "views.py": PY
        + """
@dp.temporary_view
def paid():
    return spark.table("raw_orders").where("status = 'paid'")

@dp.materialized_view
def paid_by_day():
    return spark.table("paid").groupBy("day").agg(F.sum("amount").alias("amount"))
""",
        "views.sql": """
            CREATE TEMPORARY VIEW big AS SELECT * FROM paid WHERE amount > 500;
            CREATE MATERIALIZED VIEW big_or_old AS
            WITH old AS (SELECT order_id, amount FROM raw_orders WHERE day < DATE '2026-01-15')
            SELECT order_id, amount, 'big' AS why FROM big UNION ALL SELECT order_id, amount, 'old' FROM old;
        """,
    },
    "reports": {
        "reports.sql": """
            CREATE MATERIALIZED VIEW cube_report AS
            SELECT product, status, grouping_id(product, status) AS level, sum(amount) AS total
            FROM raw_orders GROUP BY CUBE (product, status);
            CREATE MATERIALIZED VIEW loyal AS
            SELECT customer_id, count(*) AS n FROM raw_orders GROUP BY customer_id HAVING count(*) > 4;
        """,
        "reports.py": PY
        + """
@dp.materialized_view
def rolled():
    return spark.table("raw_orders").rollup("status", "product").agg(F.sum("amount").alias("total"), F.count("*").alias("n"))

@dp.materialized_view
def by_status():
    return spark.table("raw_orders").groupBy("product").pivot("status", ["paid", "open"]).agg(F.sum("amount"))
""",
    },
    "sessions": {
        "sessions.sql": """
            CREATE MATERIALIZED VIEW marked AS
            SELECT user_id, event_id, at,
                   CASE WHEN unix_timestamp(at) - unix_timestamp(lag(at) OVER (PARTITION BY user_id ORDER BY at, event_id)) < 1800
                        THEN 0 ELSE 1 END AS begins
            FROM (SELECT DISTINCT * FROM raw_events);
            CREATE MATERIALIZED VIEW sessions AS
            SELECT user_id, session, min(at) AS begin, max(at) AS end, count(*) AS events
            FROM (SELECT user_id, at, sum(begins) OVER (PARTITION BY user_id ORDER BY at, event_id) AS session FROM marked)
            GROUP BY user_id, session;
        """,
    },
    "own_functions": {
        "udf.py": PY
        + """
@F.udf("string")
def masked(text):
    return None if text is None else text[:4] + "***"

@dp.materialized_view
def masked_customers():
    return spark.table("raw_customers").withColumn("name", masked("name"))

@dp.materialized_view
def masked_by_country():
    return spark.table("masked_customers").groupBy("country").agg(F.count("*").alias("n"), F.min("name").alias("first"))
""",
    },
    "star": {
        "star.py": PY
        + """
@dp.materialized_view
def dim_product():
    return spark.read.option("header", True).schema("product STRING, category STRING, price DOUBLE").csv("{lake}/products")

@dp.materialized_view(partition_cols=["category"])
def fact_sales():
    sales = spark.table("raw_orders").join(spark.table("dim_product"), "product")
    sums = sales.groupBy("day", "category").agg(F.sum("amount").alias("amount"), F.count("*").alias("n"))
    return sums.select("day", "amount", "n", "category")

@dp.materialized_view
def categories():
    return spark.table("fact_sales").groupBy("category").agg(F.sum("amount").cast("decimal(20,2)").alias("amount"))
""",
    },
    "sets": {
        "sets.sql": """
            CREATE MATERIALIZED VIEW buyers AS SELECT DISTINCT customer_id FROM raw_orders WHERE status = 'paid';
            CREATE MATERIALIZED VIEW only_open AS
            SELECT customer_id FROM raw_orders WHERE status = 'open' EXCEPT SELECT customer_id FROM buyers;
            CREATE MATERIALIZED VIEW known_buyers AS
            SELECT customer_id FROM buyers INTERSECT SELECT customer_id FROM raw_customers;
            CREATE MATERIALIZED VIEW above_average AS
            SELECT order_id, amount FROM raw_orders o
            WHERE amount > (SELECT max(amount) / 2 FROM raw_orders i WHERE i.product = o.product)
              AND EXISTS (SELECT 1 FROM buyers b WHERE b.customer_id = o.customer_id);
        """,
    },
    "sinks": {
        "sink.py": PY
        + """
dp.create_sink("exported", "parquet", {{"path": "{out}/exported"}})

@dp.append_flow(target="exported")
def export():
    return spark.readStream.table("clicks2").where("user < 10")

@dp.table
def clicks2():
    return spark.readStream.format("json").schema("click INT, page STRING, user INT").load("{lake}/clicks")
""",
    },
}


def files_of(name: str, lake: str, out: str) -> dict[str, str]:
    """The files of a project over a lake; a sink writes to `out`."""
    result = {}
    for file, text in PROJECTS[name].items():
        filled = text.replace("{lake}", lake).replace("{out}", out).replace("{{", "{").replace("}}", "}")
        result[f"transformations/{file}"] = filled
    return result
