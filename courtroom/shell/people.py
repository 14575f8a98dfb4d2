"""The people who have signed in, from a shell: `courtroom people`."""

from typing import Annotated

import typer

from courtroom.access.account import Access
from courtroom.errors import CourtroomError
from courtroom.shell.options import opened

app = typer.Typer(help="People who have signed in, and what they may do.", invoke_without_command=True)


@app.callback()
def people(context: typer.Context) -> None:
    """All people, a line each: id, access, e-mail address and name."""
    if context.invoked_subcommand is None:
        with opened() as house:
            for one in house.accounts.all():
                print(f"{one.id}\t{one.access.name.lower()}\t{one.email}\t{one.name}")


@app.command()
def give(
    who: Annotated[str, typer.Argument(help="An id, or an e-mail address that one person has.")],
    access: Annotated[str, typer.Argument(help="none, look, run or own")],
) -> None:
    """Give somebody an access."""
    with opened() as house:
        found = [one for one in house.accounts.all() if who in (one.id, one.email)]
        if len(found) != 1:
            raise CourtroomError(
                f"{len(found)} people have signed in as {who}. Name one by the id: `courtroom people`."
            )
        if access.upper() not in Access.__members__:
            raise CourtroomError("An access is none, look, run or own.")
        house.accounts.give(found[0].id, Access[access.upper()])
        print(f"{found[0].id}\t{access.lower()}")
