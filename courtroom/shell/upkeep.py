"""The server from a shell: its people, and `doctor`, `health`, `actions`, `backup` and `migrate` for its store."""

import json
import os
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from pydantic import SecretStr
from typer import Argument, Option

from courtroom.access import Access
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError, StoreError
from courtroom.settings import Settings, from_environment
from courtroom.sharing import ACTIONS, ActionFilter, ActionLog
from courtroom.shell.options import Json, opened
from courtroom.store.opening import open_store
from courtroom.upkeep.backup import move, write
from courtroom.upkeep.backup import restore as put_back
from courtroom.upkeep.doctor import examine
from courtroom.upkeep.health import CheckResult, app_health, store_health

SIGNS = {"fine": "ok", "mended": "mended", "wrong": "WRONG"}
people_app = typer.Typer(help="People who have signed in, and what they may do.", invoke_without_command=True)


@people_app.callback()
def people(context: typer.Context) -> None:
    """All people, a line each: id, access, e-mail address and name."""
    if context.invoked_subcommand is None:
        with opened() as house:
            for one in house.accounts.all():
                print(f"{one.id}\t{one.access.name.lower()}\t{one.email}\t{one.name}")


@people_app.command()
def give(
    who: Annotated[str, Argument(help="An id, or an e-mail address that one person has.")],
    access: Annotated[str, Argument(help="none, look, run or own")],
) -> None:
    """Give somebody an access."""
    with opened() as house:
        account = _one(house, who)
        if access.upper() not in Access.__members__:
            raise CourtroomError("An access is none, look, run or own.")
        house.accounts.give(account, Access[access.upper()])
        print(f"{account}\t{access.lower()}")


@people_app.command()
def token(
    who: Annotated[str, Argument(help="An id, or an e-mail address that one person has.")],
    end: Annotated[bool, Option(help="End all tokens of this person instead.")] = False,
) -> None:
    """Make a token with which a program acts as somebody, for 90 days; see `courtroom mcp`."""
    with opened() as house:
        account = _one(house, who)
        print(f"{house.accounts.end_tokens(account)} ended" if end else house.accounts.token(account))


def _one(house: Courthouse, who: str) -> str:
    found = [one.id for one in house.accounts.all() if who in (one.id, one.email)]
    if len(found) != 1:
        raise CourtroomError(f"{len(found)} people have signed in as {who}. Name one by the id: `courtroom people`.")
    return found[0]


def doctor(
    mend: Annotated[bool, Option(help="Mend what can be mended; else nothing is written.")] = False, json_: Json = False
) -> None:
    """Look over store, indexes, media, libraries, settings and servers; exit code 1 where something is wrong."""
    try:
        settings = from_environment()
    except CourtroomError:
        # The doctor says what is wrong with the others.
        home, server = os.environ.get("COURTROOM_HOME", ".courtroom"), os.environ.get("COURTROOM_DATABASE", "")
        settings = Settings.model_construct(home=Path(home), server=SecretStr(server))
    _report(examine(settings, mend=mend, progress=_progress), json_)


def _report(results: Iterable[CheckResult], as_json: bool = False) -> NoReturn:
    found = []
    for result in results:
        found.append(result)
        if not as_json:
            print(f"{SIGNS[result.state]}\t{result.about}\t{result.sentence}", flush=True)
    if as_json:
        print(json.dumps([result.model_dump() for result in found], ensure_ascii=False))
    raise typer.Exit(1 if any(result.state == "wrong" for result in found) else 0)


def health(app: Annotated[str, Option(help="The app's address, e.g. http://localhost:8501; asked too.")] = "") -> None:
    """Whether the store, and the app, answer: exit code 0 or 1, for containers and monitors. Takes a second."""
    _report([store_health(from_environment()), *([app_health(app)] if app else [])])


def actions(
    action: Annotated[str, Option(help=f"Only these: {', '.join(ACTIONS)}.")] = "",
    on: Annotated[str, Option(help="Only what was done to the run, case or experiment of this id.")] = "",
) -> None:
    """Who did what on a server where people sign in, as CSV, oldest first."""
    with opened() as house:
        print(ActionLog(house.database).csv(ActionFilter(action=action, id=on)), end="")


def backup(
    file: Annotated[Path, Argument(help="FILE.zip")],
    restore: Annotated[bool, Option(help="Put FILE back into a COURTROOM_HOME without a store.")] = False,
) -> None:
    """Copy the store and media into one file, also while runs go on; indexes are made anew."""
    settings = from_environment()
    if restore:
        count = put_back(settings, file)
        print(f"{count} files of {file} are in {settings.home}.")
    else:
        count = write(settings, file, _progress)
        print(f"{count} files are in {file}, which opens.")


def migrate(
    to: Annotated[str, Option(help="`postgresql://user@host/name`, or `sqlite` in COURTROOM_HOME; it must be empty.")],
) -> None:
    """Move the whole store into another database, and compare both. The old one stays as it is."""
    settings = from_environment()
    if isinstance(settings.database, Path) and not settings.sqlite.is_file():
        raise StoreError(f"There is no store at {settings.sqlite}, so there is nothing to move. Check COURTROOM_HOME.")
    place = settings.sqlite if to == "sqlite" else SecretStr(to)
    if place == settings.database:
        raise StoreError("The store is there already. Name another place with --to.")
    with closing(open_store(settings.database)) as source, closing(open_store(place)) as target:
        counts = move(source, target, _progress)
    then = "Unset COURTROOM_DATABASE" if isinstance(place, Path) else "Set COURTROOM_DATABASE to its address"
    rows = f"{sum(counts.values()):,} rows of {source.place} are in {target.place}, and are the same."
    print(f"{rows} {then}, then start the app.")


def _progress(about: str, done: int) -> None:
    """One line on stderr that is written over and over; a file gets it only where there is something to count."""
    if done or sys.stderr.isatty():
        print(f"{f'{about}: {done:,}':<40}", end="\r", file=sys.stderr, flush=True)
