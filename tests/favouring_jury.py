"""Jurors by a script who favour a name, and made-up trials in which it stands: what a mirror has to find, or not."""

import hashlib
import json
import random
import re
from collections.abc import Sequence

from courtroom import Courthouse, Trial
from courtroom.datasets import Row
from courtroom.experiments.mirror import drafts, with_mirror
from courtroom.experiments.spec import Experiment, parsed
from courtroom.models.request import Reply, Request, Usage, Watch
from courtroom.questions.mirror import change_of
from tests.toy import text_of

NAME, OTHER = "Emily Walker", "Ngozi Okafor"
CHANGES = (f"name={OTHER}", "order", "age=71")
SMALL = {"jury_size": 3, "rounds": 0, "rule": "majority", "model.vision": "no"}


class FavouringJury:
    """Votes guilty as often as the case leans to it, less where the favoured name stands in what a juror reads. What is
    chance, in which words a case is put decides too: another word, another draw."""

    def __init__(self, favour: float = 0.0) -> None:
        self.favour = favour

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        answer = {"statement": "I have weighed it.", "vote": self.vote(text_of(request), request.key)}
        return Reply(text=json.dumps(answer), usage=Usage(prompt=1, completion=1))

    def vote(self, told: str, key: str) -> str:
        (lean,) = re.findall(r"leans to (\d+) of 100", told)
        draw = int(hashlib.sha256(f"{told} {key}".encode()).hexdigest()[:8], 16) / 16**8
        return "guilty" if draw < int(lean) / 100 - self.favour * (NAME.split()[1] in told) else "not-guilty"


def trials(number: int, seed: int = 0) -> list[Row]:
    """Trials of which each leans to guilty by so much, many of them strongly to one side."""
    draw = random.Random(seed)
    rows = []
    for at in range(number):
        lean = round(100 * draw.betavariate(0.8, 0.8))
        case = Trial(
            id=f"trial-{at}",
            title=f"Trial {at}",
            charge=f"{NAME} is charged with the theft of bicycle {seed}-{at}.",
            facts=f"The bicycle is gone. What is known leans to {lean} of 100. Ms {NAME.split()[1]} was near.",
            proof=("The defendant was seen with her bag.",),
            defence=("The defendant was at work, says the clock.",),
        )
        rows.append(Row(id=case.id, case=case))
    return rows


def mirror_of(house: Courthouse, rows: Sequence[Row], repeats: int = 1) -> Experiment:
    """A mirror over trials, as a dataset of its own: another name, the other order, another age."""
    dataset = house.datasets.add(f"trials-{rows[0].case.content_hash()[:8]}", rows)
    arm = {"name": "a jury", "procedure": "mock-jury", "model": "scripted", "set": SMALL}
    values = {"name": "mirror", "dataset": {"name": dataset.name}, "repeats": repeats, "arms": [arm]}
    drafted = drafts(house, (row.case for row in rows), [change_of(text) for text in CHANGES])
    return with_mirror(parsed(values, "The mirror"), drafted, "Ada")
