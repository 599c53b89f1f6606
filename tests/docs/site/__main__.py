"""`python -m tests.docs.site [OUT]`: builds the site; anything that Sphinx warns of is an error.

It needs `pip install 'odradek[docs]'`. OUT, by default build/site, is replaced.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

from tests.docs.site.sources import ROOT, scorer, write_sources

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    """Build; Sphinx's exit status, 0 if all is well."""
    out = Path(arguments[0]) if arguments else ROOT / "build/site"
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="odradek-site-") as name:
        source = Path(name, "source")
        write_sources(source)
        order = Path(name, "scorer.js")
        order.write_text(scorer())
        words = ["-q", "-W", "--keep-going", "-b", "html", "-c", HERE, "-d", f"{name}/read"]
        words += ["-D", f"html_search_scorer={order}"]
        status = build_main([*map(str, words), str(source), str(out)])
    if status == 0:
        print(out / "index.html")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
