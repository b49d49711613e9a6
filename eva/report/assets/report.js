// Filters the flips and opens one with its conversation. Text from data only ever becomes text nodes.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const dialog = document.getElementById("flip");
let opener = null;
let shown = null;

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function rowsOf(table) {
  return Array.from(table.tBodies[0].rows);
}

function matches(flip, wanted) {
  return Object.entries(wanted).every(([field, value]) =>
    value === "" || (Array.isArray(flip[field]) ? flip[field].includes(value.slice(1)) : flip[field] === value.slice(1)));
}

function applyFilters(block) {
  const flips = data.flips[Number(block.dataset.block)].rows;
  const wanted = {};
  for (const select of block.querySelectorAll("select")) wanted[select.dataset.field] = select.value;
  let count = 0;
  for (const row of rowsOf(block.querySelector("table"))) {
    row.hidden = !matches(flips[Number(row.dataset.row)], wanted);
    if (!row.hidden) count += 1;
  }
  block.querySelector("output").textContent = count + " of " + flips.length + " shown";
}

function votes(title, flip, side) {
  const column = element("section");
  column.append(element("h3", title + ": " + flip[side]));
  if (flip[side + "_all"].length === 0) column.append(element("p", "no reply kept", "note"));
  for (const vote of flip[side + "_all"]) {
    const box = element("div", undefined, vote.word === flip[side] ? "vote majority" : "vote");
    box.dir = "auto";
    box.append(element("b", "repeat " + vote.repeat + ": " + vote.word));
    if (vote.flags.length) box.append(element("span", " · " + vote.flags.join(", "), "note"));
    box.append(element("div", vote.reason || "no reason given"));
    column.append(box);
  }
  return column;
}

function conversation(block, flip) {
  const part = element("section");
  part.append(element("h3", flip.turn === null ? "The conversation, judged as a whole" : "The conversation"));
  const turns = block.conversations[flip.record];
  if (!turns) {
    part.append(element("p", "The conversation is not in this file.", "note"));
    return part;
  }
  if (/^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$/.test(flip.language)) part.lang = flip.language;
  for (const [number, lines] of turns) {
    const turn = element("div", undefined, "turn");
    const judged = number === flip.turn;
    turn.append(element("div", "turn " + number + (judged ? " — judged" : ""), "number"));
    if (judged) {
      turn.classList.add("judged");
      turn.setAttribute("aria-current", "true");
    }
    for (const [speaker, text] of lines) {
      const said = element("p", undefined, "said");
      said.dir = "auto";
      said.append(element("b", speaker + ": "), document.createTextNode(text));
      turn.append(said);
    }
    part.append(turn);
  }
  return part;
}

function show(blockIndex, rowIndex) {
  const block = data.flips[blockIndex];
  const flip = block.rows[rowIndex];
  shown = [blockIndex, rowIndex];
  dialog.querySelector("h2").textContent = flip.kind + ": " + flip.item;
  const inside = dialog.querySelector(".inside");
  const facts = [
    flip.gold === null ? "no human label" : "human label " + flip.gold, flip.language, flip.domain,
    flip.rules.length ? "rules " + flip.rules.join(", ") : "",
    flip.gold_flags.length ? "human flags " + flip.gold_flags.join(", ") : "",
  ];
  const arms = element("div", undefined, "arms");
  arms.append(votes("Before", flip, "before"), votes("After", flip, "after"));
  dialog.querySelector(".judged-turn").hidden = flip.turn === null;
  inside.replaceChildren(element("p", facts.filter(Boolean).join(" · "), "note"), arms, conversation(block, flip));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function step(by) {
  const block = document.querySelector('[data-block="' + shown[0] + '"]');
  const rows = rowsOf(block.querySelector("table")).filter((row) => !row.hidden).map((row) => Number(row.dataset.row));
  const next = rows[rows.indexOf(shown[1]) + by];
  if (next !== undefined) show(shown[0], next);
}

for (const block of document.querySelectorAll("[data-block]")) {
  for (const select of block.querySelectorAll("select")) select.addEventListener("change", () => applyFilters(block));
  block.querySelector(".filters").hidden = false;
  applyFilters(block);
  block.addEventListener("click", (event) => {
    const button = event.target.closest("button.open");
    if (!button) return;
    opener = button;
    show(Number(block.dataset.block), Number(button.closest("tr").dataset.row));
  });
}
dialog.querySelector(".previous").addEventListener("click", () => step(-1));
dialog.querySelector(".next").addEventListener("click", () => step(1));
dialog.querySelector(".judged-turn").addEventListener("click", () => {
  const judged = dialog.querySelector(".turn.judged");
  if (judged) judged.scrollIntoView({ block: "center" });
});
dialog.querySelector(".close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => { if (opener) opener.focus(); });
dialog.addEventListener("keydown", (event) => {
  if (event.key === "ArrowLeft") step(-1);
  if (event.key === "ArrowRight") step(1);
});
