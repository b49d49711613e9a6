// Answers are kept in this browser while they are given, and leave it only as the table that the reviewer saves.
"use strict";
(() => {
  const articles = [...document.querySelectorAll("article")];
  const annotator = document.getElementById("annotator");
  const save = document.getElementById("save");
  const store = "eva-review:" + save.dataset.file + ":" + articles.map((one) => one.dataset.item).join("|");
  const side = (article, name) => article.querySelector(`[data-side="${name}"]`);
  const chosen = (article, name) => side(article, name).querySelector("input:checked")?.value ?? "";
  const answers = (article) => ({
    a: chosen(article, "a"),
    b: chosen(article, "b"),
    label: article.querySelector(".label").value,
    comment: article.querySelector(".comment").value,
  });
  const done = (given) => Boolean(given.label || given.a === "yes" || given.b === "yes");

  // A cell that begins like a formula gets an apostrophe; the reader takes it off again.
  const cell = (text) => {
    const guarded = /^\s*[=+\-@\t\r']/.test(text) ? "'" + text : text;
    return `"${guarded.replaceAll('"', '""')}"`;
  };
  const row = (article) => {
    const given = answers(article);
    return [
      article.dataset.item, article.dataset.language, side(article, "a").dataset.label, given.a,
      side(article, "b").dataset.label, given.b, given.label, annotator.value.trim(), given.comment,
    ];
  };
  const head = ["item_id", "language", "verdict_a", "agree_a", "verdict_b", "agree_b", "label", "annotator", "comment"];
  const table = () => [head, ...articles.map(row)].map((cells) => cells.map(cell).join(",")).join("\n") + "\n";

  const show = () => {
    const finished = articles.filter((article) => {
      const is = done(answers(article));
      article.classList.toggle("done", is);
      return is;
    }).length;
    const unnamed = annotator.value.trim() ? "" : " · your name is missing";
    document.getElementById("progress").textContent = `${finished} of ${articles.length} answered${unnamed}`;
  };
  const keep = () => {
    show();
    try {
      const all = { annotator: annotator.value, items: articles.map(answers) };
      localStorage.setItem(store, JSON.stringify(all));
    } catch {
      // A browser that stores nothing for files: answers then last as long as the page is open.
    }
  };
  const restore = () => {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(store));
    } catch {
      kept = null;
    }
    if (!kept) return;
    annotator.value = kept.annotator ?? "";
    articles.forEach((article, n) => {
      const given = kept.items?.[n] ?? {};
      for (const name of ["a", "b"]) {
        const input = [...side(article, name).querySelectorAll("input")].find((one) => one.value === given[name]);
        if (input) input.checked = true;
      }
      article.querySelector(".label").value = given.label ?? "";
      article.querySelector(".comment").value = given.comment ?? "";
    });
  };

  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff" + table()], { type: "text/csv" }));
    link.download = save.dataset.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  document.addEventListener("input", keep);
  document.addEventListener("change", keep);
  restore();
  show();
})();
