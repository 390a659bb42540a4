// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts and filters the tables, opens what is folded, and keeps links to rows and filters.
// Without it the page shows all rows.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const form = document.querySelector(".filters");
const words = new Intl.Collator("en", { numeric: true });

function key(row, column) {
  const cell = row.cells[column];
  return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
}

// Empty cells stay last in both directions; numbers come before words.
function compare(a, b, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const numbers = (typeof b === "number") - (typeof a === "number");
  return sign * (numbers || (typeof a === "number" ? a - b : words.compare(a, b)));
}

// What is folded lies in a <noscript>: a text until it is opened, and HTML without a script.
function unfold(fold) {
  const text = fold.querySelector(":scope > noscript");
  if (text) text.outerHTML = text.textContent;
}

function open(element) {
  for (let one = element.closest("details"); one; one = one.parentElement.closest("details")) {
    unfold(one);
    one.open = true;
  }
}

// Goes to what the address names, a row or a section, wherever it is folded.
function reveal() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!name || name.includes("=")) return;
  const named = () => document.getElementById(name);
  if (!named()) all("details.fold").filter((fold) => fold.textContent.includes(`id="${name}"`)).forEach(unfold);
  const found = named();
  if (!found) return;
  open(found);
  all(":scope > details.fold", found).forEach(open);
  all("tr.found").forEach((row) => row.classList.remove("found"));
  if (found.matches("tr")) {
    found.hidden = false; // whatever the filters say
    found.classList.add("found");
  }
  found.scrollIntoView();
}

function sort(header) {
  const table = header.closest("table"), column = header.cellIndex;
  const sign = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [key(row, column), row]);
  keyed.sort((a, b) => compare(a[0], b[0], sign));
  body.append(...keyed.map((pair) => pair[1]));
}

function wanted(row, chosen) {
  const data = row.dataset;
  return (!chosen.algorithm || data.algorithm === chosen.algorithm) && (!chosen.device || data.device === chosen.device) &&
    (!chosen.model || data.models.split(" ").includes(chosen.model)) && (!chosen.verdict || data.verdict === chosen.verdict) &&
    chosen.text.split(/\s+/).every((word) => row.textContent.toLowerCase().includes(word));
}

function filter() {
  const chosen = Object.fromEntries(new FormData(form));
  chosen.text = chosen.text.toLowerCase().trim();
  if (Object.values(chosen).some(Boolean)) all("details.fold").filter((fold) => fold.textContent.includes("<table")).forEach(unfold);
  for (const table of all("table.sortable")) {
    const rows = [...table.tBodies[0].rows];
    rows.forEach((row) => { row.hidden = !wanted(row, chosen); });
    const shown = rows.filter((row) => !row.hidden).length;
    document.getElementById(`${table.id}-count`).textContent = `${shown} of ${rows.length} rows`;
  }
  for (const section of all("section[data-algorithm]")) {
    section.hidden = Boolean(chosen.algorithm) && section.dataset.algorithm !== "" && section.dataset.algorithm !== chosen.algorithm;
  }
}

// The address keeps the filters: #algorithm=knn&model=kokkos.
function remember() {
  const chosen = [...new FormData(form)].filter(([, value]) => value);
  history.replaceState(null, "", `#${new URLSearchParams(chosen)}`);
}

function restore() {
  if (!location.hash.includes("=")) return;
  const chosen = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) if (field.name) field.value = chosen.get(field.name) ?? "";
  filter();
}

form.addEventListener("input", () => { filter(); remember(); });
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
addEventListener("hashchange", () => { restore(); reveal(); });
document.addEventListener("toggle", (event) => event.target.open && unfold(event.target), true);
document.addEventListener("click", (event) => {
  const button = event.target.closest("table.sortable th button"), link = event.target.closest("a.here");
  if (button) sort(button.closest("th"));
  if (link) navigator.clipboard?.writeText(link.href).catch(() => {});
});
const closed = () => all("details.fold:not([open]), section > details:not([open])");
addEventListener("beforeprint", () => closed().forEach((one) => { open(one); one.dataset.print = ""; }));
addEventListener("afterprint", () => all("details[data-print]").forEach((one) => { one.open = false; delete one.dataset.print; }));
filter();
restore();
reveal();
