"""All commands of the shell, and how an error of one is reported."""

import logging
import runpy
import sys
from typing import Annotated

import typer
from typer import Option

from courtroom.errors import CourtroomError, StoreError
from courtroom.settings import APP, from_environment
from courtroom.shell.datasets import app as datasets
from courtroom.shell.experiment import app as experiment
from courtroom.shell.forks import compare, fork, what_if, yardstick
from courtroom.shell.libraries import cases_app as cases
from courtroom.shell.libraries import knowledge_app as knowledge
from courtroom.shell.libraries import panels_app as panels
from courtroom.shell.procedures import align, new_procedure, options
from courtroom.shell.procedures import app as procedures
from courtroom.shell.procedures import models_app as models
from courtroom.shell.programs import mcp
from courtroom.shell.runs import (
    ask,
    audit,
    check,
    export,
    film,
    import_run,
    interview,
    mark,
    marks,
    resume,
    run,
    runs,
    show,
)
from courtroom.shell.upkeep import actions, backup, doctor, health, migrate
from courtroom.shell.upkeep import people_app as people
from courtroom.store.connection import FAILURES
from courtroom.store.opening import explained

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def open_app(
    context: typer.Context,
    port: Annotated[int | None, Option(help="The port on which the app answers; 8501 by default.")] = None,
    host: Annotated[str | None, Option(help="The address on which it answers, e.g. localhost.")] = None,
) -> None:
    """Open the app in the browser. All other options go to Streamlit, e.g. --server.headless true."""
    given = {"--server.port": port, "--server.address": host}
    options = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    sys.argv = ["streamlit", "run", str(APP / "app.py"), *options, *context.args]
    runpy.run_module("streamlit", run_name="__main__")


app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.add_typer(cases, name="cases")
app.add_typer(datasets, name="datasets")
app.add_typer(experiment, name="experiment")
app.add_typer(knowledge, name="knowledge")
app.add_typer(models, name="models")
app.add_typer(panels, name="panels")
app.add_typer(people, name="people")
app.add_typer(procedures, name="procedures")
app.command("app", context_settings=PASSED_ON)(open_app)
app.callback()(options)
app.command("new-procedure")(new_procedure)
app.command("import")(import_run)
RUNS = (ask, run, resume, show, runs, export, film, fork, compare, what_if, yardstick, align)
QUESTIONS = (audit, check, interview, mark, marks)
UPKEEP = (mcp, doctor, health, actions, backup, migrate)
for command in (*RUNS, *QUESTIONS, *UPKEEP):
    app.command(command.__name__.replace("_", "-"))(command)


def main() -> None:
    """Run a command; an error that a user may see is one sentence on stderr."""
    try:
        app()
    except StoreError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except CourtroomError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except FAILURES as error:
        logging.getLogger(__name__).exception("the store failed")
        print(explained(error, from_environment().database), file=sys.stderr)
        sys.exit(1)
