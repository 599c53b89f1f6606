"""The pages that Sphinx reads: those of docs/ as they are, but for four things.

A link that shows the name of a file shows that page's title. A link to a source file is its text
alone, since the site has pages only. An item such as `<a id="f4"></a>` in a heading is linked to by
the heading's own anchor. The order and the groups of the pages, on the left of each, are the
sections and links of docs/index.md.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.docs.site.reference import api_pages, cli_page

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
BESIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
}
"""Files of the root that are pages, too."""
MADE = {
    "cli.md": "The command line",
    "api.md": "Python: Emulator and its parts",
    "api-names.md": "Python: the other names",
}
"""Pages of the reference, first in its section."""
NO_PAGES = {"package.md"}
"""What a package index shows."""
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()#\s]*)(#[^()\s]*)?\)")
_ITEM = re.compile(r"^(#+) (.*?)<a id=\"([^\"]+)\"></a>(.*)$", re.MULTILINE)


@cache
def titles() -> dict[str, str]:
    """Name on the site -> what its links are called where Markdown shows the name of the file."""
    listed = {name: words for names in navigation().values() for name, words in names.items()}
    heads = {name: path.read_text().partition("\n")[0] for name, path in pages().items()}
    return {name: re.sub(r"^# |<a .*?</a>", "", head) for name, head in heads.items()} | listed


@cache
def pages() -> dict[str, Path]:
    """Name on the site, as in "semantics/disk.md" -> the file that is read."""
    found = {str(path.relative_to(DOCS)): path for path in sorted(DOCS.rglob("*.md"))}
    kept = {name: path for name, path in found.items() if name not in NO_PAGES}
    return kept | {name: ROOT / file for file, name in BESIDE.items()}


def navigation() -> dict[str, dict[str, str]]:
    """Section of docs/index.md -> the pages that it links to at the head of its lines, each with
    the words of the link."""
    sections = re.split(r"^## ", (DOCS / "index.md").read_text(), flags=re.MULTILINE)[1:]
    found = {}
    for section in sections:
        links = re.findall(r"^- \[([^\]]+)\]\(([^)#]+)\)", section, re.MULTILINE)
        if links:
            named = {BESIDE.get(to.removeprefix("../"), to): words for words, to in links}
            found[section.partition("\n")[0]] = named
    return found | {"Reference": MADE | found["Reference"]}


def write_sources(into: Path) -> None:
    """Write everything that Sphinx reads."""
    shutil.copytree(DOCS, into)
    for name in NO_PAGES:
        (into / name).unlink()
    items = {name: _items(path.read_text()) for name, path in pages().items()}
    for name, path in pages().items():
        (into / name).write_text(_page(name, path, items))
    made = {"cli.md": cli_page(), **api_pages()}
    for name in MADE:
        (into / name).write_text(made[name])
    with (into / "index.md").open("a") as index:
        index.writelines(_toctree(names, head) for head, names in navigation().items())
    with (into / "semantics.md").open("a") as semantics:
        sections = sorted(name for name in pages() if name.startswith("semantics/"))
        semantics.write(_toctree(dict.fromkeys(sections, "")))


def scorer() -> str:
    """scorer.js with the words of each page that it has twice or more, and how often."""
    counts: dict[str, dict[str, int]] = {}
    for name, path in pages().items():
        text = path.read_text()
        headings = "\n".join(re.findall(r"^#+ .*", text, re.MULTILINE))
        read = f"{text}\n{headings}\n{headings}".lower()
        # snake_case is found as a whole and by its words.
        words = Counter(re.findall(r"[^\W_]{3,}", read))
        words += Counter(each for each in re.findall(r"\w{3,}", read) if "_" in each.strip("_"))
        counts[name.removesuffix(".md")] = {each: n for each, n in words.items() if n > 1}
    code = (Path(__file__).parent / "scorer.js").read_text()
    return code.replace("/* counts */ {}", json.dumps(counts, separators=(",", ":")))


def _toctree(pages: Mapping[str, str], caption: str = "") -> str:
    lines = "\n".join(
        f"{words} <{name.removesuffix('.md')}>" if words else name.removesuffix(".md")
        for name, words in pages.items()
    )
    option = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{option}\n{lines}\n```\n"


def _page(name: str, path: Path, items: dict[str, dict[str, str]]) -> str:
    def linked(found: re.Match[str]) -> str:
        image, text, target, anchor = found.groups("")
        if image or "://" in target or target.startswith("mailto:"):
            return found[0]
        place = (path.parent / target).resolve() if target else path
        page = _page_of(place)
        if page is None:
            is_shown = place.is_relative_to(DOCS) and place.is_file()
            return found[0] if is_shown or not place.exists() else text
        if text == place.name:
            text = titles()[page]
        slug = items[page].get(anchor.removeprefix("#"))
        to = "../" * name.count("/") + page if target else ""
        return f"[{text}]({to}{f'#{slug}' if slug else anchor})"

    parts = re.split(r"(^```.*?^```$)", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [_ITEM.sub(_beside, _LINK.sub(linked, each)) for each in parts[::2]]
    return "".join(parts)


def _beside(found: re.Match[str]) -> str:
    """A heading without the anchor in it, which search would show, and then the anchor."""
    return f'{found[1]} {found[2]}{found[4]}\n\n<a id="{found[3]}"></a>\n'


def _page_of(place: Path) -> str | None:
    for name, path in pages().items():
        if path == place:
            return name
    return None


def _items(text: str) -> dict[str, str]:
    """Id of an item -> the anchor of the heading in which it stands."""
    from myst_parser.mdit_to_docutils.base import default_slugify

    return {
        found[3]: default_slugify(re.sub(r"[`*]", "", found[2] + found[4]))
        for found in _ITEM.finditer(text)
    }
