// Orders what the search has found: Sphinx gives each page with all of the words the same score.
// A page's own words count (those of headings thrice), rare ones more (BM25); reference and history
// come after pages that explain.
const COUNTS = /* counts */ {};
const LOWER = /^(changelog|contributing|documents|cli|api|api-names|semantics\/.*)$/;

var Scorer = (() => {
  const pages = Object.keys(COUNTS);
  const size = (page) => Object.values(COUNTS[page]).reduce((a, b) => a + b, 0);
  const sizes = Object.fromEntries(pages.map((page) => [page, size(page)]));
  const mean = pages.reduce((sum, page) => sum + sizes[page], 0) / pages.length;
  const alike = (word, asked) =>
    word.startsWith(asked) || (word.length > 4 && asked.length - word.length < 4 && asked.startsWith(word));
  const times = (page, asked) =>
    Object.entries(COUNTS[page]).reduce((sum, [word, count]) => sum + (alike(word, asked) ? count : 0), 0);
  const rank = (page) => {
    const words = new URLSearchParams(window.location.search).get("q") || "";
    return (words.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) || []).reduce((sum, asked) => {
      const found = pages.filter((each) => times(each, asked)).length;
      const here = times(page, asked);
      const rarity = Math.log(1 + pages.length / (1 + found));
      return sum + (rarity * here) / (here + 1 + (0.4 * sizes[page]) / mean);
    }, 0);
  };
  const score = ([page, , , , given, , kind]) => {
    const own = page in COUNTS ? 20 * rank(page) : 0;
    const base = kind === "text" ? own : kind === "title" ? own + given : own / 2 + given;
    return LOWER.test(page) ? base / 3 : base;
  };
  return {
    score,
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
