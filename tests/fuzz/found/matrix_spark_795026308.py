"""Campaign matrix_spark, seed 795026308."""

from tests.fuzz.campaigns.matrix_spark import again

# (('try_element_at', 'window argument'), ('levenshtein', 'window argument'), ('ilike', 'window argument'))
# SELECT x.id, COUNT((try_element_at(CASE WHEN x.id % 5 <> 0 THEN x.c9_0 END, COALESCE(x.c9_1, x.c9_1)))) OVER (PARTITION BY x.g) AS a0, LAG((try_element_at(CASE WHEN x.id % 5 <> 0 THEN x.c9_0 END, COALESCE(x.c9_1, x.c9_1)))) OVER (PARTITION BY x.g ORDER BY x.id) AS a1, FIRST_VALUE((try_element_at(CASE WHEN x.id % 5 <> 0 THEN x.c9_0 END, COALESCE(x.c9_1, x.c9_1)))) OVER (ORDER BY x.id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a2, COUNT((levenshtein(x.c10_0, x.c10_1, COALESCE(x.c10_2, x.c10_2)))) OVER (PARTITION BY x.g) AS a3, LAG((levenshtein(x.c10_0, x.c10_1, COALESCE(x.c10_2, x.c10_2)))) OVER (PARTITION BY x.g ORDER BY x.id) AS a4, FIRST_VALUE((levenshtein(x.c10_0, x.c10_1, COALESCE(x.c10_2, x.c10_2)))) OVER (ORDER BY x.id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a5, COUNT((x.c11_0 ilike COALESCE(x.c11_1, x.c11_1) ESCAPE '/')) OVER (PARTITION BY x.g) AS a6, LAG((x.c11_0 ilike COALESCE(x.c11_1, x.c11_1) ESCAPE '/')) OVER (PARTITION BY x.g ORDER BY x.id) AS a7, FIRST_VALUE((x.c11_0 ilike COALESCE(x.c11_1, x.c11_1) ESCAPE '/')) OVER (ORDER BY x.id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a8 FROM t x
# only ours (2): [(5, 0, None, None, 0, None, None, 1, None, True), (6, 0, None, None, 1, None, None, 1, None, True)]
# only theirs (2): [(5, 0, None, None, 1, None, -1, 1, None, True), (6, 0, None, None, 1, None, -1, 1, None, True)]
again(795026308, ['v3'])
