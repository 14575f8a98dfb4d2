"""What people take along from a run: its transcript, its votes as a table, and a paragraph for a methods section."""

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Literal

import pandas as pd

from courtroom.declarations.changes import differences
from courtroom.declarations.knobs import Widget, fields_drawn, setting_in_words
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.evaluation.movement import movement
from courtroom.evaluation.turnout import given_by, turnout
from courtroom.language import _, translated
from courtroom.models.request import digest_text
from courtroom.models.spec import PERSON
from courtroom.room.scene import scene
from courtroom.version import __version__

Style = Literal["title", "heading", "speaker", "text", "aside"]
_STYLES = {"title": "# {}", "heading": "## {}", "speaker": "**{}**", "aside": "*{}*", "text": "> {}"}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$])")


def transcript(record: Record, procedure: Procedure) -> Iterator[tuple[Style, str]]:
    """All that was said, voted and decided, in order; the verdict stands first, the methods paragraph last."""
    procedure = procedure.about(record.case)
    room = scene(record, procedure)
    names, sides = {seat.id: seat.name for seat in room.seats}, {side.name: side.title for side in room.sides}

    def titled(side: str) -> str:
        return translated(sides.get(side, side))

    def counted(counts: Mapping[str, int]) -> str:
        return ", ".join(f"{titled(side)} {count}" for side, count in counts.items())

    yield "title", record.run.title
    for sentence in record.answered_by:
        yield "aside", translated(sentence)
    if ended := room.verdict:
        counts = f" ({counted(ended.counts)})" if ended.counts else ""
        yield "heading", f"{translated(room.ending)}: {translated(ended.outcome)}{counts}"
        for text in filter(None, (ended.note, *turnout(record), ended.summary)):
            yield "text", translated(text)
    yield "heading", _("The case")
    for title, text in record.case.sections():
        yield "speaker", translated(title)
        yield "text", translated(text)
    for moment in room.moments:
        who = translated(names.get(moment.member, moment.member))
        match moment.kind:
            case "stage":
                yield "heading", translated(moment.title)
            case "call":
                yield "speaker", f"{who} · {translated(moment.title)}"
                for part in moment.parts:
                    yield "text", translated(part.text)
                if facts := "; ".join(f"{translated(one.label)}: {translated(one.value)}" for one in moment.facts):
                    yield "aside", facts
            case "vote":
                choice = titled(moment.choice) if moment.choice else _("abstained")
                before = moment.before if moment.before not in (None, moment.choice) and moment.choice else None
                was = _(" (was {before})", before=titled(before)) if before else ""
                was += _(" (set)") if moment.given == "set" else ""
                yield "aside", f"{who}: {choice}{was}"
            case "tally":
                yield "aside", f"{translated(room.ballots.get(moment.ballot, moment.ballot))}: {counted(moment.counts)}"
            case "act" | "note" | "look":
                yield "aside", translated(moment.title)
                for part in moment.parts:
                    yield "text", part.text
    yield "heading", _("How it was made")
    yield "text", methods(record, procedure)


def as_markdown(record: Record, procedure: Procedure) -> str:
    """Write the transcript as Markdown, in which no mark of what was said takes effect."""
    written = []
    for style, said in transcript(record, procedure):
        between = "  \n> " if style == "text" else " "  # two spaces: a break that Markdown keeps
        written.append(_STYLES[style].format(between.join(_MARKDOWN.sub(r"\\\1", said).splitlines())))
    return "\n\n".join(written) + "\n"


def as_docx(record: Record, procedure: Procedure) -> bytes:
    """Write the transcript as a Word document."""
    from docx import Document  # slow to import: only to write one

    document = Document()
    for style, said in transcript(record, procedure):
        text = _NOT_IN_XML.sub("", said)
        if style in ("title", "heading"):
            document.add_heading(text, level=0 if style == "title" else 1)
        else:
            run = document.add_paragraph().add_run(text)
            run.bold, run.italic = style == "speaker", style == "aside"
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def overruled(call: Called | None) -> bool:
    """Return whether a person has put another answer in the place of a member's."""
    return call is not None and call.source == "person" and call.model != PERSON


def votes_in_long_form(record: Record, procedure: Procedure, answers: AnswerStore) -> pd.DataFrame:
    """Return a row for each member and ballot: vote, vote before, statement, and whose words it was shown."""
    rows = [
        {
            "run": record.run.id,
            "ballot": seen.vote.ballot,
            "ballot_name": record.ballot_name(seen.vote.ballot),
            "member": seen.vote.member,
            "name": record.name_of(seen.vote.member),
            "model": seen.call.model if seen.call and seen.call.source != "person" else PERSON,
            "vote": seen.vote.choice,
            "vote_before": seen.vote.before,
            "changed": seen.vote.changed,
            "given": "overruled" if overruled(seen.call) else given_by(record, seen.vote) or "free",
            "confidence": seen.vote.confidence,
            "rests_on": " ".join(seen.vote.rests_on),
            "question": seen.vote.question,
            "statement": "\n".join(seen.vote.reasons),
            "heard_from": " ".join(dict.fromkeys(one.vote.member for one in seen.heard)),
        }
        for seen in movement(record, procedure, answers).votes
    ]
    return pd.DataFrame(rows)


def methods(record: Record, procedure: Procedure) -> str:
    """Return a paragraph that says how a run was made, to be pasted."""
    setup, run = record.setup, record.run
    kind = type(setup)
    drawn = fields_drawn(kind)
    by_case = {drawn.get(widget) for widget in (Widget.PERSONAS, Widget.FROM_CASE)}
    told_elsewhere = {"model", "roles", "members", "prompts", "budget", *by_case}
    turned = [
        setting_in_words(kind, path, value)
        for path, _before, value in differences(kind(), setup)
        if path.partition(".")[0] not in told_elsewhere and path != f"{drawn.get(Widget.GRAPH)}.edges"
    ]
    turned += [_("Edited prompt: {name}", name=name) for name, text in setup.prompts.items() if text]
    acts = [f"{one.who} {translated(one.described(kind))}" for one in record.interventions]
    given = [call.model for call in record.calls if call.value is not None]
    models = Counter(given).most_common()
    answered = ", ".join(f"{model} ({count})" for model, count in models)
    times = sorted(record.times.values())
    when = f"{datetime.fromtimestamp(times[0], UTC):%Y-%m-%d}" if times else "-"
    keys = digest_text("\n".join(sorted(key for call in record.calls for key in call.keys)))
    heard = {"case": run.title, "procedure": translated(procedure.title), "version": __version__}
    taken_part = {"members": len(record.members), "calls": len(given), "models": answered, "when": when}
    known_by = {"seed": run.seed, "digest": keys}
    said = [
        _(
            "The case “{case}” was heard by the procedure {procedure} of Courtroom; version {version} wrote this down.",
            **heard,
        ),
        _("{members} members took part; {calls} answers were given by {models}, from {when} on.", **taken_part),
        _("Settings other than the procedure's own: {settings}.", settings="; ".join(map(translated, turned)))
        if turned
        else _("All settings were the procedure's own."),
        _("Interventions ({number}): {acts}.", number=len(acts), acts="; ".join(acts)) if acts else "",
        _("The seed was {seed}; questions and answers are known by the SHA-256 {digest} over their keys.", **known_by),
    ]
    return " ".join(filter(None, (*map(translated, record.answered_by), *said)))
