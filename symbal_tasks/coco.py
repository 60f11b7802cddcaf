"""The natural domain: COCO 2017 val, objects of at least 5% of the picture (Appendix B)."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from symbal_tasks.phrases import mention_pattern, template_sentences
from symbal_tasks.records import BaseRow, Domain, Pair
from wordsight.errors import DataError

Eligible = Literal["boxes", "boxes+words", "strict"]

MIN_SHARE = 0.05
CAPTIONS_T = 2
CAPTIONS_USED = 5


@dataclass(frozen=True)
class Annotated:
    """One COCO picture: the largest box of each category as a share of its area, and captions."""

    id: int
    file: str
    width: int
    height: int
    shares: Mapping[str, float]
    captions: tuple[str, ...]
    licence: str = ""

    def big(self) -> dict[str, float]:
        """Categories with a box of at least 5% of the picture."""
        return {name: share for name, share in self.shares.items() if share >= MIN_SHARE}


def read_coco(instances: Path, captions: Path | None = None) -> tuple[Annotated, ...]:
    """Read COCO object annotations and captions, joined on the picture's id.

    Boxes count with their full area, crowds included. Raises DataError when a file is missing,
    is not COCO JSON, or an annotation names a picture or category that the file does not hold.
    """
    objects = _load(instances, ("images", "annotations", "categories"))
    names = {entry["id"]: str(entry["name"]) for entry in objects["categories"]}
    licences = {
        # the address says which version, and whether a copy may be passed on
        entry["id"]: str(entry.get("url") or entry.get("name", ""))
        for entry in objects.get("licenses", [])
    }
    images = {entry["id"]: entry for entry in objects["images"]}
    shares: dict[int, dict[str, float]] = defaultdict(dict)
    for number, annotation in enumerate(objects["annotations"]):
        where = f"{instances}: annotations[{number}]"
        image = images.get(annotation["image_id"])
        name = names.get(annotation["category_id"])
        if image is None or name is None:
            raise DataError(
                f"{where}: image_id {annotation['image_id']} or category_id "
                f"{annotation['category_id']} is not in this file; take both from one release"
            )
        _, _, width, height = annotation["bbox"]
        share = width * height / (image["width"] * image["height"])
        shares[image["id"]][name] = max(share, shares[image["id"]].get(name, 0.0))
    texts = _captions(captions) if captions else {}
    return tuple(
        Annotated(
            id=key,
            file=image["file_name"],
            width=image["width"],
            height=image["height"],
            shares=shares.get(key, {}),
            captions=texts.get(key, ()),
            licence=licences.get(image.get("license"), ""),
        )
        for key, image in sorted(images.items())
    )


def natural_domain(
    pictures: Sequence[Annotated],
    errors: Iterable[str],
    *,
    eligible: Eligible = "boxes",
    seed: int = 0,
    recipe: Mapping[str, object] | None = None,
) -> Domain:
    """Base dataset and, for every error t, where it is already present.

    ``boxes``: t has a box of at least 5%; a true object smaller than that gets labelled an error.
    ``boxes+words``: or the two sentences of T name it. ``strict``: or any box, however small, or
    any of the picture's captions names it or one of its synonyms.
    """
    skipped: Counter[str] = Counter()
    rows: list[BaseRow] = []
    kept: list[Annotated] = []
    for picture in pictures:
        big = picture.big()
        if not big:
            skipped["no object of at least 5% of the picture"] += 1
        elif len(picture.captions) <= CAPTIONS_T:
            skipped[f"{CAPTIONS_T} captions or fewer: none is left for the reference"] += 1
        else:
            rows.append(_row(picture, big, seed))
            kept.append(picture)
    present = {t: _present(t, rows, kept, eligible) for t in sorted(set(errors))}
    return Domain(
        name="natural",
        rows=tuple(rows),
        present=present,
        sentences={t: template_sentences(t) for t in sorted(present)},
        skipped=dict(skipped),
        recipe={"eligible": eligible, "seed": seed, **(recipe or {})},
    )


def _row(picture: Annotated, big: Mapping[str, float], seed: int) -> BaseRow:
    rng = random.Random(f"{seed}|captions|{picture.id}")
    captions = rng.sample(picture.captions, min(CAPTIONS_USED, len(picture.captions)))
    features = tuple(sorted(big))
    return BaseRow(
        id=str(picture.id),
        file=picture.file,
        width=picture.width,
        height=picture.height,
        caption=tuple(captions[:CAPTIONS_T]),
        reference=" ".join(captions[CAPTIONS_T:]),
        features=features,
        sizes=tuple(round(big[name], 5) for name in features),
        licence=picture.licence,
    )


def _present(
    t: str, rows: Sequence[BaseRow], pictures: Sequence[Annotated], eligible: Eligible
) -> frozenset[int]:
    found = {i for i, row in enumerate(rows) if t in row.features}
    if eligible == "boxes+words":
        pattern = mention_pattern(t)
        found |= {i for i, row in enumerate(rows) if pattern.search(" ".join(row.caption))}
    elif eligible == "strict":
        pattern = mention_pattern(t, synonyms=True)
        found |= {
            i
            for i, picture in enumerate(pictures)
            if t in picture.shares or pattern.search(" ".join(picture.captions))
        }
    return frozenset(found)


def pair_kinds(pairs: Iterable[Pair], train: Sequence[Annotated]) -> tuple[Pair, ...]:
    """The same pairs with their kinds, from counts over the training pictures (Appendix B).

    popular: t is among the ten objects in most pictures; adversarial: t is the object most often
    together with v; random: neither. A pair may be both popular and adversarial.
    """
    popular = set(popular_objects(train))
    partner = companions(train)
    return tuple(
        Pair(
            pair.t,
            pair.v,
            tuple(
                kind
                for kind, holds in (
                    ("popular", pair.t in popular),
                    ("adversarial", partner.get(pair.v) == pair.t),
                )
                if holds
            )
            or ("random",),
        )
        for pair in pairs
    )


def sample_pairs(
    features: Sequence[str], train: Sequence[Annotated], seed: int = 0
) -> tuple[Pair, ...]:
    """For each v one t drawn at random, one popular, one adversarial; equal draws are merged.

    ``features`` are the v wanted. Raises DataError when the training pictures hold fewer than two
    categories.
    """
    names = sorted({name for picture in train for name in picture.shares})
    if len(names) < 2:
        raise DataError("the training annotations hold fewer than two categories with boxes")
    popular, partner = popular_objects(train), companions(train)
    pairs: list[Pair] = []
    for v in features:
        rng = random.Random(f"{seed}|pair|{v}")
        chosen: dict[str, list[str]] = defaultdict(list)
        chosen[rng.choice([name for name in names if name != v])].append("random")
        chosen[rng.choice([name for name in popular if name != v])].append("popular")
        if v in partner:
            chosen[partner[v]].append("adversarial")
        pairs += [Pair(t, v, tuple(kinds)) for t, kinds in chosen.items()]
    return tuple(pairs)


def popular_objects(train: Sequence[Annotated], top: int = 10) -> tuple[str, ...]:
    """The objects that are in most training pictures, most frequent first."""
    counts = Counter(name for picture in train for name in picture.shares)
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:top])


def companions(train: Sequence[Annotated]) -> dict[str, str]:
    """For each object the one most often in the same training picture."""
    together: dict[str, Counter[str]] = defaultdict(Counter)
    for picture in train:
        for name in picture.shares:
            together[name].update(other for other in picture.shares if other != name)
    return {
        name: min(counts, key=lambda other: (-counts[other], other))
        for name, counts in together.items()
        if counts
    }


def _captions(path: Path) -> dict[int, tuple[str, ...]]:
    payload = _load(path, ("images", "annotations"))
    texts: dict[int, list[str]] = defaultdict(list)
    for entry in sorted(payload["annotations"], key=lambda entry: entry["id"]):
        text = _sentence(str(entry["caption"]))
        if text:
            texts[entry["image_id"]].append(text)
    return {key: tuple(captions) for key, captions in texts.items()}


def _sentence(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    # A quarter of COCO's captions end without a stop; joined bare, two would read as one sentence.
    return text if not text or text[-1] in ".!?" else text + "."


def _load(path: Path, needed: Sequence[str]) -> dict[str, Any]:
    try:
        payload: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error}); was the download cut?") from None
    missing = [key for key in needed if not isinstance(payload, dict) or key not in payload]
    if missing:
        raise DataError(f"{path}: no {', '.join(missing)} in it; is this the right COCO file?")
    return payload


def file_hash(path: Path) -> str:
    """First 16 hex digits of a file's sha256, for the recipe of a build."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]
