"""Settings from the environment (`COURTROOM_*`) and the folder in which everything is kept."""

from __future__ import annotations

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Where things are kept and which servers to use. Secrets are not settings: they stay in the environment."""

    model_config = SettingsConfigDict(env_prefix="COURTROOM_", extra="ignore")

    home: Path = Path(".courtroom")
    chroma_host: str | None = None
    chroma_port: int = 8000
    embedding: str = "hashed-ngrams"
    connections: Path | None = None

    @property
    def database(self) -> Path:
        """The SQLite file: the source of truth."""
        return self.home / "courtroom.sqlite"

    @property
    def media(self) -> Path:
        """Media by content hash."""
        return self.home / "media"

    @property
    def chroma(self) -> Path:
        """The vector index; may be deleted at any time, it is rebuilt."""
        return self.home / "chroma"

    @property
    def log(self) -> Path:
        """The log file."""
        return self.home / "courtroom.log"


DATA = Path(__file__).resolve().parent.parent / "data"
"""The bundled sample cases, precedents and personas."""
