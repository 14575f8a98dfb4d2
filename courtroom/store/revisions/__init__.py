"""Changes of the tables, one a file, in Alembic's form; a new store is made from `tables.py`."""
