"""Changes of the tables, one a file, in Alembic's form. A new store is made from `tables.py`; an older one is changed by these."""
