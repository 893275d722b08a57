/* The search of the reference: all words must be in a name or its first sentence; names that begin so stand first. */
"use strict";
const box = document.getElementById("search"), hits = document.getElementById("hits");
let chosen = -1;

function rank(entry, words) {
  const name = entry[0].toLowerCase(), last = name.slice(name.lastIndexOf(".") + 1);
  let sum = name.startsWith("tf.compat") ? 40 : 0;
  for (const word of words) {
    if (last === word || name === word) sum += 0;
    else if (last.startsWith(word)) sum += 5;
    else if (name.includes(word)) sum += 10;
    else if (entry[2].toLowerCase().includes(word)) sum += 25;
    else return -1;
  }
  return sum + name.length / 100;
}

function choose(at) {
  const links = hits.querySelectorAll("a");
  links.forEach((link, i) => link.classList.toggle("chosen", i === at));
  chosen = at;
  if (links[at]) links[at].scrollIntoView({ block: "nearest" });
}

box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  hits.textContent = "";
  chosen = -1;
  if (!words.length) return;
  const found = ENTRIES.map((entry) => [rank(entry, words), entry]).filter((pair) => pair[0] >= 0).sort((a, b) => a[0] - b[0]).slice(0, 40);
  for (const [, entry] of found) {
    const link = document.createElement("a"), text = document.createElement("small");
    link.href = entry[1];
    link.textContent = entry[0];
    text.textContent = entry[2];
    link.append(text);
    link.addEventListener("click", () => { hits.textContent = ""; });
    hits.append(link);
  }
});
box.addEventListener("keydown", (event) => {
  const links = hits.querySelectorAll("a");
  if (event.key === "ArrowDown") choose(Math.min(chosen + 1, links.length - 1));
  else if (event.key === "ArrowUp") choose(Math.max(chosen - 1, 0));
  else if (event.key === "Enter" && links.length) links[Math.max(chosen, 0)].click();
  else if (event.key === "Escape") hits.textContent = "";
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  }
});
const menu = document.querySelector("nav details"), narrow = matchMedia("(max-width: 800px)");
menu.open = !narrow.matches;
narrow.addEventListener("change", () => { menu.open = !narrow.matches; });
