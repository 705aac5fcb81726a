--! dataset letters
--! case insert_select_from_itself
SELECT a, b, COUNT(*) AS n FROM r GROUP BY a, b
--! step
INSERT INTO r SELECT a + 1, b FROM r;
--! step
INSERT INTO r SELECT a, b FROM r WHERE a = 2;
--! step
DELETE FROM r WHERE a IN (SELECT b FROM s);
--! case update_expressions
SELECT a, b, a + b AS both FROM r
--! step
UPDATE r SET a = b, b = a;
--! step
UPDATE r SET a = COALESCE(a, 0) + 1;
--! step
UPDATE r SET b = (SELECT MAX(c) FROM s) WHERE a > 2;
--! step
UPDATE r SET b = 0 WHERE a IN (SELECT b FROM s) AND EXISTS (SELECT 1 FROM t);
--! case update_to_same_values
SELECT a, SUM(b) AS total FROM r GROUP BY a
--! step
UPDATE r SET b = b;
--! step
UPDATE r SET b = 1 WHERE b = 1;
--! case delete_then_insert_same
SELECT r.a, s.c FROM r LEFT JOIN s ON r.b = s.b
--! step
DELETE FROM r WHERE a = 1;
INSERT INTO r VALUES (1, 1), (1, 1), (1, 2);
--! step
DELETE FROM s;
INSERT INTO s VALUES (1, 10), (1, 11), (2, 10), (NULL, 12), (3, NULL), (5, 10);
--! case both_sides_in_one_transaction
SELECT r.a, s.c FROM r JOIN s ON r.b = s.b
--! step
INSERT INTO r VALUES (8, 80);
INSERT INTO s VALUES (80, 81);
--! step
DELETE FROM r WHERE a = 8;
DELETE FROM s WHERE b = 80;
--! step
INSERT INTO r VALUES (8, 80), (8, 80);
INSERT INTO s VALUES (80, 81), (80, 82);
--! step
DELETE FROM s WHERE c = 81;
INSERT INTO r VALUES (9, 80);
DELETE FROM r WHERE a = 8;
--! case truncate
SELECT COUNT(*) AS n, SUM(a) AS total FROM r
--! step
TRUNCATE TABLE r;
--! step
INSERT INTO r VALUES (1, 1);
--! dataset shop
--! case merge
SELECT city, COUNT(*) AS n, SUM(credit) AS credit FROM customers GROUP BY city
--! step
MERGE INTO customers USING (SELECT * FROM VALUES (1, 'Ann', 'Bern', 5.00), (7, 'Gus', 'Bern', 6.00) AS v(id, name, city, credit)) v ON customers.id = v.id WHEN MATCHED THEN UPDATE SET city = v.city, credit = v.credit WHEN NOT MATCHED THEN INSERT (id, name, city, credit) VALUES (v.id, v.name, v.city, v.credit);
--! step
MERGE INTO customers USING orders ON customers.id = orders.id - 9 WHEN MATCHED AND orders.status = 'paid' THEN DELETE WHEN MATCHED THEN UPDATE SET credit = orders.total;
--! case insert_columns
SELECT id, name, city FROM customers
--! step
INSERT INTO customers (id, name) VALUES (20, 'New'), (21, NULL);
--! step
INSERT INTO customers (name, id) SELECT product, order_id + 1000 + quantity FROM items WHERE product = 'bolt';
--! case key_moves
SELECT c.name, SUM(o.total) AS total FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.name
--! step
UPDATE customers SET id = id + 100;
--! step
UPDATE orders SET customer = customer + 100;
--! step
UPDATE customers SET id = CASE id WHEN 101 THEN 102 WHEN 102 THEN 101 ELSE id END;
--! step
UPDATE orders SET id = id + 1;
