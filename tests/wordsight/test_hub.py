"""Push and pull against a local server, through the real client in processes of their own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from sage_tasks.build.pipeline import Options, build
from sage_tasks.build.vwsd import read_vwsd
from sage_tasks.package import open_package
from tests.wordsight import hub_server
from wordsight.errors import DataError
from wordsight.hub import Pin, locate, read_pins, write_pin
from wordsight.hub_rights import RightsError, check_rights, is_open

REPO = "lab/set"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A running server, and ``run``: a command in a process that knows no other Hub."""
    server, state, address = hub_server.start()
    environment = hub_server.environment(address, tmp_path)
    program = (
        "import sys, typer; from sage_tasks import hub_cli; from wordsight.errors import *\n"
        "app = typer.Typer(); app.command()(hub_cli.push); app.command()(hub_cli.pull)\n"
        "try: app(standalone_mode=False)\n"
        "except WordsightError as error: sys.exit(f'{type(error).__name__}: {error}')\n"
    )

    def run(*arguments: object, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)],
            env=environment | extra,
            capture_output=True,
            text=True,
            check=False,
        )

    yield SimpleNamespace(state=state, run=run, environment=environment, address=address)
    server.shutdown()


def picture(number: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (8, 8), (number, 2 * number, 255 - number)).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A download of VWSD with two test rows over twelve pictures."""
    root = tmp_path / "vwsd"
    (root / "test_images").mkdir(parents=True)
    names = [f"image.{n}.png" for n in range(12)]
    for number, name in enumerate(names):
        (root / "test_images" / name).write_bytes(picture(number))
    rows = [["bank", "river bank", *names[:10]], ["bat", "baseball bat", *names[2:]]]
    text = "".join("\t".join(row) + "\n" for row in rows)
    (root / "en.test.data.v1.1.txt").write_text(text, encoding="utf-8")
    (root / "en.test.gold.v1.1.txt").write_text(f"{names[3]}\n{names[11]}\n", encoding="utf-8")
    return root


@pytest.fixture
def dataset(source: Path, tmp_path: Path) -> Path:
    """The same as a dataset folder, its pictures in several shards."""
    out = tmp_path / "built"
    build(read_vwsd(source), out, Options(shard_bytes=300))
    assert len(list((out / "images").iterdir())) > 2
    return out


def fingerprint(folder: Path) -> str:
    return open_package(folder, "vwsd").fingerprint


def test_push_pins_a_commit_that_pull_brings_back(
    hub: SimpleNamespace, dataset: Path, tmp_path: Path
) -> None:
    pushed = hub.run("push", dataset, "--repo", REPO, "--i-have-the-rights", "--json")
    assert pushed.returncode == 0, pushed.stderr
    pin = read_pins(tmp_path / "revisions.json")["vwsd"]
    assert pin == Pin(REPO, json.loads(pushed.stdout)["revision"])
    assert pin.revision == hub.state.repositories[REPO].branches["main"]

    pulled = hub.run("pull", "vwsd", "--out", tmp_path / "copy", "--json")
    assert pulled.returncode == 0, pulled.stderr
    for path in dataset.rglob("*"):
        if path.is_file():
            assert (tmp_path / "copy" / path.relative_to(dataset)).read_bytes() == path.read_bytes()


def test_pull_takes_the_pinned_commit_not_the_newest(
    hub: SimpleNamespace, dataset: Path, tmp_path: Path
) -> None:
    assert hub.run("push", dataset, "--repo", REPO, "--i-have-the-rights").returncode == 0
    (dataset / "report.md").write_text("changed after the pin\n", encoding="utf-8")
    elsewhere = tmp_path / "other.json"
    assert (
        hub.run(
            "push", dataset, "--repo", REPO, "--i-have-the-rights", "--revisions", elsewhere
        ).returncode
        == 0
    )
    assert len(hub.state.repositories[REPO].commits) == 3  # made, pushed, pushed again
    assert hub.run("pull", "vwsd", "--out", tmp_path / "copy").returncode == 0
    assert "changed" not in (tmp_path / "copy" / "report.md").read_text(encoding="utf-8")


def test_interrupted_upload_publishes_nothing_and_goes_on(
    hub: SimpleNamespace, dataset: Path, tmp_path: Path
) -> None:
    hub.state.fail_after_uploads = 2
    failed = hub.run("push", dataset, "--repo", REPO, "--i-have-the-rights")
    assert failed.returncode != 0
    assert "run the same command again" in failed.stderr
    assert not (tmp_path / "revisions.json").exists()
    assert list(hub.state.repositories[REPO].commits) == [
        hub.state.repositories[REPO].branches["main"]
    ]
    arrived = list(hub.state.uploads)
    assert len(arrived) == 2

    hub.state.fail_after_uploads = None
    assert hub.run("push", dataset, "--repo", REPO, "--i-have-the-rights").returncode == 0
    assert len(hub.state.uploads) == len(set(hub.state.uploads)), "a file was sent twice"
    assert hub.state.uploads[:2] == arrived
    assert len(hub.state.uploads) == len(list(dataset.rglob("*.parquet")))


def test_push_removes_files_that_the_dataset_no_longer_has(
    hub: SimpleNamespace, dataset: Path
) -> None:
    extra = dataset / "vwsd" / "old-00000-of-00001.parquet"
    extra.write_bytes((dataset / "vwsd" / "test-00000-of-00001.parquet").read_bytes())
    assert hub.run("push", dataset, "--repo", REPO, "--i-have-the-rights").returncode == 0
    extra.unlink()
    assert hub.run("push", dataset, "--repo", REPO, "--i-have-the-rights").returncode == 0
    repository = hub.state.repositories[REPO]
    files = repository.commits[repository.branches["main"]]
    assert "vwsd/old-00000-of-00001.parquet" not in files
    assert ".gitattributes" in files


def test_pictures_without_a_licence_are_refused_with_the_reason(
    hub: SimpleNamespace, dataset: Path
) -> None:
    refused = hub.run("push", dataset, "--repo", REPO)
    assert refused.returncode != 0
    assert "RightsError" in refused.stderr
    assert "12 pictures may not be passed on" in refused.stderr
    assert "--queries-only" in refused.stderr
    assert not hub.state.calls, "the Hub was asked before the rights were"


def test_queries_alone_are_joined_with_the_users_pictures(
    hub: SimpleNamespace, dataset: Path, source: Path, tmp_path: Path
) -> None:
    assert hub.run("push", dataset, "--repo", REPO, "--queries-only").returncode == 0
    repository = hub.state.repositories[REPO]
    files = repository.commits[repository.branches["main"]]
    assert not [name for name in files if name.startswith("images/")]
    assert b"config_name: images" not in files["README.md"]

    joined = hub.run("pull", "vwsd", "--images", source, "--out", tmp_path / "joined", "--json")
    assert joined.returncode == 0, joined.stderr
    result = json.loads(joined.stdout)
    assert result["queries"] == {"vwsd/test": 2}
    assert result["same_pictures_as_published"] == {"vwsd/test": True}
    assert fingerprint(tmp_path / "joined") == fingerprint(dataset)


def test_opening_queries_without_pictures_says_how_to_join_them(
    hub: SimpleNamespace, dataset: Path, tmp_path: Path
) -> None:
    assert hub.run("push", dataset, "--repo", REPO, "--queries-only").returncode == 0
    assert hub.run("pull", "vwsd", "--out", tmp_path / "copy").returncode == 0
    with pytest.raises(DataError, match="wordsight pull --images"):
        open_package(tmp_path / "copy", "vwsd")


def test_join_keeps_item_ids_and_shows_other_picture_bytes(
    hub: SimpleNamespace, dataset: Path, source: Path, tmp_path: Path
) -> None:
    assert hub.run("push", dataset, "--repo", REPO, "--queries-only").returncode == 0
    resized = source / "test_images" / "image.5.png"
    with Image.open(resized) as opened:
        smaller = opened.resize((4, 4))
    smaller.save(resized)
    out = tmp_path / "joined"
    joined = hub.run("pull", "vwsd", "--images", source, "--out", out, "--json")
    assert json.loads(joined.stdout)["same_pictures_as_published"] == {"vwsd/test": False}
    mine, theirs = open_package(out, "vwsd"), open_package(dataset, "vwsd")
    assert [q.id for q in mine.queries] == [q.id for q in theirs.queries]
    assert mine.fingerprint != theirs.fingerprint


def test_an_unknown_repository_is_named_in_the_error(hub: SimpleNamespace) -> None:
    result = hub.run("pull", "--repo", "lab/none")
    assert result.returncode != 0
    assert "DataError" in result.stderr
    assert "lab/none" in result.stderr


def test_private_repository_and_branch(hub: SimpleNamespace, dataset: Path) -> None:
    result = hub.run(
        "push", dataset, "--repo", REPO, "--private", "--revision", "next", "--i-have-the-rights"
    )
    assert result.returncode == 0, result.stderr
    repository = hub.state.repositories[REPO]
    assert repository.private
    assert "README.md" in repository.commits[repository.branches["next"]]
    assert "README.md" not in repository.commits[repository.branches["main"]]


LOCATE = "from wordsight.hub import locate; print(locate('vwsd'))"


def run_locate(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LOCATE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_locate_downloads_the_pin_once_and_then_works_offline(
    hub: SimpleNamespace, dataset: Path
) -> None:
    assert hub.run("push", dataset, "--repo", REPO, "--i-have-the-rights").returncode == 0
    first = run_locate(hub.environment)
    assert first.returncode == 0, first.stderr
    assert fingerprint(Path(first.stdout.strip())) == fingerprint(dataset)
    again = run_locate(hub.environment | {"HF_HUB_OFFLINE": "1"})
    assert again.stdout == first.stdout


def test_local_folder_comes_before_the_pin(
    hub: SimpleNamespace, dataset: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "vwsd").symlink_to(dataset)
    result = run_locate(hub.environment | {"WORDSIGHT_DATA": str(tmp_path / "data")})
    assert result.stdout.strip() == str(tmp_path / "data" / "vwsd")
    assert not hub.state.calls


def test_neither_folder_nor_pin_names_the_build_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORDSIGHT_REVISIONS", str(tmp_path / "none.json"))
    monkeypatch.delenv("WORDSIGHT_DATA", raising=False)
    with pytest.raises(DataError, match="wordsight build vwsd --source DIR"):
        locate("vwsd")
    monkeypatch.setenv("WORDSIGHT_DATA", str(tmp_path))
    with pytest.raises(DataError, match=f"{tmp_path}/vwsd is no folder"):
        locate("vwsd")


def test_pins_are_kept_sorted_and_damage_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "revisions.json"
    write_pin("verse", Pin("lab/verse", "a" * 40), file)
    write_pin("vwsd", Pin("lab/vwsd", "b" * 40), file)
    write_pin("verse", Pin("lab/verse", "c" * 40), file)
    assert read_pins(file) == {
        "verse": Pin("lab/verse", "c" * 40),
        "vwsd": Pin("lab/vwsd", "b" * 40),
    }
    with pytest.raises(DataError, match="--revisions"):
        write_pin("verse", Pin("lab/verse", "d" * 40), tmp_path / "missing" / "revisions.json")
    file.write_text('{"verse": {"repo": "lab/verse"}}', encoding="utf-8")
    with pytest.raises(DataError, match=str(file)):
        read_pins(file)


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("http://creativecommons.org/licenses/by-nc-nd/2.0/", True),
        ("http://flickr.com/commons/usage/", True),
        ("CC BY-SA 4.0", True),
        ("MIT", True),
        ("", False),
        ("used by permission", False),
        ("all rights reserved", False),
    ],
)
def test_which_licences_allow_a_copy(licence: str, expected: bool) -> None:
    assert is_open(licence) is expected


def test_babelnet_glosses_are_refused_even_without_pictures(dataset: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = dataset / "vwsd" / "test-00000-of-00001.parquet"
    table = pq.read_table(path)
    for name, text in (("sense", "bn:00008364n"), ("gloss", "sloping land")):
        column = table.schema.get_field_index(name)
        table = table.set_column(column, name, pa.array([text] * table.num_rows))
    pq.write_table(table, path)
    with pytest.raises(RightsError, match="2 queries carry a gloss from BabelNet"):
        check_rights(dataset, queries_only=True)
