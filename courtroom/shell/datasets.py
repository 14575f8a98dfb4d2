"""Datasets from a shell: `python -m courtroom datasets ...`."""

import json
import re
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from typer import Argument, Option

from courtroom import Courthouse, CourtroomError, CriminalCase
from courtroom.cases.checks import explain
from courtroom.cases.dispute import Dispute, PrecedentBatch
from courtroom.cases.readers.tables import NumberedLabels, names_from
from courtroom.datasets.row import DatasetInfo
from courtroom.datasets.selection import Preparation, Selection
from courtroom.knowledge.bases import from_dispute
from courtroom.knowledge.embedding import DEFAULT
from courtroom.shell.options import Json, Model, Set, go_on, opened, setup_with, tell, values_of

UNSAID = (
    "Norms build on the closest earlier ones. Say by what these are found: --set embedding=local/longformer as in the "
    f"paper (it needs the extra `embeddings`), or --set embedding={DEFAULT}, which needs no download."
)
app = typer.Typer(no_args_is_help=True, help="Import datasets, look at them, divide them into splits, check them.")
Version = Annotated[str | None, Option(help="Which version; the newest by default.")]
Labels = Annotated[str, Option(help="What numbers mean as labels (0=NAME,1=NAME), or the label set (NAME,NAME).")]
MAX_SHOWN = 20
STEPS = tuple(Preparation.model_fields)
Take = Annotated[list[str] | None, Option(help=f"What is kept of it: {', '.join(STEPS)}; at_least=100; once for each.")]


def _preparation(take: Sequence[str] | None) -> Preparation:
    """Return what is kept of a dataset. Raises `CourtroomError`: a step is unknown, or its value does not fit."""
    values = {name: value if given else True for name, given, value in (one.partition("=") for one in take or ())}
    try:
        return Preparation.model_validate(values)
    except ValidationError as error:
        raise CourtroomError(f"--take: {' '.join(explain(error))} There are: {', '.join(STEPS)}.") from error


@app.command("import")
def import_(
    source: Annotated[Path, Argument(help="A file, a .zip, or a folder.")],
    name: Annotated[str | None, Option(help="The dataset's name; by default the file's.")] = None,
    form: Annotated[str, Option(help="How records are read; by default as most of the first records look.")] = "",
    labels: Labels = "",
    rename: Annotated[list[str] | None, Option(help="A column under another name: OLD=NEW.")] = None,
    split: Annotated[str | None, Option(help="The split of all rows; by default as files are named.")] = None,
    config: Annotated[str, Option(help="Of a folder with several datasets, the one to import.")] = "",
    encoding: Annotated[str, Option(help="Of texts and tables, such as gb18030; by default as each file looks.")] = "",
    json_: Json = False,
) -> None:
    """Import a dataset. After a kill, the same command goes on where it stopped."""
    from courtroom.datasets.importing import Order, columns_from, dataset_name

    given: dict[str, Any] = {"form": form, "split": split, "config": config, "encoding": encoding}
    if "=" in labels:
        given["names"] = names_from(labels)
    else:
        given["labels"] = tuple(label.strip() for label in labels.split(",") if label.strip())
    called, columns = name or dataset_name(source), columns_from(rename or [])
    order = Order(source=str(source.resolve()), name=called, columns=columns, **given)
    with opened() as house:
        try:
            done = house.dataset_imports.run(order, _progress)
        except NumberedLabels as error:  # a person at the terminal gives the names; elsewhere the error is reported
            if not sys.stdin.isatty():
                raise CourtroomError(f"{error} Use --labels.") from error
            print(error, file=sys.stderr)
            asked = [(one, " (nothing: no label)" if one == "-1" else "") for one in error.values]
            told = {
                one: typer.prompt(f"The name of {one}{hint}", "" if hint else None, show_default=False)
                for one, hint in asked
            }
            names = names_from(",".join(f"{number}={name}" for number, name in told.items() if name))
            done = house.dataset_imports.run(order.model_copy(update={"names": names}), _progress)
    values: dict[str, Any] = {**done.info.model_dump(), "taken": done.taken, "refused": done.refused}
    values |= {"counts": done.counts.model_dump(), "problems": [str(one) for one in done.problems]}
    tell(values, [_in_short(done.info), *done.counts.sentences()], json_)
    for problem in done.problems[:MAX_SHOWN]:
        print(f"not taken in: {problem}", file=sys.stderr)
    if done.refused > MAX_SHOWN:
        print(f"{done.refused} records were not taken in; these are the first {MAX_SHOWN}.", file=sys.stderr)
    for remark, times in done.remarks.items():
        print(f"{remark} ({times} times)", file=sys.stderr)


def _in_short(info: DatasetInfo) -> str:
    return f"{info.name}\t{info.version}\t{info.kind}\t{info.count} rows\t{_splits(info)}"


@app.command("list")
def list_(json_: Json = False) -> None:
    """All datasets, a line each, the name first; then imports that were interrupted."""
    with opened() as house:
        infos = house.datasets.newest()
        facts = [(one.name, one.version, one.kind, str(one.count), _splits(one), one.source) for one in infos]
        tell([info.model_dump() for info in infos], map("\t".join, facts), json_)
        for job in () if json_ else house.datasets.pending():
            again = f"Import {job.source} again" if job.order else "Add its rows again"
            print(f"{job.name}: interrupted after {job.taken} rows. {again} to go on.", file=sys.stderr)


@app.command("samples")
def samples_(
    name: Annotated[str | None, Argument(help="The one to add; without a name, all are listed.")] = None,
) -> None:
    """Bundled cases as datasets: list them, or add one."""
    from courtroom.datasets.samples import add_sample, samples  # slow to import

    with opened() as house:
        by_name = {one.name: one for one in samples(house.library)}
        if name is None:
            for one in by_name.values():
                print(f"{one.name}\t{one.kind}\t{one.count}\t{one.title}")
        elif name in by_name:
            info = add_sample(house.datasets, house.library, name)
            print(f"{info.name}\t{info.version}\t{info.kind}\t{info.count}")
        else:
            raise CourtroomError(f"There are no bundled cases named “{name}”. Choose among: {', '.join(by_name)}.")


@app.command()
def show(
    name: str,
    version: Version = None,
    split: Annotated[str | None, Option(help="Only rows of this split.")] = None,
    category: Annotated[list[str] | None, Option(help="Only rows of this category; once for each.")] = None,
    contains: Annotated[str | None, Option(help="Only rows that hold this text.")] = None,
    limit: Annotated[int, Option(help="How many rows; 0 shows none.", min=0)] = 3,
    sample: Annotated[int | None, Option(help="Draw so many rows by chance.", min=1)] = None,
    seed: Annotated[int, Option(help="What the draw depends on.")] = 0,
    take: Take = None,
    json_: Json = False,
) -> None:
    """A dataset in numbers, the tables that papers print of such a dataset, the counts of its import, some rows."""
    from courtroom.datasets.printed import printed_tables
    from courtroom.datasets.statistics import measure

    with opened() as house:
        found, prepared = measure(house.datasets, name, version), _preparation(take)
        shown = sample if sample is not None else limit
        chosen = {"split": split, "limit": shown or None, "sample": sample, "seed": seed}
        wanted = Selection(**prepared.model_dump(), **chosen, category=category or (), contains=contains)
        rows = list(house.datasets.rows(name, version, wanted)) if shown else []
        tables = dict(printed_tables(house.datasets, name, version, prepared))
        counts = house.datasets.counts(name, version)
        values = {**found.model_dump(), "rows": [row.model_dump(mode="json") for row in rows]}
        values["import"] = counts.model_dump() if counts else None
        values["tables"] = {title: json.loads(one.to_json(orient="records")) for title, one in tables.items()}
        info = found.info
        lines = [f"{info.name}\t{info.version}\t{info.kind}\t{info.count} rows\tfrom {info.source}\t{info.made}"]
        for line in found.rows():
            cells = (f"{key} {one:,}" if isinstance(one, float | int) else str(one) for key, one in line.items())
            lines.append("\t".join(cells))
        lines += counts.sentences() if counts else ()
        for title, one in tables.items():
            lines += ["", title, one.to_csv(sep="\t", index=False).rstrip(), ""]
        for row in rows:
            text = " ".join(row.case.title.split())
            lines.append(f"{row.id}\t{row.split}\t{row.category}\t{row.case.real_outcome()}\t{text[:100]}")
        tell(values, lines, json_)
        for problem in [] if json_ else house.datasets.problems(name, version)[:MAX_SHOWN]:
            print(f"not taken in: {problem}", file=sys.stderr)


@app.command("split")
def split_(
    name: str,
    parts: Annotated[str, Option(help="Splits with their shares.")] = "train=3,validation=1,test=2",
    seed: Annotated[int, Option(help="What the draw depends on.")] = 0,
    version: Version = None,
) -> None:
    """Divide a dataset into splits, alike in category and outcome; disputes in category and votes."""
    shares: dict[str, float] = {}
    for part in parts.split(","):
        split, _equals, share = part.partition("=")
        if not re.fullmatch(r"\d+(\.\d+)?", share.strip()) or not split.strip():
            raise CourtroomError("Give each split a share, such as train=3,validation=1,test=2.")
        shares[split.strip()] = float(share)
    with opened() as house:
        info = house.datasets.split(name, version, shares, seed)
        print(f"{info.name}\t{info.version}\t{_splits(info)}")


@app.command()
def check(name: str, version: Version = None, json_: Json = False) -> None:
    """Look for repeated rows, rows in several splits, and texts with several outcomes; exit code 1 where there are any.

    Rows that say nearly the same are shown too; they are no error.
    """
    from courtroom.datasets.statistics import examine, near_duplicates

    with opened() as house:
        findings = examine(house.datasets, name, version)
        near = near_duplicates(house.datasets, name, version)
        sentences = [*findings.sentences(), *near.sentences()]
        fine = [f"{name}: nothing is wrong with its {findings.info.count} rows."]
        tell({**findings.model_dump(), "near": near.model_dump()}, sentences or fine, json_)
    raise typer.Exit(0 if findings.clean else 1)


@app.command()
def clean(
    name: str,
    version: Version = None,
    take: Take = None,
    to: Annotated[str | None, Option(help="A dataset of this name, in place of a new version.")] = None,
    json_: Json = False,
) -> None:
    """Keep what --take says, as a new version or as another dataset. What was there stays as it is."""
    from courtroom.datasets.statistics import cleaned

    wanted = _preparation(take)
    if wanted == Preparation():
        raise CourtroomError(f"Say what to keep, such as --take distinct. There are: {', '.join(STEPS)}.")
    with opened() as house:
        datasets = house.datasets
        if to:
            removed = {what: len(lines) for what, lines in datasets.left_out(name, version, wanted).items()}
            source = f"{name} {datasets.info(name, version).version}"
            info = datasets.add(to, datasets.rows(name, version, Selection(**wanted.model_dump())), source)
        else:
            info, removed = cleaned(datasets, name, version, wanted)
        lines = [f"{rows:,} rows were taken out, as {what}." for what, rows in removed.items()]
        lines = lines or [f"“{name}” has no such rows. Nothing was changed."]
        tell({**info.model_dump(), "removed": removed}, [_in_short(info), *lines], json_)


@app.command()
def delete(name: str, version: Annotated[str | None, Option(help="Only this version.")] = None) -> None:
    """Forget a dataset, or one version of it. Runs keep the cases that they have."""
    with opened() as house:
        house.experiments.delete_dataset(name, version)
        print(f"“{name}” is deleted.")


@app.command()
def precedents(
    name: str,
    split: Annotated[str | None, Option(help="Only rows of this split.")] = None,
    model: Model = None,
    changes: Set = None,
) -> None:
    """Make precedents of a dataset's cases, which runs look up.

    Criminal cases go into the bundled base. Disputes go into a base with the dataset's name, and --model distils norms
    from them, one after the other; where that breaks off, the same command goes on. --set embedding=... says by what
    the earlier norms are found that a new precedent builds on.
    """
    with opened() as house:
        if house.datasets.info(name).kind == "dispute":
            _distilled(house, name, split, model, changes or ())
            return
        from courtroom.datasets.samples import precedent_id

        rows, done = iter(house.datasets.rows(name, None, Selection(split=split))), 0
        while some := list(islice(rows, 200)):
            cases = [(row.id, row.case) for row in some if isinstance(row.case, CriminalCase)]
            if len(cases) < len(some):
                raise CourtroomError(f"“{name}” holds no criminal cases; only they can be precedents here.")
            made = (case.model_copy(update={"id": precedent_id(name, row)}) for row, case in cases)
            house.knowledge.of("cases").add(made)
            done += len(cases)
        print(f"{done} cases of “{name}” are precedents in “cases”.")


def _distilled(house: Courthouse, name: str, split: str | None, model: str | None, changes: Sequence[str]) -> None:
    """Precedents of disputes with votes on record, with norms, in a base of their own (CyberJurors, appendix B.2)."""
    procedure = house.first_fitting(PrecedentBatch.model_fields["kind"].default)
    setup = setup_with(procedure.setup(), values_of(changes, model))
    if not setup.embedding and house.settings.embedding == DEFAULT:
        raise CourtroomError(UNSAID)
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    disputes = (row.case for row in house.datasets.rows(name, None, Selection(split=split)))
    made = [from_dispute(case) for case in disputes if isinstance(case, Dispute) and case.jury]
    if not made:
        raise CourtroomError(f"“{name}” has no disputes there with votes on record. Choose another split.")
    collection = house.knowledge.of("precedents", base)
    collection.add(precedent for precedent in made if collection.get(precedent.id) is None)
    bare = tuple(kept for precedent in made if (kept := collection.get(precedent.id)) and not kept.norms)
    if bare:
        batch = PrecedentBatch(id="precedents", title=f"Norms of {len(bare)} precedents", precedents=bare)
        run = house.new_run(procedure.name, batch, setup_with(setup, {"base": base}), 0)
        go_on(house, run)
    done = sum(bool(kept.norms) for precedent in made if (kept := collection.get(precedent.id)))
    print(f"{done} of {len(made)} precedents in the knowledge base “{base}” have norms. Use it by --set base={base}.")
    if bare and house.store.status(run) == "failed":
        raise typer.Exit(1)


def _splits(info: DatasetInfo) -> str:
    return ", ".join(f"{split} {count}" for split, count in info.splits.items()) or "no splits"


def _progress(taken: int, refused: int, share: float) -> None:
    told = f"\r{taken} rows, {refused} refused, {share:.0%} read"
    print(told, end="" if share < 1 else "\n", file=sys.stderr, flush=True)
