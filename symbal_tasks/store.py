"""SymbalBench on disk: one base, one table of sentences, and per setting only its injections.

``base/<domain>.parquet`` holds every picture's caption and reference once, ``sentences`` the
wordings that may be injected, ``settings`` for each setting the rows it spoils and the number of
the sentence put there. ``images/<domain>-*.parquet``, where pictures were given, holds their bytes
as they came. The four folders are the four configs of the dataset on a hub, domains its splits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbal_tasks.records import BaseRow, Domain, Setting, fingerprint
from wordsight.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
CONFIGS = ("base", "sentences", "settings", "images")
# A shard is what one reader of the pictures may have to hold.
SHARD_BYTES = 256 << 20
SOURCES = {"natural": "COCO", "medical": "MIMIC-CXR"}
_TEXT, _NUMBER = ({"dtype": kind, "_type": "Value"} for kind in ("string", "int32"))
_PICTURE_FEATURES = {
    "id": _TEXT,
    "image": {"_type": "Image"},
    "width": _NUMBER,
    "height": _NUMBER,
    "source": _TEXT,
    "licence": _TEXT,
}


@dataclass(frozen=True)
class Written:
    """What a build wrote: bytes without and with pictures, and the build's identity."""

    fingerprint: str
    data_bytes: int
    picture_bytes: int
    missing_pictures: tuple[str, ...]


def write_benchmark(
    root: Path, domain: Domain, settings: Sequence[Setting], images: Path | None = None
) -> Written:
    """Write one domain into ``root``; the same input and options give the same bytes.

    ``images`` is the folder of the pictures; those missing there are returned, not hidden.
    Raises DataError when the folder does not exist or holds none of them.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if images is not None and not images.is_dir():
        raise DataError(f"{images}: no such folder of pictures")
    for config in CONFIGS[:3]:
        (root / config).mkdir(parents=True, exist_ok=True)
    base = [asdict(row) for row in domain.rows]
    wordings = [{"t": t, "text": text} for t, texts in domain.sentences.items() for text in texts]
    written: list[Path] = []
    for config, records, schema in (
        ("base", base, _base_schema()),
        ("sentences", wordings, pa.schema([("t", pa.string()), ("text", pa.string())])),
        ("settings", [asdict(s) | {"id": s.id} for s in settings], _settings_schema()),
    ):
        path = root / config / f"{domain.name}.parquet"
        table = pa.Table.from_pylist(records, schema=schema)
        pq.write_table(
            table,
            path,
            compression="zstd",
            compression_level=19,
            use_dictionary=False,
            # Sorted row numbers become small steps; the sentence numbers stay as they are.
            column_encoding={"rows.list.element": "DELTA_BINARY_PACKED"}
            if config == "settings"
            else None,
        )
        written.append(path)
    identity = fingerprint(domain.rows, settings)
    picture_bytes, missing = 0, tuple[str, ...]()
    if images is not None:
        picture_bytes, missing = _write_pictures(root / "images", domain, images)
    manifest = {
        "format": FORMAT,
        "domain": domain.name,
        "fingerprint": identity,
        "rows": len(domain.rows),
        "settings": len(settings),
        "recipe": dict(domain.recipe),
        "skipped": dict(domain.skipped),
    }
    path = root / f"{domain.name}.json"
    path.write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    written.append(path)
    return Written(identity, sum(p.stat().st_size for p in written), picture_bytes, missing)


@dataclass(frozen=True)
class Stored:
    """A domain as read back: base rows, table of sentences, settings by id."""

    root: Path
    domain: str
    rows: tuple[BaseRow, ...]
    sentences: tuple[str, ...]
    settings: Mapping[str, Setting]
    manifest: Mapping[str, Any]


def read_benchmark(root: Path, domain: str) -> Stored:
    """Read one domain. Raises DataError when it is missing, of another format, or damaged."""
    import pyarrow.parquet as pq

    path = root / f"{domain}.json"
    if not path.is_file():
        raise DataError(
            f"{root}: no SymbalBench domain {domain!r} here; build it with "
            f"`wordsight build symbalbench --domain {domain} --out {root}`"
        )
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if manifest.get("format") != FORMAT:
        raise DataError(
            f"{path}: format {manifest.get('format')}, this version reads {FORMAT}: build it again"
        )
    tables = {}
    for config in CONFIGS[:3]:
        shard = root / config / f"{domain}.parquet"
        try:
            tables[config] = pq.read_table(shard).to_pylist()
        except (OSError, ValueError) as error:
            raise DataError(f"{shard}: cannot be read ({error}); fetch it again") from None
    rows = tuple(_base_row(row) for row in tables["base"])
    settings = tuple(_setting(row) for row in tables["settings"])
    found = fingerprint(rows, settings)
    if found != manifest["fingerprint"]:
        raise DataError(
            f"{root}: domain {domain}: the tables give {found}, the manifest says "
            f"{manifest['fingerprint']}; they come from different builds: fetch all again"
        )
    return Stored(
        root,
        domain,
        rows,
        tuple(row["text"] for row in tables["sentences"]),
        {setting.id: setting for setting in settings},
        manifest,
    )


def _write_pictures(folder: Path, domain: Domain, images: Path) -> tuple[int, tuple[str, ...]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            ("id", pa.string()),
            ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
            ("width", pa.int32()),
            ("height", pa.int32()),
            ("source", pa.string()),
            ("licence", pa.string()),
        ],
        # so that the library datasets shows pictures, not bytes, also without the card
        metadata={"huggingface": json.dumps({"info": {"features": _PICTURE_FEATURES}})},
    )
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{domain.name}-*.parquet"):
        old.unlink()
    missing: list[str] = []
    total = 0
    for number, batch in enumerate(_batches(domain, images, missing)):
        path = folder / f"{domain.name}-{number:05d}.parquet"
        # Small row groups: showing one picture must not read a shard.
        pq.write_table(
            pa.Table.from_pylist(batch, schema=schema), path, compression="none", row_group_size=16
        )
        total += path.stat().st_size
    if len(missing) == len(domain.rows):
        raise DataError(
            f"{images}: holds none of the {len(domain.rows)} pictures (first: "
            f"{domain.rows[0].file}); name the folder that holds the files themselves"
        )
    return total, tuple(missing)


def _batches(domain: Domain, images: Path, missing: list[str]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for row in domain.rows:
        path = images / row.file
        if not path.is_file():
            missing.append(row.file)
            continue
        content = path.read_bytes()
        batch.append(
            {
                "id": row.id,
                "image": {"bytes": content, "path": Path(row.file).name},
                "width": row.width,
                "height": row.height,
                "source": SOURCES.get(domain.name, domain.name),
                "licence": row.licence,
            }
        )
        size += len(content)
        if size >= SHARD_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _base_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("file", pa.string()),
            ("width", pa.int32()),
            ("height", pa.int32()),
            ("caption", pa.list_(pa.string())),
            ("reference", pa.string()),
            ("features", pa.list_(pa.string())),
            ("sizes", pa.list_(pa.float64())),
            ("licence", pa.string()),
        ]
    )


def _settings_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("domain", pa.string()),
            ("t", pa.string()),
            ("v", pa.string()),
            ("strength", pa.float64()),
            ("achieved", pa.float64()),
            ("n", pa.int32()),
            ("n_v", pa.int32()),
            ("with_v", pa.int32()),
            ("without_v", pa.int32()),
            ("kinds", pa.list_(pa.string())),
            ("feature_size", pa.float64()),
            ("rows", pa.list_(pa.int32())),
            ("sentences", pa.list_(pa.uint16())),
            ("places", pa.list_(pa.uint8())),
        ]
    )


def _base_row(row: Mapping[str, Any]) -> BaseRow:
    lists = {key: tuple(row[key]) for key in ("caption", "features", "sizes")}
    return BaseRow(**{**row, **lists})


def _setting(row: Mapping[str, Any]) -> Setting:
    lists = {key: tuple(row[key]) for key in ("kinds", "rows", "sentences", "places")}
    fields = {key: value for key, value in row.items() if key != "id"}
    return Setting(**{**fields, **lists})
