"""All commands of the shell, and how an error of one is reported."""

import logging
import runpy
import sys
from typing import Annotated

import typer
from typer import Option

from courtroom.errors import CourtroomError, StoreError
from courtroom.settings import APP, from_environment
from courtroom.shell import datasets, experiment, forks, libraries, procedures, programs, runs, upkeep
from courtroom.store.connection import FAILURES
from courtroom.store.opening import explained


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
GROUPS = {"cases": libraries.cases_app, "datasets": datasets.app, "experiment": experiment.app}
GROUPS |= {"knowledge": libraries.knowledge_app, "models": procedures.models_app, "panels": libraries.panels_app}
GROUPS |= {"people": upkeep.people_app, "procedures": procedures.app}
for name, group in GROUPS.items():
    app.add_typer(group, name=name)
app.command("app", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(open_app)
app.callback()(procedures.options)
app.command("new-procedure")(procedures.new_procedure)
app.command("import")(runs.import_run)
RUNS = (runs.ask, runs.run, runs.resume, runs.show, runs.runs, runs.export, runs.film)
BESIDE = (forks.fork, forks.compare, forks.what_if, forks.yardstick, procedures.align)
QUESTIONS = (runs.audit, runs.check, runs.interview, runs.mark, runs.marks)
UPKEEP = (programs.mcp, upkeep.doctor, upkeep.health, upkeep.actions, upkeep.backup, upkeep.migrate)
for command in (*RUNS, *BESIDE, *QUESTIONS, *UPKEEP):
    app.command(command.__name__.replace("_", "-"))(command)


def main() -> None:
    """Run a command; an error that a user may see is one sentence on stderr."""
    # Else logging itself would write a traceback to stderr wherever no log is open.
    logging.getLogger("courtroom").addHandler(logging.NullHandler())
    try:
        app()
    except CourtroomError as error:
        print(error, file=sys.stderr)
        sys.exit(1 if isinstance(error, StoreError) else 2)
    except FAILURES as error:
        logging.getLogger(__name__).exception("the store failed")
        print(explained(error, from_environment().database), file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        logging.getLogger(__name__).exception("a file can't be used")
        about = error.filename or "A file"
        print(f"{about} can't be used: {error.strerror or error}. Check it, then try again.", file=sys.stderr)
        sys.exit(2)
