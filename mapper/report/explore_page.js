"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const rows = data.rows.map(([name, figures, mappings, values, sizes], at) =>
  ({ at, name, figures, mappings, values, sizes, front: at < data.front, shown: true }));
const make = (tag, text, look) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (look) made.className = look;
  return made;
};
const points = [...document.querySelectorAll("circle[data-row]")];
const body = document.querySelector("tbody"), head = document.querySelector("thead tr");
const asked = { words: document.getElementById("words"), front: document.getElementById("front") };
const fields = data.fields.map((name, place) => {
  const values = [...new Set(rows.map(row => row.values[place]))];
  const select = make("select");
  select.append(new Option("any", ""), ...values.map(value => new Option(value, value)));
  const label = make("label", name + " ");
  label.append(select);
  document.getElementById("fields").append(label, " ");
  return select;
});
let sorted = { column: 1, down: false };

async function nests() {
  const bytes = Uint8Array.from(atob(data.nests), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
const mapped = nests();

function fits(row) {
  const parts = row.name.toLowerCase().split(", ").map(part => " " + part);
  const words = asked.words.value.toLowerCase().split(",").map(word => word.trim());
  return words.every(word => parts.some(part => part.includes(" " + word))) && (row.front || !asked.front.checked)
    && fields.every((select, place) => select.value === "" || select.value === row.values[place]);
}

function draw() {
  const { column, down } = sorted;
  const key = row => column === 0 ? row.name : row.sizes[column - 1];
  const order = rows.filter(row => row.shown = fits(row)).sort((a, b) => {
    const [x, y] = down ? [key(b), key(a)] : [key(a), key(b)];
    return x === y ? a.at - b.at : x === null ? 1 : y === null ? -1 : x < y ? -1 : 1;
  });
  body.replaceChildren(...order.map(row => row.line));
  points.forEach(point => point.classList.toggle("hidden", !(rows[point.dataset.row].shown
    || (asked.front.checked && !rows[point.dataset.row].front && fitsBesides(point)))));
  document.getElementById("count").textContent =
    `${order.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
  [...head.children].forEach((cell, place) => place === column
    ? cell.setAttribute("aria-sort", down ? "descending" : "ascending")
    : cell.removeAttribute("aria-sort"));
}
function fitsBesides(point) {  // points off the front stay in the picture
  const only = asked.front.checked;
  asked.front.checked = false;
  const found = fits(rows[point.dataset.row]);
  asked.front.checked = only;
  return found;
}

function tell(point, shown) {
  const tag = point.closest("figure").querySelector(".tag");
  tag.classList.toggle("hidden", !shown);
  if (!shown) return;
  tag.textContent = rows[point.dataset.row].name;
  const frame = point.closest("figure").getBoundingClientRect(), spot = point.getBoundingClientRect();
  const left = spot.left - frame.left + 12, room = frame.width - tag.offsetWidth;
  tag.style.left = `${Math.max(0, Math.min(left, room))}px`;
  tag.style.top = `${spot.top - frame.top + 16}px`;
}

async function choose(at) {
  const row = rows[at], place = document.getElementById("design");
  document.querySelectorAll(".on").forEach(one => one.classList.remove("on"));
  row.line.classList.add("on");
  points.filter(point => +point.dataset.row === at).forEach(point => point.classList.add("on"));
  place.replaceChildren(make("h2", row.name), make("p", data.names.map((name, i) =>
    `${name} ${row.figures[i]}`).join(", ") + (row.mappings && `; mappings: ${row.mappings}`)));
  if (!row.front) {
    place.append(make("p", "Another design beats it: mappings are kept of the front alone.", "note"));
    return;
  }
  const { texts, of } = await mapped;
  of[at].forEach(([layer, text], number) => {
    const details = make("details");
    details.open = number === 0;
    details.append(make("summary", layer), make("pre", texts[text]));
    place.append(details);
  });
}

function step(point, by) {
  const others = [...point.closest("svg").querySelectorAll("circle[data-row]:not(.hidden)")];
  others.sort((a, b) => a.cx.baseVal.value - b.cx.baseVal.value);
  const next = others[others.indexOf(point) + by];
  if (next) { next.setAttribute("tabindex", "0"); next.focus(); }
}

rows.forEach(row => {
  row.line = make("tr", undefined, row.front ? "" : "off-front");
  const button = make("button", (row.front ? `${row.at + 1}: ` : "") + row.name);
  button.addEventListener("click", () => { choose(row.at); document.getElementById("design").focus(); });
  row.line.append(make("td"), ...row.figures.map(text => make("td", text)), make("td", row.mappings));
  row.line.firstChild.append(button);
});
["design", ...data.names, "mappings"].forEach((name, column) => {
  const cell = make("th"), button = make("button", name);
  button.addEventListener("click", () => {
    sorted = { column, down: sorted.column === column && !sorted.down };
    draw();
  });
  cell.append(button);
  head.append(cell);
});
points.forEach(point => {
  const row = rows[point.dataset.row];
  point.setAttribute("aria-label", row.name);
  point.setAttribute("role", "button");
  if (row.front) point.setAttribute("tabindex", "0");
  point.addEventListener("click", () => { point.setAttribute("tabindex", "0"); point.focus(); choose(row.at); });
  point.addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(row.at);
    else if (by) step(point, by);
    else return;
    event.preventDefault();
  });
  for (const event of ["pointerenter", "focus"]) point.addEventListener(event, () => tell(point, true));
  for (const event of ["pointerleave", "blur"]) point.addEventListener(event, () => tell(point, false));
});
for (const place of [asked.words, asked.front, ...fields]) place.addEventListener("input", draw);
draw();
