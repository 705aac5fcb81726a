"""Campaign objects, seed 1011."""

from tests.fuzz.object_histories import follow

# tuple index out of range
follow(
    'ZOO',
    [
        ('view', 'v0', 'select struct(a: sum(select x2.rival.weight from x1.holder.wards as x2, Keepers as x3), b: x1.number, c: (x1.number - x1.number)) from Badges as x1 where (x1.holder = nil)', 'strict'),
    ],
)
