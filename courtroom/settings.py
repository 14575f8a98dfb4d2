"""Settings from the environment (`COURTROOM_*`) and the folder in which everything is kept."""

from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from courtroom.errors import CourtroomError

_PACKAGE = Path(str(files("courtroom")))
APP = _PACKAGE / "_app" if (_PACKAGE / "_app").is_dir() else _PACKAGE.parent
"""The folder of app.py: inside the package where it was installed from a wheel, else the repository."""
DATA = APP / "data"
DATABASE = "COURTROOM_DATABASE"


def _speaks(address: SecretStr, schemes: tuple[str, ...]) -> SecretStr:
    """Check that an address is a URL with a host and one of these schemes."""
    parts = urlsplit(address.get_secret_value())
    if parts.scheme not in schemes or not parts.hostname:
        raise ValueError(schemes)
    return address


class Settings(BaseSettings):
    """Where things are kept and which servers to use. Secrets are not settings: they stay in the environment."""

    model_config = SettingsConfigDict(env_prefix="COURTROOM_", extra="ignore", populate_by_name=True)

    home: Path = Path(".courtroom")
    chroma_host: str | None = None
    chroma_port: int = 8000
    embedding: str = "words-and-meaning"
    connections: Path | None = None
    models: Path | None = None
    """The folder of GGUF files that can be asked as `local/FILE.gguf`; None is `models` beside everything else."""
    media: str = Field("", pattern=r"^([a-z0-9]+://[^@]+)?$")
    """Where media are kept, as an fsspec URL such as `s3://bucket/folder`; empty is the folder of everything else."""
    owners: str = ""
    """E-mail addresses of the owners of this server, with commas between them; where it is set, people sign in."""
    newcomers: Literal["none", "look", "run"] = "look"
    """What people may do who sign in for the first time."""
    visibility: Literal["private", "shared"] = "private"
    """Who sees what people make, until they say otherwise: nobody else, or all who have signed in."""
    log: Literal["text", "json"] = "text"
    """The form of the log; as JSON it is written to standard error too."""
    data_folder: Path | None = None
    """The folder of files that visitors of the app may import as datasets; None is none of the server's."""

    recordings: Path = DATA / "recordings"
    """The folder of recorded hearings, whose answers are trusted; by default those that come with Courtroom."""

    upload_session_mb: int = Field(500, gt=0)
    """Megabytes of uploaded files that one open page keeps at once."""
    upload_server_mb: int = Field(2_000, gt=0)
    """The same for all pages of the server together."""

    audience_phones: int = Field(100, ge=1)
    """Phones of one address that take part in one audience: a classroom's may all have the address of its router."""
    address_header: str = ""
    """The header in which a proxy says who visits; empty is the address of the connection."""
    callbacks: str = ""
    """LiteLLM's callbacks, with commas between them, such as `otel`: they are told of each call to a model."""
    dask: str = Field("", pattern=r"^[^@]*$")
    """The address of a Dask cluster's scheduler, which drives the cells of experiments; empty drives them here."""

    address: str = Field("http://localhost:8501", pattern=r"^https?://[^@]+$")
    """Where people find the app, for links in what is sent to them."""
    webhook: Annotated[SecretStr, AfterValidator(partial(_speaks, schemes=("http", "https")))] | None = None
    """The address that is told when a run or an experiment ends, waits for somebody, or fails."""
    webhook_secret: SecretStr | None = None
    """Signs what the webhook is told."""
    mail: Annotated[SecretStr, AfterValidator(partial(_speaks, schemes=("smtp", "smtps")))] | None = None
    """The server through which mail is sent, such as `smtps://user:password@mail.lab.example`."""
    mail_from: str = ""
    mail_to: str = ""
    """Whom mail is sent to where nobody signs in, with commas between them."""

    server: SecretStr | None = Field(default=None, validation_alias=DATABASE)
    """The address of a PostgreSQL database; None keeps everything in one SQLite file. It may have a password in it."""

    def apart(self, home: Path) -> "Settings":
        """The same models, and all else by default: a store and media of its own in this folder, and nobody is told."""
        return Settings.model_construct(home=home, connections=self.connections, embedding=self.embedding)

    @property
    def database(self) -> Path | SecretStr:
        """Where the store is, the source of truth: the address of a database, or else the SQLite file."""
        return self.server if self.server and self.server.get_secret_value() else self.sqlite

    @property
    def sqlite(self) -> Path:
        return self.home / "courtroom.sqlite"

    @property
    def media_folder(self) -> Path:
        """Media by content hash; with an object storage, copies of those that were used here."""
        if self.media.startswith("file://"):
            from urllib.request import url2pathname  # it brings along what speaks HTTP

            return Path(url2pathname(urlsplit(self.media).path))
        return self.home / "media"

    @property
    def media_storage(self) -> str:
        """The URL of the object storage that keeps the media; empty where a folder does."""
        return "" if self.media.startswith("file://") else self.media

    @property
    def log_file(self) -> Path:
        return self.home / "courtroom.log"


VARIABLES = frozenset(f"COURTROOM_{name.upper()}" for name in Settings.model_fields if name != "server") | {DATABASE}
"""Those that settings are read from."""


def from_environment() -> Settings:
    """The settings that the environment gives."""
    try:
        return Settings()
    except ValidationError as error:
        places = ("_".join(map(str, one["loc"])).upper() for one in error.errors(include_input=False))
        wrong = ", ".join(f"COURTROOM_{place}" for place in places)
        raise CourtroomError(f"{wrong} has a value that does not fit; see the README, or unset it.") from error
