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
  const show = (node, is) => node.classList.toggle("filtered", !is);
  const textOf = (node) => node.textContent.toLowerCase();

  // Read once: every section with its blocks, every block with its rows, and what they say.
  let known = null;
  const read = () =>
    all("[data-part]").map((section) => {
      const above = textOf(section.querySelector("h2"));
      const blocks = all("[data-block]", section).map((node) => {
        const rows = all("tbody tr", node);
        return { node, rows, texts: rows.map(textOf), head: `${above} ${textOf(node.querySelector(".head"))}` };
      });
      return { section, blocks, links: all(`nav a[href="#${section.id}"]`) };
    });

  // A word in a heading shows all that stands below it, otherwise rows show which have every word.
  const filter = () => {
    known = known || read();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const onlyWaiting = waiting.getAttribute("aria-pressed") === "true";
    const isFiltering = words.length > 0 || onlyWaiting;
    let rows = 0;
    let sections = 0;
    for (const { section, blocks, links } of known) {
      let any = false;
      for (const block of blocks) {
        const mayShow = !onlyWaiting || block.node.hasAttribute("data-waits");
        const left = mayShow ? words.filter((word) => !block.head.includes(word)) : [];
        const hits = mayShow ? block.texts.map((text) => left.every((word) => text.includes(word))) : [];
        const count = hits.filter(Boolean).length;
        const is = mayShow && (count > 0 || left.length === 0);
        show(block.node, is);
        if (is) block.rows.forEach((row, at) => show(row, hits[at]));
        any = any || is;
        rows += count;
      }
      const is = !isFiltering || any;
      show(section, is);
      if (is) sections += 1;
      for (const link of links) show(link, is);
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
