"""The smallest question that can be put to a model."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from courtroom import Medium, ModelSpec, Task
from courtroom.media.store import MediaStore
from courtroom.models.capabilities import Capabilities
from courtroom.models.pool import ModelPool
from courtroom.models.request import Message, Reply, Request
from courtroom.models.route import Connection, Connections
from courtroom.models.schema import schema_of
from courtroom.store.opening import open_store
from courtroom.store.writer import Writer
from tests.openai_server import MARK, OpenAIServer
from tests.pictures import png

either_way = pytest.mark.parametrize("watch", [None, lambda text: None], ids=["whole", "streamed"])
"""The answer comes whole, and as a stream."""
Watch = Callable[[str], None] | None


class Word(BaseModel):
    word: str


class SayAWord(Task[Word]):
    name = "say"
    title = "Say a word"


def question(*media: Medium, tag: str = "0/a", text: str = "Say a word.", **spec: object) -> Request:
    """A request with the media given; `spec` overrides the model's parameters."""
    message = Message("user", (f"{text}\n{MARK}{schema_of(Word)}", *media))
    given = {"id": "openai/any", "timeout_s": 20.0, **spec}
    return Request(ModelSpec.model_validate(given), (message,), SayAWord(), tag)


def picture(store: MediaStore) -> Medium:
    """A picture taken into a store."""
    return Medium(id="photo", kind="image", file="a.png", sha256=store.take(png(), "a.png"))


def there(server: OpenAIServer, **settings: Any) -> Connections:
    """The server as a connection named `test`."""
    given = {"provider": "openai", "address": server.url, **settings}
    return Connections({"test": Connection.model_validate(given)})


@contextmanager
def model_at(server: OpenAIServer, folder: Path) -> Iterator[ModelPool]:
    """A process's model, which remembers in the folder what it finds out."""
    with closing(open_store(folder / "store.sqlite")) as database, closing(Writer(database)) as writer:
        connections = there(server)
        yield ModelPool(MediaStore(folder), connections, None, Capabilities(database, writer, connections))


async def ask(server: OpenAIServer, folder: Path, watch: Watch = None, **spec: object) -> Reply:
    """Put the question to a server of one's own."""
    request = question(**{"connection": "test", **spec})  # type: ignore[arg-type]
    return await ModelPool(MediaStore(folder), there(server)).answer(request, watch)
