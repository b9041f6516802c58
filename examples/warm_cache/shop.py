"""A small shop in SQLite, stored in four ways that compete for one page cache.

The question is always the same: what do these orders come to? Each layout answers it with its own tables. All
of them are read through one connection, so there is one page cache for all, and what one layout reads pushes out what
another has left there. Nothing here pretends: a miss is a page that SQLite reads from the file again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

#: The largest page that SQLite knows. Large pages suit scans; for single rows they make a miss expensive.
PAGE = 65_536
LINES = 3  # of an order

#: Layouts by name: what it is, and the query. `cross join` fixes the order in which SQLite goes through the tables.
LAYOUTS = {
    "wide": (
        "prices copied into wide rows, the lines of an order side by side",
        'SELECT sum(l.price) FROM json_each(?) o CROSS JOIN line_wide l ON l."order" = o.value',
    ),
    "slim": (
        "nothing twice and nothing but what is needed: fits into the cache",
        'SELECT sum(p.price) FROM json_each(?) o CROSS JOIN line_slim l ON l."order" = o.value '
        "CROSS JOIN product_slim p ON p.id = l.product",
    ),
    "full": (
        "nothing twice, but products with their descriptions: does not fit",
        'SELECT sum(p.price) FROM json_each(?) o CROSS JOIN line_slim l ON l."order" = o.value '
        "CROSS JOIN product_full p ON p.id = l.product",
    ),
    "heap": (
        "wide rows as they came in, found through an index",
        "SELECT sum(l.price) FROM json_each(?) o "
        'CROSS JOIN line_heap l INDEXED BY heap_by_order ON l."order" = o.value',
    ),
}

_COUNT = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :{} - 1) "
_TABLES = (
    "CREATE TABLE product_slim(id INTEGER PRIMARY KEY, price INTEGER)",
    # Any numbers will do, as long as they are the same every time and have no order: multiples of primes.
    _COUNT.format("products") + "INSERT INTO product_slim SELECT i, 100 + i * 7919 % 9900 FROM n",
    "CREATE TABLE product_full(id INTEGER PRIMARY KEY, description BLOB, price INTEGER)",
    "INSERT INTO product_full SELECT id, zeroblob(60), price FROM product_slim",
    'CREATE TABLE line_slim("order" INTEGER, line INTEGER, product INTEGER, PRIMARY KEY("order", line)) WITHOUT ROWID',
    _COUNT.format("lines") + "INSERT INTO line_slim SELECT i / :each, i % :each, i * 104729 % :products FROM n",
    'CREATE TABLE line_wide("order" INTEGER, line INTEGER, product INTEGER, price INTEGER, description BLOB, '
    'PRIMARY KEY("order", line)) WITHOUT ROWID',
    "INSERT INTO line_wide "
    'SELECT "order", line, product, price, zeroblob(150) '
    "FROM line_slim JOIN product_slim ON id = product ORDER BY 1, 2",
    'CREATE TABLE line_heap("order" INTEGER, product INTEGER, price INTEGER, description BLOB)',
    "INSERT INTO line_heap "
    'SELECT "order", product, price, description FROM line_wide ORDER BY line, "order" * 15485863 % :orders',
    'CREATE INDEX heap_by_order ON line_heap("order")',
)


@dataclass(frozen=True)
class Size:
    """How large the shop is, and how much of it fits into memory."""

    orders: int = 200_000
    products: int = 1_000_000
    cache_mib: int = 21

    def file(self) -> str:
        """The name of a database of this size."""
        return f"shop-{self.orders}-{self.products}.sqlite"


#: Built in a second, for trying things out. The effects are the same and smaller.
SMALL = Size(orders=20_000, products=100_000, cache_mib=2)


@dataclass(frozen=True)
class Answer:
    """What the orders come to, and what it took to find out."""

    total: int
    seconds: float
    cpu_seconds: float


class Shop:
    """One connection with one bounded page cache."""

    def __init__(self, folder: Path, size: Size) -> None:
        self.size = size
        path = folder / size.file()
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _build(path, size)
        self._db = sqlite3.connect(path)
        self._db.execute(f"PRAGMA cache_size = -{size.cache_mib * 1024}")
        self._db.execute("PRAGMA mmap_size = 0")

    def answer(self, layout: str, orders: list[int]) -> Answer:
        """What these orders come to, read from one layout."""
        query, batch = LAYOUTS[layout][1], json.dumps(orders)
        cpu, wall = time.thread_time(), time.perf_counter()
        (total,) = self._db.execute(query, (batch,)).fetchone()
        wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
        return Answer(total, wall, cpu)

    def close(self) -> None:
        """Lets the file go."""
        self._db.close()


def _build(path: Path, size: Size) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    db = sqlite3.connect(unfinished)
    db.execute(f"PRAGMA page_size = {PAGE}")
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    numbers = {"orders": size.orders, "products": size.products, "lines": size.orders * LINES, "each": LINES}
    for statement in _TABLES:
        db.execute(statement, {name: value for name, value in numbers.items() if f":{name}" in statement})
    db.commit()
    db.close()
    unfinished.rename(path)
