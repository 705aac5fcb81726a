--! tables
CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING, city STRING, credit DECIMAL(10,2));
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, day DATE, total DECIMAL(10,2), status STRING);
CREATE TABLE items (order_id BIGINT, product STRING, quantity INT, price DECIMAL(8,2));
CREATE TABLE products (name STRING, category STRING, weight DOUBLE);

--! data
INSERT INTO customers VALUES (1, 'Ann', 'Oslo', 100.00), (2, 'Bob', 'Rome', 50.50), (3, 'Cid', 'Oslo', NULL), (4, 'Dee', NULL, 0.00);
INSERT INTO orders VALUES (10, 1, DATE '2024-01-01', 20.00, 'open'), (11, 1, DATE '2024-01-02', 35.50, 'paid'), (12, 2, DATE '2024-01-02', 9.99, 'paid'), (13, NULL, DATE '2024-01-03', 5.00, 'open'), (14, 9, DATE '2024-02-01', NULL, NULL);
INSERT INTO items VALUES (10, 'nut', 2, 5.00), (10, 'bolt', 1, 10.00), (11, 'nut', 7, 5.00), (11, 'nut', 7, 5.00), (12, 'gear', 1, 9.99), (13, NULL, 1, 5.00), (99, 'bolt', 3, 1.50);
INSERT INTO products VALUES ('nut', 'small', 0.5), ('bolt', 'small', 1.25), ('gear', 'large', 12.0), ('belt', 'large', NULL);

--! step
INSERT INTO orders VALUES (15, 3, DATE '2024-02-02', 77.00, 'open');
INSERT INTO items VALUES (15, 'gear', 2, 9.99), (15, 'belt', 1, 57.02), (14, 'bolt', 4, 2.00);

--! step
UPDATE orders SET customer = 2, total = total + 1 WHERE id IN (10, 13);

--! step
DELETE FROM customers WHERE name = 'Bob';

--! step
INSERT INTO customers VALUES (9, 'Eve', 'Rome', 12.25), (2, 'Bob', 'Paris', 75.00);
DELETE FROM items WHERE product = 'nut' AND quantity = 7;
UPDATE products SET category = 'tiny' WHERE name = 'nut';

--! step
DELETE FROM orders WHERE total >= 35;
UPDATE customers SET city = 'Oslo' WHERE city IS NULL;

--! step
DELETE FROM items;

--! step
INSERT INTO items VALUES (10, 'nut', 2, 5.00), (10, 'nut', 2, 5.00), (12, 'bolt', 5, 0.10);
DELETE FROM orders WHERE status = 'paid';
INSERT INTO orders VALUES (16, 1, DATE '2024-03-01', 35.50, 'paid'), (17, 1, DATE '2024-03-01', 35.50, 'paid');

--! step
DELETE FROM customers;
DELETE FROM orders;

--! step
INSERT INTO customers VALUES (1, 'Ann', 'Oslo', 1.00);
INSERT INTO orders VALUES (10, 1, DATE '2024-04-01', 1.00, 'open');
