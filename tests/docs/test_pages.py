"""Form of the pages: no command escapes, links lead somewhere, named commands and options exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.conftest import ROOT
from tests.docs.not_run import is_left_out
from tests.docs.pages import all_pages, blocks, inline_commands, out_of_form, prose, read_page
from wordsight.cli import app

PAGES = all_pages()


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_block_is_in_console_form(page: str) -> None:
    assert list(out_of_form(read_page(page))) == []


def test_commands_in_other_forms_are_noticed() -> None:
    fence = "```"
    for body in (
        f"{fence}\nwordsight tasks\n{fence}\n",
        f"{fence}bash\n  lmms-eval --tasks x\n{fence}\n",
        f"{fence}console\n$ wordsight tasks   # all of them\n{fence}\n",
        f"{fence}console\npip install x\n{fence}\n",
        f"{fence}sh\nA=1 make test\n{fence}\n",
        f"{fence}python\nimport wordsight\n{fence}\n",
    ):
        assert len(list(out_of_form(body))) == 1, body
    good = f"{fence}console\n$ wordsight eval \\\n    --model x \\\n    --tasks y\nwords\n{fence}\n"
    assert list(out_of_form(good)) == []
    assert [block.commands for block in blocks(good)] == [["wordsight eval --model x --tasks y"]]


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(b.commands for b in blocks(read_page(p)))]
)
def test_a_page_with_commands_has_a_test_that_runs_them(page: str) -> None:
    test = Path(__file__).with_name(f"test_{Path(page).stem.lower()}.py")
    assert test.is_file(), f"{page} shows commands: add {test.name}"
    text = test.read_text(encoding="utf-8")
    assert f'"{page}"' in text
    assert "follow(" in text


@pytest.mark.parametrize("page", PAGES)
def test_a_command_in_the_prose_is_one_that_is_run(page: str) -> None:
    """A code span may name a command, or repeat one of the blocks; it shows no other."""
    run = [set(c.split()) for p in PAGES for block in blocks(read_page(p)) for c in block.commands]
    for span in inline_commands(read_page(page)):
        words = span.split()
        rest = _command(words[1:], f"{page}: `{span}`")[1] if words[0] == "wordsight" else words
        named = rest in ([], ["--help"])
        pattern = "..." in words
        repeated = any(set(words) <= shown for shown in run)
        assert named or pattern or repeated or is_left_out(span), f"{page}: nothing runs `{span}`"


@pytest.mark.parametrize("page", PAGES)
def test_named_commands_of_wordsight_and_their_options_exist(page: str) -> None:
    text = read_page(page)
    shown = [command for block in blocks(text) for command in block.commands]
    for line in [*shown, *inline_commands(text)]:
        words = line.split()
        if words[0] == "wordsight":
            command, _ = _command(words[1:], f"{page}: `{line}`")
            for word in words:
                if word.startswith("-") and word not in ("...", "-"):
                    assert word.split("=")[0] in _options(command), f"{page}: {word} of `{line}`"


@pytest.mark.parametrize("page", PAGES)
def test_options_named_alone_exist(page: str) -> None:
    known = {option for command in _all(_root()) for option in _options(command)}
    known |= {"--model_args", "--log_samples", "--include_path", "--tasks", "--limit"}
    tools = [p.read_text(encoding="utf-8") for p in ROOT.glob("tools/**/*.py")]
    for option in re.findall(r"`(--[a-z][\w-]*)[^`]*`", prose(read_page(page))):
        assert option in known or any(f'"{option}"' in t for t in tools), f"{page}: `{option}`"


@pytest.mark.parametrize("page", PAGES)
def test_named_scripts_and_their_options_exist(page: str) -> None:
    scripts = {path.name: path for path in ROOT.glob("tools/**/*.py")}
    for name, rest in re.findall(r"`(?:[\w/. ]*/)?(\w+\.py)([^`]*)`", prose(read_page(page))):
        if rest or name.startswith("bench_"):
            source = scripts[name].read_text(encoding="utf-8")
            for option in re.findall(r"--[\w-]+", rest):
                assert f'"{option}"' in source, f"{page}: {option} of {name}"


def test_every_command_of_wordsight_is_on_a_page() -> None:
    texts = "\n".join(map(read_page, PAGES))
    for name in _names(_root(), "wordsight"):
        assert re.search(rf"{name}\b(?!-)", texts), f"no page shows `{name}`"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", prose(read_page(page))):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        found = (ROOT / page).parent / path if path else ROOT / page
        assert found.exists(), f"{page} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", prose(found.read_text("utf-8")), re.MULTILINE)
            assert anchor in {_anchor(heading) for heading in headings}, f"{page}: {target}"


def test_readme_leads_to_every_page() -> None:
    text = read_page("README.md")
    for page in PAGES:
        assert page == "README.md" or f"]({page}" in text, f"README.md does not link {page}"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# Commands are Any: typer brings click under a name of its own, so that its types differ by version.
def _root() -> Any:
    return typer.main.get_command(app)


def _command(words: list[str], where: str) -> tuple[Any, list[str]]:
    """The command that the words name, and the words after its name."""
    command = _root()
    for position, word in enumerate(words):
        below = getattr(command, "commands", None)
        if below is None or word == "..." or word.startswith("-"):
            return command, words[position:]
        assert word in below, f"{where}: no command {word!r}"
        command = below[word]
    return command, []


def _names(command: Any, name: str) -> list[str]:
    below = getattr(command, "commands", None)
    if below is None:
        return [name]
    return [found for word, child in below.items() for found in _names(child, f"{name} {word}")]


def _all(command: Any) -> list[Any]:
    below = getattr(command, "commands", {}).values()
    return [command, *(found for child in below for found in _all(child))]


def _options(command: Any) -> set[str]:
    return {"--help", *(name for option in command.params for name in option.opts)}
