--! dataset shop
--! case over_view
--! view spend
SELECT customer, SUM(total) AS total, COUNT(*) AS n FROM orders GROUP BY customer
--! query
SELECT c.name, s.total FROM customers c JOIN spend s ON s.customer = c.id
--! case over_view_of_view
--! view per_order
SELECT order_id, SUM(quantity * price) AS amount FROM items GROUP BY order_id
--! view per_customer
SELECT o.customer, SUM(p.amount) AS amount FROM orders o JOIN per_order p ON p.order_id = o.id GROUP BY o.customer
--! query
SELECT c.city, SUM(p.amount) AS amount FROM customers c JOIN per_customer p ON p.customer = c.id GROUP BY c.city
--! case diamond
--! view big
SELECT id, customer, total FROM orders WHERE total > 10
--! view small
SELECT id, customer, total FROM orders WHERE total <= 10
--! query
SELECT b.id AS big_id, s.id AS small_id FROM big b JOIN small s ON b.customer = s.customer
--! case diamond_sum
--! view total
SELECT SUM(total) AS total FROM orders
--! view parts
SELECT status, SUM(total) AS total FROM orders GROUP BY status
--! query
SELECT p.status, p.total, t.total AS everything, t.total - p.total AS rest FROM parts p CROSS JOIN total t
--! case diamond_union
--! view x
SELECT id FROM orders WHERE status = 'open'
--! view y
SELECT id FROM orders WHERE status = 'paid'
--! query
SELECT id FROM x UNION SELECT id FROM y
--! case diamond_anti
--! view busy
SELECT DISTINCT customer FROM orders
--! query
SELECT o.id FROM orders o WHERE o.customer NOT IN (SELECT customer FROM busy WHERE customer > 1)
--! case same_view_twice
--! view spend
SELECT customer, SUM(total) AS total FROM orders GROUP BY customer
--! query
SELECT a.customer, b.customer AS other FROM spend a JOIN spend b ON a.total < b.total
--! case top_over_view
--! view spend
SELECT customer, SUM(total) AS total FROM orders GROUP BY customer
--! query
SELECT customer, total FROM spend ORDER BY total DESC, customer LIMIT 2
--! case view_of_top
--! view best
SELECT id, customer, total FROM orders ORDER BY total DESC, id LIMIT 3
--! query
SELECT customer, COUNT(*) AS n FROM best GROUP BY customer
--! case view_of_window
--! view latest
SELECT customer, id, total FROM orders QUALIFY row_number() OVER (PARTITION BY customer ORDER BY day DESC, id DESC) = 1
--! query
SELECT c.name, l.total FROM customers c LEFT JOIN latest l ON l.customer = c.id
--! case unused_column_view
--! view wide
SELECT o.id, o.customer, o.total, c.name, c.city FROM orders o LEFT JOIN customers c ON c.id = o.customer
--! query
SELECT city, COUNT(*) AS n FROM wide GROUP BY city
