"""Imports, and reads once, all that a process of the project may need: what is forked from such a process has it at once."""

from __future__ import annotations

import asyncio
import gc
import os
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import aiohttp.web  # noqa: F401
    import pytest  # noqa: F401
    import streamlit.web.bootstrap  # noqa: F401

    import courtroom.__main__  # noqa: F401
    import courtroom.figures.graph  # noqa: F401
    import courtroom.procedures  # noqa: F401
    import courtroom.report  # noqa: F401
    from courtroom.knowledge.embedding import HashedNgrams
    from courtroom.models import card

    kept = dict(os.environ)
    card.load()
    asyncio.run(HashedNgrams().embed(["A kettle that leaks.", "漏水的水壶。"]))
    os.environ.clear()
    os.environ.update(kept)

gc.collect()
gc.freeze()  # what is there stays: a fork that does not walk it does not copy it either
