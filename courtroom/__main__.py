"""`courtroom`, or `python -m courtroom`."""

from courtroom.shell.commands import app, main

__all__ = ["app", "main"]

if __name__ == "__main__":
    main()
