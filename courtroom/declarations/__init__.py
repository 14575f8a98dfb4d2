"""What is declared of a run before it begins: its setup, what papers say of it, and the blocks of views."""
