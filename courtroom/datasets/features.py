"""What files say of their own columns: the names of labels that are numbers.

| where | written by |
| --- | --- |
| the schema of a Parquet or Arrow file, under `huggingface` | the library `datasets` |
| `dataset_info.json` beside the files | `save_to_disk` |
| `dataset_infos.json`, `README.md` (`dataset_info`, `configs`) at the top of a folder, or above it | Hugging Face's hub |
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ABOVE = 2
"""How many folders above the given one a description may stand: a configuration is often a folder within the repository."""


@dataclass
class FolderNotes:
    """What is said of a folder: files by split of each configuration, and label names by column of each."""

    configs: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    names: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def of(self, config: str) -> tuple[Mapping[str, Any], ...]:
        """Label names by column; where no configuration is chosen, those of the only one that is described."""
        if config in self.names:
            return (self.names[config],)
        alone = list(self.names.values())
        return (alone[0],) if len(alone) == 1 else ()


def notes_of(source: Path) -> FolderNotes:
    """What the descriptions of a folder or a zip say."""
    described = FolderNotes()
    inside = {source.name}
    for depth, folder in enumerate([source, *list(source.resolve().parents)[:ABOVE]]):
        infos = _json(_read(folder, "dataset_infos.json"))
        found = FolderNotes()
        for name, info in infos.items() if isinstance(infos, dict) else ():
            if isinstance(info, dict) and (names := _names(info.get("features"))):
                found.names[str(name)] = names
        _from_card(_read(folder, "README.md"), found)
        if not found.names and not found.configs:
            inside.add(folder.name)
            continue
        if depth:  # the description of a repository, of which this is one configuration's folder
            found.configs = {}
            found.names = {name: columns for name, columns in found.names.items() if name in inside}
        return found if found.names or not depth else described
    return described


def features_in(data: bytes) -> dict[str, tuple[str, ...]]:
    """Label names by column, from a `dataset_info.json`."""
    content = _json(data)
    return _names(content.get("features")) if isinstance(content, dict) else {}


def features_of_schema(metadata: Mapping[bytes, bytes] | None) -> dict[str, tuple[str, ...]]:
    """Label names by column, from the schema of a Parquet or Arrow file."""
    content = _json((metadata or {}).get(b"huggingface", b"{}"))
    return _names(content.get("info", {}).get("features")) if isinstance(content, dict) else {}


def _read(folder: Path, name: str) -> bytes:
    if folder.is_dir():
        path = folder / name
        return path.read_bytes() if path.is_file() else b""
    if folder.suffix.lower() == ".zip" and zipfile.is_zipfile(folder):
        with zipfile.ZipFile(folder) as archive:
            return archive.read(name) if name in archive.namelist() else b""
    return b""


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None  # a damaged description says nothing; where names are needed then, the import asks for them


def _from_card(data: bytes, described: FolderNotes) -> None:
    """The YAML between the lines of dashes at the beginning of a dataset's card."""
    text = data.decode(errors="replace")
    if not text.startswith("---"):
        return
    import yaml

    try:
        content = yaml.safe_load(text[3:].partition("\n---")[0])
    except yaml.YAMLError:
        return
    if not isinstance(content, dict):
        return
    infos = content.get("dataset_info") or []
    for info in infos if isinstance(infos, list) else [infos]:
        if isinstance(info, dict) and (names := _names(info.get("features"))):
            described.names[str(info.get("config_name", "default"))] = names
    for config in content.get("configs") or []:
        if isinstance(config, dict) and config.get("data_files"):
            described.configs[str(config.get("config_name", "default"))] = dict(_files(config["data_files"]))


def _files(data: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    entries = data if isinstance(data, list) else [data]
    for entry in entries:
        if isinstance(entry, str):
            yield "", (entry,)
        elif isinstance(entry, dict) and "path" in entry:
            paths = entry["path"] if isinstance(entry["path"], list) else [entry["path"]]
            yield str(entry.get("split", "")), tuple(map(str, paths))


def _names(features: Any) -> dict[str, tuple[str, ...]]:
    """Label names by column, of all forms in which features are written."""
    if isinstance(features, list):
        features = {str(one.get("name")): one for one in features if isinstance(one, dict)}
    columns = features if isinstance(features, dict) else {}
    return {name.casefold(): names for name, feature in columns.items() if (names := _class_names(feature))}


def _class_names(feature: Any) -> tuple[str, ...]:
    if isinstance(feature, list):
        return _class_names(feature[0]) if feature else ()
    if not isinstance(feature, dict):
        return ()
    for key in ("dtype", "class_label", "feature", "sequence", "list"):
        if isinstance(feature.get(key), (dict, list)) and (within := _class_names(feature[key])):
            return within
    names = feature.get("names")
    if isinstance(names, list):
        return tuple(map(str, names))
    if isinstance(names, dict):
        return tuple(str(names[key]) for key in sorted(names, key=lambda key: int(key)))
    return ()
