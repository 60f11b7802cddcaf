"""Build the demo data set in ``sage_tasks/demo`` from freely licensed pictures.

    python -m tools.build_demo --sources sources [--out sage_tasks/demo] [--seed 7]

run at the root of the checkout, prints the counts. ``senses.yaml`` beside this file says which
pictures show which sense of which term; every line of it was chosen by eye. The packages (240 MB
to fetch) are brought by:

    mkdir sources && cd sources
    apt-get download openclipart-png openclipart-svg wordnet-base
    npm pack @lobehub/fluent-emoji-3d@1.1.0 emoji-datasource-google@16.0.0
    for package in *.deb; do dpkg-deb -x "$package" debian; done
    mkdir fluent google
    tar xzf lobehub-fluent-emoji-3d-1.1.0.tgz -C fluent
    tar xzf emoji-datasource-google-16.0.0.tgz -C google

The data set in the repository was built with the Debian versions 1:0.18+dfsg-19 (openclipart) and
1:3.0-37 (WordNet 3.0). The same inputs, seed and Pillow give the same bytes. Another version of
Pillow's WebP encoder may give other bytes, hence other picture ids and another fingerprint; the
item ids stay, because they are built from the names of the pictures.

The pictures are cropped, put on white and resized to 224 px. The SVG files are read only for
their metadata: author, and the statement that the picture is in the public domain.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from pydantic import BaseModel

from sage_tasks.package import open_package, read_jsonl
from sage_tasks.records import ImageRecord, Kind, Query, item_id
from tools.build_demo.compose import Item, Sense, compose, in_hash_order
from tools.build_demo.sources import SourcePicture, Sources
from wordsight.errors import DataError, WordsightError
from wordsight.pictures import decode_rgb

SIDE = 224
MARGIN = 8
QUALITY = 60


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=Path, required=True, help="folder with the packages")
    parser.add_argument("--out", type=Path, default=Path("sage_tasks/demo"))
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    try:
        build(options.sources, options.out, options.seed)
    except WordsightError as error:
        raise SystemExit(f"error: {error}") from None


def build(root: Path, out: Path, seed: int) -> None:
    """Read, choose, draw, write and check."""
    senses, sources = read_senses(Path(__file__).with_name("senses.yaml"), root)
    items = compose(senses, seed)
    names = {
        name
        for item in items
        for name in (item.gold, item.swap, *item.hard, *item.random)
        if name is not None
    }
    drawings = {name: render(sources[name]) for name in sorted(names)}
    records = {name: image_record(sources[name], data) for name, data in drawings.items()}
    queries = {
        "demo": [query(item, item.gold, "sage_demo", records, seed) for item in items],
        "demo_swapped": [
            query(item, item.swap, "sage_demo_swapped", records, seed)
            for item in items
            if item.swap is not None
        ],
    }
    write(out, drawings, records, queries)
    report(out)


def read_senses(path: Path, root: Path) -> tuple[list[Sense], dict[str, SourcePicture]]:
    """The curation list, with each entry resolved to pictures and each synset to its gloss."""
    sources = Sources(root)
    pictures: dict[str, SourcePicture] = {}
    senses = []
    for term, rows in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        for row in rows:
            found = [picture for entry in row["pictures"] for picture in sources.find(entry)]
            for picture in found:
                if pictures.setdefault(picture.id, picture).path != picture.path:
                    raise DataError(f"{path}: two files are called {picture.id}")
            senses.append(
                Sense(
                    id=f"{term}/{slug(row['context'])}",
                    term=term,
                    context=row["context"],
                    synset=row["synset"],
                    gloss=sources.gloss(row["synset"]),
                    entries=frozenset(row["pictures"]),
                    pictures=tuple(dict.fromkeys(picture.id for picture in found)),
                    also=frozenset(row.get("also", ())),
                )
            )
    known = Counter(sense.id for sense in senses)
    for sense in senses:
        if known[sense.id] > 1:
            raise DataError(f"{path}: {sense.id} stands twice")
        if unknown := sense.also - known.keys():
            raise DataError(f"{path}: {sense.id}: 'also' names no sense: {sorted(unknown)}")
    return senses, pictures


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("'", "")).strip("-")


def render(picture: SourcePicture) -> bytes:
    """Crop to the drawing, fit into the square on white, encode as WebP."""
    from PIL import Image, ImageChops

    with picture.path.open("rb") as stream:
        drawing = decode_rgb(stream, str(picture.path))
    box = ImageChops.difference(drawing, Image.new("RGB", drawing.size, "white")).getbbox()
    if box is None:
        raise DataError(f"{picture.path}: the picture is blank")
    drawing = drawing.crop(box)
    scale = (SIDE - 2 * MARGIN) / max(drawing.size)
    width, height = (max(1, round(side * scale)) for side in drawing.size)
    drawing = drawing.resize((width, height), Image.Resampling.LANCZOS)
    square = Image.new("RGB", (SIDE, SIDE), "white")
    square.paste(drawing, ((SIDE - width) // 2, (SIDE - height) // 2))
    encoded = io.BytesIO()
    square.save(encoded, "WEBP", quality=QUALITY, method=6)
    return encoded.getvalue()


def image_record(picture: SourcePicture, data: bytes) -> ImageRecord:
    return ImageRecord(
        id=hashlib.sha256(data).hexdigest(),
        source_id=picture.id,
        width=SIDE,
        height=SIDE,
        source=picture.source,
        licence=picture.licence,
        credit=picture.credit,
        label=picture.label,
        file=f"{picture.slug}.webp",
    )


def query(item: Item, gold: str, task: str, records: Mapping[str, ImageRecord], seed: int) -> Query:
    """The item with its candidates in an order of its own for each task."""
    kinds: dict[str, Kind] = {
        gold: "gold",
        **dict.fromkeys(item.hard, "hard"),
        **dict.fromkeys(item.random, "random"),
    }
    order = in_hash_order(kinds, seed, "order", task, item.sense.id)
    return Query(
        id=item_id(task, item.sense.term, item.sense.context, order),
        task=task,
        term=item.sense.term,
        context=item.sense.context,
        pos=item.sense.pos,
        candidates=tuple(records[name].id for name in order),
        candidate_sources=tuple(order),
        kinds=tuple(kinds[name] for name in order),
        gold=order.index(gold),
        sense=item.sense.synset,
        gloss=item.sense.gloss,
        source_id=item.sense.id,
    )


def write(
    out: Path,
    drawings: Mapping[str, bytes],
    records: Mapping[str, ImageRecord],
    queries: Mapping[str, Sequence[Query]],
) -> None:
    """Replace pictures, records and queries under ``out``; README and NOTICE are left alone."""
    for folder in ("images", *queries):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    for name, data in drawings.items():
        (out / "images" / records[name].file).write_bytes(data)
    write_lines(out / "images.jsonl", [records[name] for name in sorted(records)])
    for config, rows in queries.items():
        write_lines(out / config / "test.jsonl", rows)


def write_lines(path: Path, rows: Sequence[BaseModel]) -> None:
    text = "".join(row.model_dump_json() + "\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="\n")


def report(out: Path) -> None:
    """Open what was written, which checks it, and print its counts."""
    for config in ("demo", "demo_swapped"):
        package = open_package(out, config, "test")
        kinds = Counter(kind for row in package.queries for kind in row.kinds)
        terms = {row.term for row in package.queries}
        print(
            f"{config}: {len(package.queries)} items, {len(terms)} terms, "
            f"{len(package.images)} pictures; candidates: "
            + ", ".join(f"{kinds[kind]} {kind}" for kind in ("gold", "hard", "random"))
            + f"; fingerprint {package.fingerprint}"
        )
        guess = sum(1 / (1 + row.kinds.count("hard")) for row in package.queries)
        print(f"  knowing the term, not the sense: Hits@1 {guess / len(package.queries):.3f}")
    licences = Counter(record.licence for record in read_jsonl(out / "images.jsonl", ImageRecord))
    shares = ", ".join(f"{count} {name}" for name, count in sorted(licences.items()))
    print(f"images: {licences.total()}: {shares}")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"size: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
