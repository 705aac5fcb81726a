--! tables
CREATE TABLE part (name STRING, whole STRING, quantity INT);

--! data
INSERT INTO part VALUES ('wheel', 'bike', 2), ('spoke', 'wheel', 30), ('rim', 'wheel', 1), ('frame', 'bike', 1), ('screw', 'frame', 4), ('screw', 'wheel', 3);

--! step
INSERT INTO part VALUES ('bell', 'bike', 1), ('screw', 'bell', 2);

--! step
DELETE FROM part WHERE name = 'wheel';

--! step
INSERT INTO part VALUES ('wheel', 'bike', 3), ('bike', 'shop', 10);

--! step
UPDATE part SET quantity = quantity + 1 WHERE name = 'screw';

--! step
DELETE FROM part WHERE whole = 'wheel' AND name <> 'rim';

--! step
DELETE FROM part;

--! step
INSERT INTO part VALUES ('rim', 'wheel', 1), ('wheel', 'bike', 2);
