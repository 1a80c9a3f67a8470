"use strict";
(() => {
  const all = (what, within = document) => Array.from(within.querySelectorAll(what));
  const search = document.getElementById("search");
  const waiting = document.getElementById("waiting");
  const look = document.getElementById("look");
  const found = document.getElementById("found");
  const nothing = document.getElementById("nothing");
  const looks = ["", "light", "dark"];
  const lookNames = { "": "Light or dark: as the system", light: "Light", dark: "Dark" };
  const texts = new WeakMap();
  const textOf = (node) => {
    if (!texts.has(node)) texts.set(node, node.textContent.toLowerCase());
    return texts.get(node);
  };
  const show = (node, is) => node.classList.toggle("filtered", !is);

  // A word in a heading shows all that stands below it, otherwise rows show which have every word.
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const onlyWaiting = waiting.getAttribute("aria-pressed") === "true";
    const isFiltering = words.length > 0 || onlyWaiting;
    let rows = 0;
    let sections = 0;
    for (const section of all("[data-part]")) {
      const above = textOf(section.querySelector("h2"));
      let any = false;
      for (const block of all("[data-block]", section)) {
        const head = above + " " + textOf(block.querySelector(".head"));
        const mayShow = !onlyWaiting || block.hasAttribute("data-waits");
        let hits = 0;
        for (const row of all("tbody tr", block)) {
          const hit = mayShow && words.every((word) => head.includes(word) || textOf(row).includes(word));
          show(row, hit);
          if (hit) hits += 1;
        }
        const hit = hits > 0 || (mayShow && words.every((word) => head.includes(word)));
        show(block, hit);
        any = any || hit;
        rows += hits;
      }
      const is = !isFiltering || any;
      show(section, is);
      if (is) sections += 1;
      for (const link of all(`nav a[href="#${section.id}"]`)) show(link, is);
    }
    for (const node of all("[data-whole]")) show(node, !isFiltering);
    show(nothing, isFiltering && sections === 0);
    found.textContent = isFiltering ? `${rows.toLocaleString("en")} rows` : "";
  };

  let waits = 0;
  search.addEventListener("input", () => {
    clearTimeout(waits);
    waits = setTimeout(filter, 120);
  });
  waiting.addEventListener("click", () => {
    waiting.setAttribute("aria-pressed", String(waiting.getAttribute("aria-pressed") !== "true"));
    filter();
  });
  look.addEventListener("click", () => {
    const next = looks[(looks.indexOf(document.documentElement.dataset.look || "") + 1) % looks.length];
    document.documentElement.dataset.look = next;
    look.textContent = lookNames[next];
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && search.value) {
      search.value = "";
      filter();
    }
  });
  document.documentElement.classList.remove("no-script");
  show(nothing, false);
})();
