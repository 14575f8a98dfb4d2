"""Imports, and reads once, all that a process of the project may need: what is forked from such a process has it at once."""

import asyncio
import gc
import os
import warnings
from functools import cache
from importlib import import_module

MODULES = (
    *("aiohttp.web", "pandas", "plotly.graph_objects", "pytest", "scipy.sparse", "streamlit.testing.v1", "tantivy"),
    *("streamlit.web.bootstrap", "courtroom.evaluation.run_list", "courtroom.experiments.service"),
    *("courtroom.figures.graph", "courtroom.procedures", "courtroom.report", "courtroom.store.postgres"),
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name in MODULES:
        import_module(name)

    import typer.testing
    from streamlit.components.v2 import manifest_scanner

    import courtroom.__main__
    from courtroom.knowledge.vectors import WordsAndMeaning
    from courtroom.models.card import load

    kept = dict(os.environ)
    load()
    # Each server, and each drawing of an AppTest, reads all packages that are installed.
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)  # type: ignore[assignment]
    manifest_scanner.scan_component_manifests()
    # Each call of the shell looks at every option of every command.
    typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)
    typer.main.get_command(courtroom.__main__.app)
    asyncio.run(WordsAndMeaning().embed(["A kettle that leaks.", "漏水的水壶。"]))
    os.environ.clear()
    os.environ.update(kept)

gc.collect()
gc.freeze()  # what is there stays: a fork that does not walk it does not copy it either
