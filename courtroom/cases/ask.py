"""A question that somebody typed, with the files that go with it, as a case."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from courtroom.cases.checks import explain
from courtroom.cases.files import Package, read_upload
from courtroom.cases.labelled import Document
from courtroom.cases.question import Piece, asked
from courtroom.errors import CaseError
from courtroom.media.medium import Medium
from courtroom.media.pictures import sniff
from courtroom.text.encoding import decoded

PLAIN = frozenset({".txt", ".md", ".csv", ".tsv", ".json", ".jsonl"})
"""Files whose words are the material as they stand."""


def asked_with(
    question: str, options: Sequence[str] = (), files: Iterable[tuple[str, bytes]] = (), language: str = ""
) -> Package:
    """Make a case of a question and the files that members are to read or look at.

    Args:
        question: as it was typed.
        options: two to six answers to choose from; none: members propose.
        files: name and content of pictures, videos, and texts such as the page Cases reads.
        language: in which members answer; empty: that of the question.

    Raises:
        CaseError: there is no question, an option does not fit, or a file can't be read; the sentence says which.
    """
    media: dict[str, bytes] = {}
    material: list[Piece] = []
    remarks: list[str] = []
    for number, (name, data) in enumerate(files, start=1):
        if kind := sniff(data[:16]):
            path = f"media/{number}-{re.sub(r'[^A-Za-z0-9._-]+', '-', Path(name).name)[-80:]}"
            media[path] = data
            shown = Medium(id=f"material-{number}", kind=kind[0], file=path)
            material.append(Piece(source=name[:400], media=(shown,)))
            continue
        if Path(name).suffix.lower() in PLAIN:
            text, remark = decoded(data)
            remarks += filter(None, [remark])
        else:
            read = read_upload(name, data)
            if len(read) > 1 or not isinstance(read[0].case, Document):
                raise CaseError(f"{name} holds cases of its own. Take it in on the page Cases, and hear them there.")
            text = read[0].case.text
            remarks += read[0].remarks
        material.append(Piece(text=text, source=name[:400]))
    try:
        return Package(asked(question, options, material, language), media, tuple(dict.fromkeys(remarks)))
    except ValidationError as error:
        raise CaseError(" ".join(explain(error))) from error
