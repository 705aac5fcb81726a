"""Campaign sums, seed 794994844."""

from tests.fuzz.campaigns.sums import follow

inf, nan = float('inf'), float('nan')
# not refused although the result does not fit into INT
# hint: cast the operands to a wider type
follow(['SELECT r.k AS g, sum(r.x) AS f0, sum(r.a * r.a) AS f1, sum(r.a * r.a) AS f2 FROM r JOIN s ON s.b > r.a AND s.b <= r.a + 3 GROUP BY r.k', 'SELECT sum((r.a + 1) * s.b) AS f0, sum(r.d * s.e) AS f1 FROM r JOIN s ON s.y > r.x AND s.y < r.x + 2 AND r.k = s.k', 'SELECT s.k AS g, avg(r.x * s.y) AS f0, count(s.b) AS f1 FROM r JOIN s ON s.y > r.x AND s.y < r.x + 2 GROUP BY s.k'], [('change', 'commit', [('insert', 's', {'id': 4, 'k': 2, 'b': None, 'y': 0.5, 'e': '1.50'})]), ('change', 'commit', [('insert', 'r', {'id': 15, 'k': None, 'a': -2147483648, 'x': 0.5, 'd': '0.00'})]), ('change', 'commit', [('insert', 'r', {'id': 18, 'k': 2, 'a': 2147483647, 'x': 0.0, 'd': '1.50'})])])
