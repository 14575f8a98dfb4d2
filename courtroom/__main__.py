"""`courtroom`, or `python -m courtroom`."""

from __future__ import annotations

from courtroom.shell.commands import app, main

__all__ = ["app", "main"]

if __name__ == "__main__":
    main()
