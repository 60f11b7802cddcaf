"""Every form of caption file, and every kind of bad row."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from symbal_tasks.audit.captions import Columns, read_captions, read_hub
from symbal_tasks.audit.features import (
    DetectorFeatures,
    ReferenceFeatures,
    TableFeatures,
    read_features,
)
from symbal_tasks.backends import Row
from tests.symbal_tasks.tiny_detector import build_tiny_detector
from wordsight.errors import DataError

PAIRS = [("a.png", "A dog."), ("b.png", "A cat, and a hat."), ("c.png", "Ein Vögelchen.")]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for k, (name, _) in enumerate(PAIRS):
        Image.new("RGB", (8, 8), (k * 60, 0, 0)).save(folder / name)
    return folder


def _write(form: str, folder: Path, images: Path) -> Path:
    path = folder / f"captions.{form}"
    rows = [{"image": image, "caption": text} for image, text in PAIRS]
    if form == "csv":
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, ["image", "caption"])
            writer.writeheader()
            writer.writerows(rows)
    elif form == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    elif form == "parquet":
        held = [
            {"image": {"bytes": (images / i).read_bytes(), "path": i}, "caption": c}
            for i, c in PAIRS
        ]
        pq.write_table(pa.Table.from_pylist(held), path)
    elif form == "tar":
        with tarfile.open(path, "w") as archive:
            for image, text in PAIRS:
                parts = ((image, (images / image).read_bytes()), (image[0] + ".txt", text.encode()))
                for name, content in parts:
                    member = tarfile.TarInfo(f"shard/{name}")
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
    elif form == "coco.json":
        payload = {
            "images": [{"id": k, "file_name": image} for k, (image, _) in enumerate(PAIRS)],
            "annotations": [
                {"id": 7 + k, "image_id": k, "caption": text} for k, (_, text) in enumerate(PAIRS)
            ],
        }
        path.write_text(json.dumps(payload))
    else:
        payload_list = [
            {
                "id": image[0],
                "image": image,
                "conversations": [
                    {"from": "human", "value": "Describe."},
                    {"from": "gpt", "value": text},
                ],
            }
            for image, text in PAIRS
        ]
        path.write_text(json.dumps(payload_list))
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "tar", "coco.json", "sharegpt.json"])
def test_every_form_gives_the_same_rows(form: str, tmp_path: Path, images: Path) -> None:
    found = read_captions(
        _write(form, tmp_path, images), images if form not in ("tar", "parquet") else None
    )
    assert [row.caption for row in found.rows] == [text for _, text in PAIRS]
    assert not found.skipped
    for row, (image, _) in zip(found.rows, PAIRS, strict=True):
        assert row.picture is not None
        assert row.picture() == (images / image).read_bytes()
        assert Path(found.picture_of[row.id]).stem.endswith(image[0])


def test_bad_rows_are_counted(tmp_path: Path, images: Path) -> None:
    path = tmp_path / "bad.jsonl"
    good = json.dumps({"id": "1", "image": "a.png", "caption": "A dog."}).encode()
    lines = [
        good,
        b'{"id": "2", "image": "a.png", "caption": "  "}',
        b'{"id": "3", "image": "a.png", "caption": "caf\xe9"}',
        b'{"id": "4", "image": "gone.png", "caption": "A dog."}',
        b'{"id": "5", "image": "../captions.csv", "caption": "A dog."}',
        b'{"id": "6", "caption": "A dog."}',
        good,
        b'{"id": "7", "image": "a.png", "capt',
        b'"a string"',
        b'{"id": "8", "image": "a.png", "caption": null}',
    ]
    path.write_bytes(b"\n".join(lines))
    (tmp_path / "captions.csv").write_text("secret")
    found = read_captions(path, images)
    assert len(found.rows) == 1
    assert found.skipped == {
        "empty caption": 2,
        "not UTF-8": 1,
        "picture missing": 3,
        "id that stood before": 1,
        "line is not JSON": 1,
        "line is not a JSON object": 1,
    }


def test_csv_that_is_not_utf8_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes(b"image,caption\na.png,caf\xe9\nb.png,A dog.\n")
    found = read_captions(path)
    assert [row.caption for row in found.rows] == ["A dog."]
    assert found.skipped == {"not UTF-8": 1}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "image,words\na,b\n", "no caption field among image, words"),
        ("x.csv", "image,caption\n", "no row is left"),
        ("x.jsonl", '{"caption": ""}', "empty caption"),
        ("x.json", "{}", "neither COCO captions nor a list"),
        ("x.json", "[", "not JSON"),
        ("x.tar", "no tar", "cannot be read as tar"),
        ("x.parquet", "no parquet", "cannot be read as Parquet"),
        ("x.docx", "", "no known form"),
    ],
)
def test_unusable_files_are_errors(name: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_captions(path)
    with pytest.raises(DataError, match="no such file"):
        read_captions(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="no such folder"):
        read_captions(path, tmp_path / "nowhere")


def test_fields_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("pic,words,truth,key\na.png,A dog.,A cat.,k1\n")
    found = read_captions(path, columns=Columns("words", "pic", "truth", "key"))
    assert found.rows[0] == Row("k1", "A dog.", "A cat.")
    assert found.picture_of == {"k1": "a.png"}
    with pytest.raises(DataError, match="no field 'wrds'"):
        read_captions(path, columns=Columns("wrds"))


def test_a_dataset_folder_reads_like_a_hub_dataset(tmp_path: Path, images: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    _write("parquet", folder, images).rename(folder / "train.parquet")
    found = read_hub(str(folder))
    assert [row.caption for row in found.rows] == [text for _, text in PAIRS]
    assert found.rows[1].picture is not None
    assert found.rows[1].picture() == (images / "b.png").read_bytes()


def test_feature_tables(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text("image,dog,cat\na.png,1,0\nb.png,0,0\n")
    long = tmp_path / "long.csv"
    long.write_text("image,feature\na.png,dog\nb.png,\n")
    for table in (read_features(wide), read_features(long)):
        assert table.of("folder/a.png") == {"dog"}
        assert table.of("b.png") == set()
        assert table.of("shard/a") == {"dog"}
        assert table.marks(["dog"], ["a.png", "b.png"], [[], []]) == {"dog": {"a.png"}}
        with pytest.raises(DataError, match=r"no picture 'c\.png'"):
            table.of("c.png")
    assert read_features(long).names == ("dog",)
    wide.write_text("image,dog\na.png,yes\n")
    with pytest.raises(DataError, match=r"wide\.csv: line 2: dog"):
        read_features(wide)
    wide.write_text("picture,dog\n")
    with pytest.raises(DataError, match="column 'image'"):
        read_features(wide)
    assert TableFeatures({}, ()).candidates(["x"]) == []
    twice = TableFeatures({"a.png": frozenset(), "a.jpg": frozenset({"dog"})}, ("dog",))
    with pytest.raises(DataError, match="no picture 'a'"):
        twice.of("a")


def test_reference_features_read_words() -> None:
    rows = [
        [Row("1", "", "Two dogs run.")],
        [Row("2", "", "A hot dog stand."), Row("3", "", "A bus.")],
    ]
    source = ReferenceFeatures()
    marks = source.marks(["dog", "hot dog", "cat"], ["1", "2"], rows)
    assert marks == {"dog": {"1", "2"}, "hot dog": {"2"}, "cat": set()}
    assert source.candidates(["the", "a dog"]) == ["a dog"]


def test_detector_looks_at_a_picture_once(tmp_path: Path, images: Path) -> None:
    folder = build_tiny_detector(tmp_path / "owl")
    rows = [[Row(name, "", "", (images / name).read_bytes)] for name, _ in PAIRS]
    keys = [name for name, _ in PAIRS]
    low = DetectorFeatures(str(folder), threshold=0.0)
    names = ["dog", "a very long name " * 20]
    assert low.marks(names, keys, rows) == {name: set(keys) for name in names}
    # a name asked beside others gets the score that it gets alone
    content = (images / keys[0]).read_bytes()
    alone = DetectorFeatures(str(folder))._scores(names[:1], content, keys[0])
    together = low._scores(names, content, keys[0])
    assert together[names[0]] == pytest.approx(alone[names[0]], abs=1e-5)
    for path in folder.iterdir():
        path.unlink()
    high = DetectorFeatures(str(folder), threshold=1.01, cache=low.cache)
    assert high.marks(names, keys, rows) == {name: set() for name in names}
    with pytest.raises(DataError, match="needs --images"):
        low.marks(["dog"], ["x"], [[Row("x", "")]])


@pytest.mark.parametrize("images_given", [True, False])
def test_every_caption_of_a_picture_is_read(
    images_given: bool, tmp_path: Path, images: Path
) -> None:
    path = tmp_path / "two.csv"
    path.write_text("image,caption\na.png,A dog.\na.png,A kite.\nb.png,A cat.\na.png,A sky.\n")
    found = read_captions(path, images if images_given else None)
    assert [row.caption for row in found.rows] == ["A dog.", "A kite.", "A cat.", "A sky."]
    assert found.picture_of == {
        "a.png": "a.png",
        "a.png#2": "a.png",
        "b.png": "b.png",
        "a.png#3": "a.png",
    }
    assert not found.skipped


def test_a_made_id_never_costs_a_row(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("image,caption\na#2,One.\na,Two.\na,Three.\na,Four.\n")
    found = read_captions(path)
    assert [row.caption for row in found.rows] == ["One.", "Two.", "Three.", "Four."]
    # an id that the file gives is a duplicate only of one that the file gave
    path.write_text("id,image,caption\n,a,One.\na,b,Two.\na,c,Three.\n")
    found = read_captions(path)
    assert [row.caption for row in found.rows] == ["One.", "Two."]
    assert found.skipped == {"id that stood before": 1}


@pytest.mark.parametrize(
    ("text", "encoding", "message"),
    [
        ("image,caption\na.png,A dog.\n", "utf-16", "UTF-16 text; save it as UTF-8"),
        ("image;caption\na.png;A dog.\n", "utf-8", "separator looks like ';'"),
        ("image,caption\ngone.png,A dog.\n", "utf-8", r"left out: 1 \(picture missing\)$"),
        ("picture,caption\na.png,A dog.\n", "utf-8", "no field names a picture: .*--image-field"),
    ],
)
def test_messages_say_what_to_do(
    text: str, encoding: str, message: str, tmp_path: Path, images: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding=encoding)
    with pytest.raises(DataError, match=message):
        read_captions(path, images)
