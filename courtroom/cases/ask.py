"""A question that somebody typed, with the files that go with it, as a case."""

import re
from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from courtroom.cases.checks import explain
from courtroom.cases.files import Package
from courtroom.cases.papers import read_papers
from courtroom.cases.question import MAX_ANSWER, WRITTEN, Piece, Question
from courtroom.errors import CaseError
from courtroom.media.medium import Medium
from courtroom.text.languages import language_of


def asked_with(question: str, options: Sequence[str] = (), files: Iterable[tuple[str, bytes]] = ()) -> Package:
    """Make a case of a question and the files that members are to read or look at.

    Args:
        options: two to six answers to choose from; none: members propose.
        files: name and content of pictures, videos, and papers as `read_papers` reads them.

    Raises:
        CaseError: there is no question, an option does not fit, or a file can't be read; the sentence says which.
    """
    text = question.strip()
    if not text:
        raise CaseError("There is no question. Type one.")
    media: dict[str, bytes] = {}
    material: list[Piece] = []
    remarks: dict[str, None] = {}
    for name, data in files:
        papers = read_papers(name, data)
        remarks |= dict.fromkeys(papers.remarks)
        for piece in papers.pieces:
            shown: tuple[Medium, ...] = ()
            if piece.medium:
                name, (kind, ending) = f"material-{len(material) + 1}", piece.form
                shown = (Medium(id=name, kind=kind, file=f"media/{name}{ending}"),)
                media[shown[0].file] = piece.medium
            material.append(Piece(text=piece.text, source=piece.source[:400], media=shown))
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")
    try:
        case = Question(
            id=f"question-{slug}" if slug else "question",
            title=text.splitlines()[0][:MAX_ANSWER],
            language=language_of(text),
            question=text,
            options=tuple(filter(None, map(str.strip, options))),
            material=tuple(material),
            source=WRITTEN,
        )
    except ValidationError as error:
        raise CaseError(" ".join(explain(error))) from error
    return Package(case, media, tuple(remarks))
