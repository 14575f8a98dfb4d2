"""The SQLite file: opening, checking, reading and writing it."""
