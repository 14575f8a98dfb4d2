"""Uploaded files on disk, as long as a session lasts."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st


def kept_file(name: str, content: bytes) -> Path:
    """An uploaded file on disk."""
    folder = st.session_state.setdefault("experiment-folder", tempfile.TemporaryDirectory(prefix="courtroom-"))
    path = Path(folder.name) / Path(name).name
    path.write_bytes(content)
    return path
