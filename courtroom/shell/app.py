"""The browser app from a shell: `courtroom app`."""

import runpy
import sys
from typing import Annotated

import typer

from courtroom.settings import APP

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def open_app(
    context: typer.Context,
    port: Annotated[int | None, typer.Option(help="The port on which the app answers; 8501 by default.")] = None,
    host: Annotated[str | None, typer.Option(help="The address on which it answers, e.g. localhost.")] = None,
) -> None:
    """Open the app in the browser. All other options go to Streamlit, e.g. --server.headless true."""
    given = {"--server.port": port, "--server.address": host}
    options = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    sys.argv = ["streamlit", "run", str(APP / "app.py"), *options, *context.args]
    runpy.run_module("streamlit", run_name="__main__")
