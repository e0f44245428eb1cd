// What the page does beyond showing: values under the pointer or the arrow keys, and tables that sort and filter. Without it
// everything is still there to read.
"use strict";
(() => {
  document.documentElement.classList.add("js");
  const make = (tag, attributes, text) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text) element.textContent = text;
    return element;
  };

  const tip = make("div", { id: "tip", role: "status", hidden: "" });
  document.body.append(tip);
  const hide = () => { tip.hidden = true; };
  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - box.width - 4)) + "px";
    tip.style.top = (y - box.height - 12 > 0 ? y - box.height - 12 : y + 18) + "px";
  };

  const centre = (mark) => {
    const box = mark.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  for (const chart of document.querySelectorAll(".chart > svg")) {
    const marks = [...chart.querySelectorAll("[data-tip]")];
    if (marks.length === 0) continue;
    let at = -1;
    const leave = () => {
      if (at >= 0) marks[at].classList.remove("at");
      at = -1;
      hide();
    };
    const go = (k) => {
      leave();
      at = k;
      marks[k].classList.add("at");
      show(marks[k].dataset.tip, ...centre(marks[k]));
    };
    chart.addEventListener("pointermove", (event) => {
      const inside = event.target.closest("rect[data-tip]");
      let best = inside ? marks.indexOf(inside) : -1, least = 40 * 40;
      if (!inside) {
        marks.forEach((mark, k) => {
          const [x, y] = centre(mark), d = (x - event.clientX) ** 2 + (y - event.clientY) ** 2;
          if (d < least) [best, least] = [k, d];
        });
      }
      if (best < 0) leave(); else if (best !== at) go(best);
    });
    chart.addEventListener("pointerleave", leave);
    chart.addEventListener("blur", leave);
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") leave();
      if (!step) return;
      event.preventDefault();
      go((at + step + marks.length) % marks.length);
    });
  }
  for (const cell of document.querySelectorAll("td[data-tip]")) {
    cell.addEventListener("pointerenter", () => show(cell.dataset.tip, ...centre(cell)));
    cell.addEventListener("pointerleave", hide);
  }
  addEventListener("scroll", hide, { passive: true });

  const order = (a, b, column, isNumber) => {
    const [x, y] = [a, b].map((row) => row.cells[column].dataset.key);
    if (!isNumber) return x.localeCompare(y, undefined, { numeric: true });
    const [u, v] = [Number(x), Number(y)];
    return (Number.isNaN(u) ? -Infinity : u) - (Number.isNaN(v) ? -Infinity : v) || 0;
  };

  for (const frame of document.querySelectorAll(".table")) {
    const body = frame.querySelector("tbody"), first = Number(frame.dataset.first);
    let rows = [...body.rows], shown = first || rows.length, words = [];
    const state = make("span", { role: "status" });
    const more = make("button", { type: "button" });
    const update = () => {
      const fitting = rows.filter((row) => words.every((word) => row.textContent.toLowerCase().includes(word)));
      const visible = new Set(fitting.slice(0, shown));
      for (const row of rows) row.hidden = !visible.has(row);
      state.textContent = visible.size + " of " + rows.length + " rows";
      more.hidden = fitting.length <= first;
      more.textContent = shown > first ? "Show fewer" : "Show all " + fitting.length;
    };
    if (first) {
      const tools = make("div", { class: "tools" });
      const filter = make("input", { type: "search", placeholder: "Filter by name", "aria-label": "Show only rows that hold these words" });
      filter.addEventListener("input", () => {
        words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        update();
      });
      more.addEventListener("click", () => {
        shown = shown > first ? first : Infinity;
        update();
      });
      tools.append(filter, more, state);
      frame.prepend(tools);
      update();
    }
    const heads = [...frame.querySelectorAll("thead th")];
    const titles = heads.map((head) => head.textContent);
    for (const row of rows) {  // for narrow screens, which show cells under each other
      titles.forEach((title, column) => { row.cells[column].dataset.label = title; });
    }
    if (rows.length < 2) continue;
    heads.forEach((head, column) => {
      const isNumber = head.classList.contains("number");
      const button = make("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const was = head.getAttribute("aria-sort");
        const down = was ? was === "ascending" : isNumber;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.sort((a, b) => (down ? -1 : 1) * order(a, b, column, isNumber));
        body.append(...rows);
        update();
      });
    });
  }

  // All rows and values are printed that the reader asked to see, and what is folded.
  addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
})();
