--! dataset nested
--! case explode
SELECT id, explode(tags) AS tag FROM docs
--! case lateral_view
SELECT id, tag FROM docs LATERAL VIEW explode(tags) e AS tag
--! case lateral_view_outer
SELECT id, tag FROM docs LATERAL VIEW OUTER explode(tags) e AS tag
--! duckdb
SELECT id, tag FROM docs LEFT JOIN LATERAL (SELECT unnest(tags) AS tag) ON TRUE
--! case posexplode
SELECT id, pos, tag FROM docs LATERAL VIEW posexplode(tags) e AS pos, tag
--! case explode_map
SELECT id, k, v FROM docs LATERAL VIEW explode(attrs) e AS k, v
--! duckdb
SELECT id, unnest(map_keys(attrs)) AS k, unnest(map_values(attrs)) AS v FROM docs
--! case explode_twice
SELECT id, x FROM docs LATERAL VIEW explode(grid) g AS line LATERAL VIEW explode(line) l AS x
--! duckdb
SELECT id, unnest(line) AS x FROM (SELECT id, unnest(grid) AS line FROM docs)
--! case explode_grouped
SELECT tag, COUNT(*) AS n, COUNT(DISTINCT id) AS docs FROM docs LATERAL VIEW explode(tags) e AS tag GROUP BY tag
--! case unnest
SELECT d.id, u.tag FROM docs d CROSS JOIN UNNEST(d.tags) AS u(tag)
--! case inline
SELECT id, name, age FROM docs LATERAL VIEW inline(people) p AS name, age
--! duckdb
SELECT id, p.name, p.age FROM (SELECT id, unnest(people) AS p FROM docs)
--! case explode_structs
SELECT id, p.name AS who FROM docs LATERAL VIEW explode(people) e AS p
--! duckdb
SELECT id, p.name FROM (SELECT id, unnest(people) AS p FROM docs)
--! case struct_fields
SELECT id, who.name, who.age + 1 AS older FROM docs WHERE who.age > 20
--! case group_by_struct
SELECT who, COUNT(*) AS n FROM docs GROUP BY who
--! case group_by_array
SELECT tags, COUNT(*) AS n FROM docs GROUP BY tags
--! case distinct_array
SELECT DISTINCT grid FROM docs
--! case map_lookup
SELECT id, attrs['p'] AS p, element_at(attrs, 'q') AS q FROM docs
--! case array_functions
SELECT id, size(tags) AS n, array_contains(tags, 'x') AS has, tags[0] AS first FROM docs WHERE tags IS NOT NULL
--! duckdb
SELECT id, len(tags), CASE WHEN list_contains(tags, 'x') THEN TRUE WHEN len(tags) <> len(list_filter(tags, lambda t: t IS NOT NULL)) THEN NULL ELSE FALSE END, tags[1] FROM docs WHERE tags IS NOT NULL
--! case higher_order
SELECT id, transform(grid, a -> size(a)) AS sizes, filter(tags, t -> t > 'x') AS late FROM docs
--! duckdb
SELECT id, list_transform(grid, lambda a: len(a)), list_filter(tags, lambda t: t > 'x') FROM docs
--! case collect_structs
SELECT who.age AS age, sort_array(collect_list(id)) AS ids FROM docs GROUP BY who.age
--! duckdb
SELECT who.age AS age, list_sort(list(id)) AS ids FROM docs GROUP BY who.age
--! case join_on_element
SELECT a.id, b.id AS other FROM docs a JOIN docs b ON a.tags[0] = b.tags[0]
--! case join_on_struct
SELECT a.id, b.id AS other FROM docs a JOIN docs b ON a.who = b.who
--! case exists_over_explode
SELECT id FROM docs d WHERE EXISTS (SELECT 1 FROM docs e LATERAL VIEW explode(e.tags) x AS tag WHERE tag = 'y' AND e.id = d.id)
--! duckdb
SELECT id FROM docs WHERE list_contains(tags, 'y')
