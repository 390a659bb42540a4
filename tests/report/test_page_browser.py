# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a real run in a real browser: sorts, filters, fits, prints, asks for nothing."""

from pathlib import Path

import pytest
from browser import Browser, installed

from bench.report import __main__ as report

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
if not installed():
    pytest.skip("no Chromium here (bench/setup --browser)", allow_module_level=True)

RUN = Path(__file__).resolve().parents[2] / "bench" / "results" / "epyc-2-cores"
WIDTHS = (1280, 390)

# Pairs of texts of one drawing whose boxes overlap by more than a pixel, and texts that leave it.
CLASHES = """
(() => {
  const found = [];
  for (const svg of document.querySelectorAll(".plot svg")) {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    boxes.forEach(([name, a], i) => {
      if (a.left < frame.left - 2 || a.right > frame.right + 2 || a.top < frame.top - 2 || a.bottom > frame.bottom + 2)
        found.push([svg.closest("figure").id, "outside", name]);
      for (const [other, b] of boxes.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 2.5) found.push([svg.closest("figure").id, name, other]);
      }
    });
  }
  return found;
})()
"""
COLUMN = """
[...document.querySelectorAll("#cases tbody tr:not([hidden])")].map((row) => {{
  const cell = row.cells[{0}];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
}})
"""
CLICK = """
(() => {{ const all = [...document.querySelectorAll("#cases th")], th = all.find((one) => one.innerText.trim().startsWith("{0}"));
th.querySelector("button").click(); return [th.cellIndex, th.getAttribute("aria-sort")]; }})()
"""
SET = """
(() => {{ const field = document.querySelector(".filters [name={0}]"); field.value = {1!r};
field.dispatchEvent(new Event("input", {{ bubbles: true }})); }})()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    assert report.main([str(RUN), "--output", str(out), "--quiet"]) == 0
    return out / "report" / "index.html"


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_loads_quietly_and_fits(browser, page, width, dark):
    browser.open(page, width, dark=dark)
    assert browser.complaints() == []
    assert all(address.startswith(("file:", "data:")) for address in browser.requests())
    assert len([a for a in browser.requests() if a.startswith("file:")]) == 1
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('.plot svg').length") > 3
    assert browser.run(CLASHES) == []
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is not dark


@pytest.mark.parametrize("width", (1280, 1920))
def test_the_page_fills_the_window_and_its_tables_fit(browser, page, width):
    browser.open(page, width)
    wide = "[...document.querySelectorAll('{0}')].map((one) => one.getBoundingClientRect().width)"
    assert min(browser.run(wide.format("main, #answer, #gap, #cases"))) > 0.93 * width
    boxes = "[...document.querySelectorAll('.scroll')].map((one) => one.scrollWidth - one.clientWidth)"
    assert set(browser.run(boxes)) == {0}
    assert sum(sorted(browser.run(wide.format("figure")))[-2:]) > 0.9 * min(width, 1280)


def test_long_names_break_on_a_phone(browser, page):
    browser.open(page, 390)
    name = "x/" * 200
    item = f"<ul><li>{name}</li></ul>"
    browser.run(
        f"document.querySelector('#method').insertAdjacentHTML('beforeend', '{item}')"
    )
    assert browser.run("document.documentElement.scrollWidth") <= 390


def test_texts_that_clash_are_found(browser, page):
    browser.open(page, 1280)
    double = "(() => { const t = document.querySelector('.plot svg text'); t.after(t.cloneNode(true)); })()"
    browser.run(double)
    assert len(browser.run(CLASHES)) == 1


def test_columns_sort_both_ways(browser, page):
    browser.open(page, 1280)
    column, state = browser.run(CLICK.format("median"))
    times = [t for t in browser.run(COLUMN.format(column)) if t != ""]
    assert state == "ascending" and times == sorted(times) and len(times) > 10
    column, state = browser.run(CLICK.format("median"))
    again = [t for t in browser.run(COLUMN.format(column)) if t != ""]
    assert state == "descending" and again == times[::-1]
    column, _ = browser.run(CLICK.format("method"))
    names = browser.run(COLUMN.format(column))
    assert names == sorted(names)
    assert browser.run("document.querySelectorAll('#cases th[aria-sort]').length") == 1


def test_filters_narrow_the_tables_and_the_figures(browser, page):
    browser.open(page, 1280)
    whole = len(browser.run(COLUMN.format(0)))
    browser.run(SET.format("algorithm", "knn"))
    assert {text.split("f32")[0] for text in browser.run(COLUMN.format(0))} == {"knn"}
    shown = "document.querySelector('section[data-algorithm=vector_add]').hidden"
    assert browser.run(shown) is True
    browser.run(SET.format("model", "kokkos"))
    rows = browser.run(COLUMN.format(browser.run(CLICK.format("model"))[0]))
    assert set(rows) == {"kokkos"} and len(rows) < whole
    browser.run(SET.format("text", "fused nothing-like-this"))
    assert browser.run(COLUMN.format(0)) == []
    assert browser.run("document.getElementById('cases-count').textContent") == (
        f"0 of {whole} rows"
    )
    for name in ("algorithm", "model", "text"):
        browser.run(SET.format(name, ""))
    assert len(browser.run(COLUMN.format(0))) == whole


def test_it_prints(browser, page):
    browser.open(page, 1280)
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF") and len(pdf) > 50_000
