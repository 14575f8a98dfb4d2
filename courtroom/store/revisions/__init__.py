"""Changes of the tables, one a file, in Alembic's form; a new store is made from `tables.sql`."""

from sqlalchemy import REAL, BigInteger, Double, Integer, Text

TEXT = Text().with_variant(Text(collation="C"), "postgresql")
WHOLE = BigInteger().with_variant(Integer(), "sqlite")
FLOAT = Double[float]().with_variant(REAL[float](), "sqlite")
