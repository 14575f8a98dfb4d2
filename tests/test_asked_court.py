"""Questions of fact that members put to the court, and the replies that all are told from the next round on."""

import json
from collections.abc import Callable
from typing import Any

from courtroom import Courthouse, ModelSpec
from courtroom.declarations.changes import changed
from courtroom.engine.asked_court import NO_MORE, waiting
from courtroom.engine.events import Replied, Voted
from courtroom.engine.interventions import ReplyToQuestions
from courtroom.room.scene import scene
from tests.driving import drive, finished, hearing
from tests.openai_server import OpenAIServer, answer_for, texts_of
from tests.pages import NASTY, field, page, press, texts

CASE = "trial-boatyard-fire"
TALK = {"talk": "follow-graph", "graph": {"kind": "complete"}, "jury_size": 3, "rounds": 2}
PLATE, LIGHT = "Did the neighbour read the number plate?", "Was it still light when the van was seen?"
SAW = "The neighbour saw neither the number plate nor the driver."


def said(body: dict[str, Any]) -> str:
    return "\n".join(map(texts_of, body["messages"]))


def asking(*questions: str) -> Callable[[dict[str, Any]], str | None]:
    """Jurors who disagree for ever; in the first ballot each puts one of these to the court, in the order of its calls."""
    left = list(questions)

    def answer(body: dict[str, Any]) -> str | None:
        text = said(body)
        if '"vote"' not in text:
            return None
        if "question" not in (given := json.loads(answer_for(body, text))):
            return json.dumps({**given, "vote": "guilty"})
        first = "This is the first ballot" in text
        vote = "not-guilty" if "Kwame Asante, a man" in text else "guilty"
        return json.dumps({**given, "vote": vote, "question": left.pop() if first and left else ""})

    return answer


def begun(house: Courthouse, **knobs: Any) -> str:
    model = ModelSpec(id="openai/any", vision="no")
    return hearing(house, "mock-jury", CASE, **TALK, model=model, **knobs).run.id


def test_a_run_waits_for_a_reply_and_all_are_told_it(house: Courthouse, server: OpenAIServer) -> None:
    server.answer = asking(PLATE, PLATE.upper(), "")
    run = begun(house, asks_court="waits")
    record = house.record(run)
    assert (record.run.status, len(record.stages)) == ("paused", 1)
    assert record.run.reason == "Members ask the court something (1). Reply, then let the run go on."
    ((question, askers),) = waiting(record).items()
    assert len(askers) == 2
    drive(house, run)
    assert house.record(run).run.status == "paused", "nobody has replied"
    server.bodies.clear()
    house.interventions.intervene(run, ReplyToQuestions(questions=(question,), text=SAW), who="Ada")
    record = finished(house, run)
    assert not waiting(record)
    told = [body for body in server.bodies if '"vote"' in said(body)]
    assert len(told) == 6, "two more rounds"
    assert all(f"Asked:\n> {question}\n\nThe court's reply:\n> {SAW}\n" in said(body) for body in told)
    assert "What no line fits" not in said(told[0])

    fork = house.record(drive(house, house.fork(run, changed(record.setup, {"rounds": 1}))))
    assert [one.action.kind for one in fork.interventions] == ["reply"]
    assert fork.run.status == "done"


def test_prepared_replies_are_told_and_go_with_forks_and_files(house: Courthouse, server: OpenAIServer) -> None:
    server.answer = asking(PLATE, "Who insured the yard?", LIGHT)
    lines = f"plate neighbour => {SAW}\nIt was dark."
    record = house.record(begun(house, asks_court="waits", prepared_replies=lines))
    assert record.run.status == "done"
    replies = {question: reply.text for reply in record.of(Replied) for question in reply.questions}
    assert replies[PLATE] == SAW
    assert sorted((replies[LIGHT], replies["Who insured the yard?"])) == ["It was dark.", NO_MORE]
    assert {reply.stage for reply in record.of(Replied)} == {record.stages[1].path}
    last = said(server.bodies[-1])
    assert all(f"> {text}\n" in last for text in (SAW, "It was dark.", NO_MORE))

    calls = server.calls
    same = house.record(drive(house, house.fork(record.run.id, record.setup)))
    assert [reply.text for reply in same.of(Replied)] == [reply.text for reply in record.of(Replied)]
    assert server.calls == calls, "a fork asks nothing anew"
    _, text = house.files.export(record.run.id)
    house.store.delete(record.run.id)
    assert house.record(house.files.take_in(text.encode())).of(Replied) == record.of(Replied)


def test_a_run_that_was_killed_tells_the_same_replies_again(house: Courthouse, server: OpenAIServer) -> None:
    server.answer = asking(PLATE)
    record = house.record(begun(house, asks_court="yes", prepared_replies=f"plate => {SAW}"))
    house.store.interventions.plan(record.run.id, 2)
    house.database.execute("UPDATE runs SET status = 'paused', verdict = NULL WHERE id = ?", (record.run.id,))
    calls = server.calls
    again = house.record(drive(house, record.run.id))
    assert again.of(Replied) == record.of(Replied)
    # Votes of one stage stand in the order in which their answers came.
    assert {vote.path: vote.choice for vote in again.of(Voted)} == {vote.path: vote.choice for vote in record.of(Voted)}
    assert server.calls == calls


def test_a_person_replies_on_the_page(server: OpenAIServer, app_house: Courthouse) -> None:
    server.answer = asking(PLATE, NASTY)
    run = begun(app_house, asks_court="waits")
    app = page("deliberation", run=run)
    assert PLATE in texts(app)
    assert NASTY not in texts(app), "what a member says is no markup"
    (form,) = [one for one in app.multiselect if one.label == "Questions"]
    form.set_value([PLATE])
    field(app, "text_area", "The court's reply").set_value(SAW)
    press(app, "Reply")
    assert list(waiting(app_house.record(run))) == [NASTY]
    press(app, NO_MORE)
    assert not waiting(app_house.record(run))
    assert SAW.rstrip(".") in texts(app)
    record = finished(app_house, run)
    told = [moment.title for moment in scene(record, app_house.procedures["mock-jury"]).moments]
    assert any(PLATE in title and title.startswith(tuple(m.name for m in record.members)) for title in told)
    assert f"somebody replied to “{PLATE}”" in told
    app = page("deliberation", run=run)
    assert SAW.rstrip(".") in texts(app)
    assert not [one for one in app.multiselect if one.label == "Questions"]
