"""A jury that answers by a script, so that any path through CyberJurors can be taken and all its prompts read."""

import json
from typing import Any

from courtroom.models.request import Reply, Request, Usage, Watch
from tests.openai_server import answer_for
from tests.toy import text_of


class Jury:
    """Answers by schema, so that any path through the procedure is taken; votes as it is told."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.votes = lambda request: "buyer"
        self.sufficient = False
        self.alike = False
        """Whether who is asked the same says the same, as the server of the benchmark does."""
        self.seen: dict[str, Any] = {}
        """What each finding says, whatever else it says."""

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        self.asked.append(request)
        user = {"role": "user", "content": text_of(request)}
        body: dict[str, Any] = {"messages": [{"role": "system", "content": ""}, user]}
        answer = json.loads(answer_for(body, text_of(request) if self.alike else request.key))
        if "verdict" in answer:
            answer["verdict"] = self.votes(request)
        if "is_sufficient" in answer:
            answer["is_sufficient"] = self.sufficient
        if "visual_findings" in answer:  # a piece without media is not asked for any
            answer["visual_findings"] = [dict(found, **self.seen) for found in answer["visual_findings"]]
        return Reply(text=json.dumps(answer), usage=Usage(prompt=1, completion=1))
