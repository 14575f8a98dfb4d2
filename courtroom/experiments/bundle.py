"""An experiment as a paper needs it: table, figures, methods, checklist, metadata, and what it takes to run it again.
Every number of its texts stands in `facts.json` or `results.json`, which lie beside them."""

from __future__ import annotations

import hashlib
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from mimetypes import guess_type
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from pydantic_core import to_json

from courtroom.errors import CourtroomError
from courtroom.evaluation.significance import ALPHA
from courtroom.experiments.hypotheses import prompts_hash
from courtroom.experiments.printed_figures import drawn, figures_of
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.spec import as_toml
from courtroom.experiments.table import sentence, spent, summary
from courtroom.experiments.written import csv_of, latex, markdown, rendered, tests_of
from courtroom.models.prompts import templates
from courtroom.models.spec import OFFLINE, ModelSpec
from courtroom.text.files import replacing
from courtroom.version import __version__

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

COMMAND = "courtroom experiment run experiment.toml"
CONTENTS = {
    "paper.tex": "a document with methods, results, table and figures",
    "table.tex": "the table in LaTeX, with intervals and what its marks mean",
    "table.md": "the same in Markdown, with a sentence for each pair of arms",
    "methods.md": "the methods in a paragraph",
    "checklist.md": "GUIDE-LLM: what the record answers, and what is open",
    "facts.json": "the numbers of the methods",
    "results.json": "the numbers of the table, with all tests",
    "cells.csv": "a line for each case, arm and repeat",
    "hypotheses.json": "the hypotheses with their lock, and what the results say of each",
    "experiment.toml": "the experiment's file: what is needed to run it again",
    "requirements.txt": "the versions of the packages with which the bundle was made",
}
ENGLISH = re.compile("[\u0000-\u007e‐-—‘-”…]*")
LATIN = re.compile("[\u0000-\u017f‐-—‘-”…]*")
CHINESE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


def engine_for(text: str) -> tuple[str, list[str]]:
    """The program that sets a text, and the packages that its letters need."""
    if LATIN.fullmatch(text):
        return "pdflatex", [] if ENGLISH.fullmatch(text) else ["fontenc"]
    return "xelatex", ["ctex" if CHINESE.search(text) else "fontspec"]


def files_of(found: ExperimentResults, house: Courthouse) -> dict[str, bytes]:
    """The files of a bundle by their paths, but for the crate's metadata. Raises `CourtroomError`: the experiment has
    no result yet, or it is a what-if on one case."""
    experiment = found.kept.experiment
    if experiment.dataset.run:
        raise CourtroomError("A what-if rests on one case, so it has no table for a paper.")
    if not found.table.lines:
        raise CourtroomError("No cell is done yet. Start the experiment with `courtroom experiment resume`.")
    facts, title = facts_of(found, house), experiment.title or experiment.name
    said = [*summary(found.pairs, found.overall), *(sentence(one) for one in found.pairs if one.holds)]
    files, figures, glyphs = dict[str, bytes](), list[dict[str, str]](), False
    for one in figures_of(found):
        path = f"figures/{one.name}" + (f"-{len(figures)}" if f"figures/{one.name}.svg" in files else "")
        made, lacks = drawn(one)
        glyphs = glyphs or lacks
        files |= {f"{path}.{ending}": content for ending, content in made.items()}
        figures.append({"path": path, "caption": one.caption})
    methods = " ".join(rendered("methods.j2", facts=facts).split())
    table = latex(found.table, found.pairs, title, found.notes)
    shown = "".join([methods, table, *said, *(one["caption"] for one in figures)])
    engine, own = engine_for(shown)
    stated = {"title": title, "engine": engine, "packages": [*own, "booktabs", "graphicx"]}
    texts = {
        "paper.tex": rendered("paper.tex.j2", methods=methods, said=said, figures=figures, **stated),
        "table.tex": table,
        "table.md": markdown(found),
        "methods.md": methods + "\n",
        "checklist.md": rendered("checklist.md.j2", facts=facts),
        "facts.json": _json(facts),
        "results.json": _json(found.as_data()),
        "cells.csv": csv_of(found.frame),
        "experiment.toml": as_toml(experiment),
        "requirements.txt": "\n".join(_versions()) + "\n",
        **_prompts(found, house),
    }
    if experiment.lock:
        lock = {"digest": experiment.lock.digest, **experiment.lock.model_dump(mode="json")}
        findings = [one.model_dump(mode="json") for one in found.findings]
        texts["hypotheses.json"] = _json({"lock": lock, "findings": findings})
    predictions = sorted({arm.predictions for arm in experiment.arms if arm.predictions})
    contents = {path: what for path, what in CONTENTS.items() if path in texts}
    texts["README.md"] = rendered(
        "README.md.j2", facts=facts, contents=contents, glyphs=glyphs, predictions=predictions, **stated
    )
    return {path: text.encode() for path, text in texts.items()} | files


def write_bundle(found: ExperimentResults, house: Courthouse, to: Path) -> None:
    """Write a bundle as a research object crate (RO-Crate 1.1) into a new folder, or into a file that ends in .zip.
    Raises `CourtroomError`: see `files_of`; or the place is taken or can't be written to."""
    if to.is_dir() and any(to.iterdir()):
        raise CourtroomError(f"{to} is not empty. Name a new folder, or a file that ends in .zip, with --to.")
    crate = _crate(found, files_of(found, house))
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        if to.suffix == ".zip":
            with replacing(to) as part:
                crate.write_zip(part)
        else:
            crate.write(to)
    except OSError as error:
        raise CourtroomError(f"{to} can't be written: {error.strerror}. Name another with --to.") from error


def zipped(found: ExperimentResults, house: Courthouse) -> bytes:
    with TemporaryDirectory() as folder:
        write_bundle(found, house, path := Path(folder) / "bundle.zip")
        return path.read_bytes()


def _crate(found: ExperimentResults, files: Mapping[str, bytes]) -> Any:
    from rocrate.model import ContextEntity, SoftwareApplication  # slow to import
    from rocrate.rocrate import ROCrate

    experiment = found.kept.experiment
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    crate.name = experiment.title or experiment.name
    crate.description = f"Experiment {found.kept.id}: table, figures, methods, and what is needed to run it again."
    told = {"name": "No licence is chosen yet", "description": "The authors name one before they publish this."}
    crate.license = crate.add(ContextEntity(crate, "#licence", {"@type": "CreativeWork", **told}))
    made = {}
    for path, content in files.items():
        kind = guess_type(path)[0] or "text/plain"
        what = CONTENTS.get(path, "A figure" if path.startswith("figures/") else "The template of a prompt")
        described = {"name": path, "description": what, "encodingFormat": kind}
        described |= {"sha256": hashlib.sha256(content).hexdigest(), "contentSize": str(len(content))}
        made[path] = crate.add_file(io.BytesIO(content), path, properties=described)
    program = {"name": "Courtroom", "version": __version__, "softwareVersion": __version__}
    software = crate.add(SoftwareApplication(crate, "#courtroom", program))
    results = [made[path] for path in ("results.json", "cells.csv")]
    crate.add_action(software, "#experiment", made["experiment.toml"], results, {"name": COMMAND})
    return crate


def _prompts(found: ExperimentResults, house: Courthouse) -> dict[str, str]:
    """The prompt templates of its procedures, by their paths in the bundle."""
    return {
        f"prompts/{name}/{template}.md.j2": text
        for name in sorted(found.kept.experiment.procedures)
        for template, text in templates(house.procedures[name].prompts, *house.procedures[name].kinds).items()
    }


def _versions() -> Iterator[str]:
    """The packages that Courtroom asks for, at the versions that are installed."""
    try:
        asked = [Requirement(line) for line in requires("courtroom") or ()]
    except PackageNotFoundError:  # run from its folder, without an install
        asked = []
    for name in sorted({one.name for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})}):
        with suppress(PackageNotFoundError):
            yield f"{name}=={version(name)}"


def _json(value: Any) -> str:
    """What is no number is null, as JSON has it."""
    return to_json(value, indent=2, inf_nan_mode="null").decode() + "\n"


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


def facts_of(found: ExperimentResults, house: Courthouse) -> dict[str, Any]:
    """Return what is on record of how an experiment was done: all that the texts of a bundle say of it."""
    kept, experiment = found.kept, found.kept.experiment
    done = [row for row in found.rows if row.run and row.state == "done"]
    runs = {arm: [row.run for row in done if row.arm == arm] for arm in found.arms}
    ends = {arm: dict.fromkeys([*mine[:1], *mine[-1:]]) for arm, mine in runs.items()}
    looked = {arm: list(map(house.record, mine)) for arm, mine in ends.items()}
    records = [one for several in looked.values() for one in several]
    settings: dict[tuple[str, str, str, tuple[str, ...]], list[str]] = {}
    plan: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for place, arm in enumerate(experiment.arms):
        specs = {member.spec.model_dump_json(): member.spec for one in looked[arm.name] for member in one.members}
        who, sampling = _models([*specs.values()], arm.model, bool(arm.predictions))
        calls = [call for one in looked[arm.name] for call in one.calls]
        answered = sorted({call.answered for call in calls if call.answered and call.answered != OFFLINE})
        settings.setdefault((who, arm.procedure, sampling, tuple(answered)), []).append(arm.name)
        repeats = 1 + max((row.repeat for row in found.rows if row.arm == arm.name), default=0)
        seeds = () if arm.predictions else tuple(experiment.seed(place, repeat) for repeat in range(repeats))
        plan.setdefault((repeats, seeds), []).append(arm.name)
    all_ = spent(found.rows)
    states = Counter(row.state for row in found.rows)
    named = {"id": kept.id, **experiment.model_dump(include={"name", "title", "source"}), "digest": experiment.digest}
    dataset = {**experiment.dataset.model_dump(include={"name", "version", "split"}), "kind": kept.kind}
    dataset |= {"cases": len({row.row for row in found.rows})}
    dataset |= {"train": experiment.teaches.split if experiment.teaches else None}
    tested = {"interval": 95, "alpha": ALPHA, "tests": tests_of(found.pairs)}
    hypotheses = {}
    if lock := experiment.lock:
        at = f"{lock.at:%Y-%m-%d %H:%M} UTC"
        hypotheses = {"number": len(lock.hypotheses), "locked": at, "hash": lock.digest}
    times = [at for one in records for at, _ in one.events]
    return {
        "experiment": named,
        "dataset": dataset,
        "arms": found.arms,
        "settings": [
            {"who": who, "procedure": procedure, "sampling": sampling, "answered": answered, "arms": arms}
            for (who, procedure, sampling, answered), arms in settings.items()
        ],
        "plan": [{"repeats": repeats, "seeds": seeds, "arms": arms} for (repeats, seeds), arms in plan.items()],
        "cells": {"all": len(found.rows), **{state: states[state] for state in ("done", "failed", "waiting")}},
        "took": {
            **{"calls": all_.calls, "tokens": all_.tokens, "seconds": round(all_.seconds, 1), "dollars": all_.cost},
            **({"estimated": True} if all_.estimated else {}),
        },
        "statistics": {**tested, "corrected": sorted({pair.pairs for pair in found.pairs} - {1})},
        "hypotheses": hypotheses,
        # What persons did to, and what was looked up in, the runs looked at: the first and the last of each arm.
        "interventions": sum(len(one.interventions) for one in records),
        "retrievals": sum(len(one.retrievals) for one in records),
        "prompts": {
            "hash": prompts_hash(house.procedures, experiment.procedures),
            "files": {path: hashlib.sha256(text.encode()).hexdigest() for path, text in _prompts(found, house).items()},
        },
        "software": {"courtroom": __version__, "python": ".".join(map(str, sys.version_info[:3]))},
        "dates": {"begun": _day(kept.created), "last": _day(max(times)) if times else ""},
        "command": COMMAND,
    }


def _models(specs: Sequence[ModelSpec], named: str, elsewhere: bool) -> tuple[str, str]:
    """Who answers, and how it draws its words."""
    if elsewhere:
        return f"Predictions made elsewhere{f' ({named})' if named else ''}", ""
    asked = [one for one in specs if one.id != OFFLINE]
    names = sorted({one.id for one in asked})
    if any(one.id == OFFLINE for one in specs) or not specs:
        names.append("the offline model of Courtroom (formulas and word counts, no language model)")
    if names and not asked:
        names = ["The" + names[0].removeprefix("the")]
    told = []
    for one in asked:
        given = {"temperature": one.temperature, "top-p": one.top_p, **one.extra}
        words = [f"{name} {value}" for name, value in given.items() if value is not None]
        told.append(", ".join([*words, f"at most {one.max_tokens:,} tokens an answer"]))
    return " and ".join(names), "; ".join(dict.fromkeys(told))
