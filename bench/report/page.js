// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts and filters the tables. Without it the page shows all rows.
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

if (form) {
  all("table.sortable th").forEach((header) => header.querySelector("button").addEventListener("click", () => sort(header)));
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
}
