# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A page of 1,300 cases: its size, what it holds before anything is opened, its links, its print."""

import json
from html.parser import HTMLParser
from itertools import count

import pytest
from browser import Browser, installed

from bench.report import __main__ as report
from tests.conftest import make_entry, make_record

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

CASES, BYTES, NODES = 1300, 3_000_000, 10_000
SMALLEST = 11  # pixels of a text on a phone
NUMBERS = count()
TABLE = "document.getElementById('cases')"


def measured(algorithm, method, model, n):
    """A case of two stages, a twentieth slower in Kokkos."""
    time = n * 1e-9 * (1.05 if model == "kokkos" else 1) * (1 + method / 10)
    samples = [time * (1 + i / 1000) for i in range(8)]
    stages = {"upload": time / 4, "compute": time / 2, "download": time / 4}
    more = {"algorithm": f"a{algorithm}", "method": f"method_{method}"}
    return make_entry(model, samples, n=n, stages=stages, **more)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """5 algorithms x 26 sizes x 5 methods x portable and native, in records of ten cases."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "records").mkdir()
    for algorithm in range(5):
        for size in range(26):
            entries = [
                measured(algorithm, method, model, 2**12 * (1 + size))
                for method in range(5)
                for model in ("kokkos", "cuda")
            ]
            busy = [f"the machine is busy: load {size}.5 on 16 threads"]
            record = make_record(entries, preflight=busy, launch_id=f"{algorithm}")
            file = folder / "records" / f"{algorithm}-{size}.json"
            file.write_text(json.dumps(record), encoding="utf-8")
    assert report.main([str(folder), "--quiet"]) == 0
    return folder / "report" / "index.html"


class Nodes(HTMLParser):
    """Elements and texts as a browser with a script holds them: of a <noscript> one text."""

    def __init__(self, text):
        super().__init__()
        self.count, self.closed, self.heads, self.tables = 0, 0, [], []
        self.ids, self.captions, self.links = [], 0, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.count += not self.closed
        self.closed += tag == "noscript"
        found = dict(attributes)
        self.heads += [found.get("scope")] if tag == "th" else []
        self.tables += [found.get("id")] if tag == "table" else []
        self.captions += tag == "caption"
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if found.get("class") == "here" else []

    def handle_startendtag(self, tag, attributes):
        self.count += not self.closed

    def handle_endtag(self, tag):
        self.closed -= tag == "noscript"

    def handle_data(self, data):
        self.count += not self.closed


def test_it_is_small_before_anything_is_opened(page):
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) < BYTES
    assert Nodes(text).count < NODES
    assert text.count("<svg") > 20 and text.count("<tr data-algorithm") > CASES
    assert not list(page.parent.glob("figures/*.png")) and ".png" not in text


def test_every_table_has_a_caption_and_every_head_a_scope(page):
    found = Nodes(page.read_text(encoding="utf-8"))
    assert found.tables == ["answer", "gap", "cases"] and found.captions == 3
    assert set(found.heads) == {"col"} and len(found.heads) > 10


def test_every_row_has_a_link_of_its_own(page):
    found = Nodes(page.read_text(encoding="utf-8"))
    assert len(found.ids) == len(set(found.ids))
    assert {link[1:] for link in found.links} <= set(found.ids)
    assert len([link for link in found.links if link.startswith("#case-")]) == CASES


def test_a_kind_of_warning_is_one_line(page):
    text = page.read_text(encoding="utf-8")
    warning = "the machine is busy: load 0.5 to 25.5 on 16 threads"
    assert text.count("the machine is busy") == 2
    assert f'preflight: {warning} (<a href="#preflight">5 launches</a>)' in text
    assert f"<li>{warning}: 5 launches on n1</li>" in text


@pytest.fixture(scope="module")
def browser():
    if not installed():
        pytest.skip("no Chromium here (bench/setup --browser)")
    with Browser() as one:
        yield one


def opened(browser, page, width=1280, address=""):
    """The page at an address within it, after its script ran."""
    loads = f"?{next(NUMBERS)}"  # as a fragment alone loads nothing
    browser.open(page, width, fragment=loads + address)
    assert browser.complaints() == []


def rows(browser):
    """How many rows of the table of every case are there, and how many are shown."""
    found = f"[...{TABLE}.tBodies[0].rows]"
    return browser.run(f"[{found}.length, {found}.filter((row) => !row.hidden).length]")


def test_a_browser_holds_few_nodes_until_a_table_is_opened(browser, page):
    opened(browser, page)
    walk = "(() => { const all = document.createTreeWalker(document); let n = 0; while (all.nextNode()) n += 1; return n; })()"
    assert browser.run(walk) < NODES
    assert browser.run(f"{TABLE} === null") is True
    browser.run("document.querySelector('#every-case summary').click()")
    browser.run("new Promise((done) => setTimeout(done, 200))")
    assert rows(browser) == [CASES, CASES]
    head = f"[...{TABLE}.tHead.rows[0].cells].find((one) => one.textContent.startsWith('median'))"
    browser.run(f"{head}.querySelector('button').click()")
    assert browser.run(f"{head}.getAttribute('aria-sort')") == "ascending"
    assert browser.complaints() == []


def test_a_link_to_a_row_opens_its_table(browser, page):
    link = Nodes(page.read_text(encoding="utf-8")).links[-5]
    opened(browser, page, address=link)
    row = f"document.querySelector('tr{link}')"
    assert browser.run(f"{row}.closest('details').open") is True
    assert browser.run(f"{row}.className") == "found"
    top = browser.run(f"{row}.getBoundingClientRect().top")
    assert 200 < top < 700
    assert browser.run(f"{row}.querySelector('a.here').getAttribute('href')") == link


def test_a_link_to_a_section_opens_its_figures(browser, page):
    opened(browser, page, address="#figures-a3")
    assert browser.run("document.querySelectorAll('#figures-a3 svg').length") > 2
    assert browser.run("document.querySelectorAll('#figures-a4 svg').length") == 0


def test_the_address_keeps_the_filters(browser, page):
    opened(browser, page, address="#algorithm=a3&model=cuda&text=method_1")
    assert rows(browser) == [CASES, 26]
    field = "document.querySelector('.filters [name={}]')"
    assert browser.run(field.format("algorithm") + ".value") == "a3"
    set_model = f"(() => {{ const one = {field.format('model')}; one.value = 'kokkos'; one.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    browser.run(set_model)
    assert browser.run("location.hash") == "#algorithm=a3&model=kokkos&text=method_1"
    browser.run("location.hash = '#algorithm=a4'")
    browser.run("new Promise((done) => setTimeout(done, 200))")
    assert rows(browser) == [CASES, 260] and browser.complaints() == []


def test_without_a_script_everything_can_be_read(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page, 1280, fragment=f"?{next(NUMBERS)}")
        root = browser.call("DOM.getDocument")["root"]["nodeId"]
        found = [
            len(
                browser.call("DOM.querySelectorAll", nodeId=root, selector=one)[
                    "nodeIds"
                ]
            )
            for one in ("#cases tbody tr", "#answer tbody tr", "#figures-a3 svg")
        ]
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert found[0] == CASES and found[1] == 130 and found[2] > 2


def test_texts_of_figures_can_be_read_on_a_phone(browser, page):
    opened(browser, page, 360)
    browser.run(
        "document.querySelectorAll('details.fold').forEach((one) => { one.open = true; })"
    )
    browser.run("new Promise((done) => setTimeout(done, 500))")
    sizes = "[...document.querySelectorAll('.plot svg text')].map((one) => parseFloat(getComputedStyle(one).fontSize) * one.ownerSVGElement.getScreenCTM().a)"
    found = browser.run(sizes)
    assert len(found) > 1000 and min(found) >= SMALLEST
    assert browser.run("document.documentElement.scrollWidth") <= 360


def test_print_opens_all_repeats_heads_and_keeps_bars(browser, page):
    opened(browser, page)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert rows(browser) == [CASES, CASES]
    assert (
        browser.run("document.querySelectorAll('details.fold:not([open])').length") == 0
    )
    browser.call("Emulation.setEmulatedMedia", media="print")
    style = "getComputedStyle(document.querySelector('{}')).{}"
    assert browser.run(style.format("#cases thead", "display")) == "table-header-group"
    assert browser.run(style.format("#cases .bar i", "printColorAdjust")) == "exact"
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("document.querySelectorAll('details.fold[open]').length") == 0
    opened(browser, page)
    assert len(browser.pdf()) > 1_000_000  # opened by the browser's own event
