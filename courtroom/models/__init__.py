"""Who answers: tasks, prompts, models.

Here is what a procedure or an engine needs to put a question and to take an answer. Who answers over the network
(`pool`, `litellm_model`) and how an answer is read (`repair`) are imported by name, where they are wired together.
"""

from courtroom.models.errors import CannotSee, ModelError, ModelRefused
from courtroom.models.request import Message, Model, Reply, Request, Usage, Watch
from courtroom.models.spec import OFFLINE, ModelSpec, NotAllowed
from courtroom.models.task import Task

__all__ = [
    "OFFLINE",
    "CannotSee",
    "Message",
    "Model",
    "ModelError",
    "ModelRefused",
    "ModelSpec",
    "NotAllowed",
    "Reply",
    "Request",
    "Task",
    "Usage",
    "Watch",
]
