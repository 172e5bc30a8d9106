"use strict";
// The case browser: filters, search, and a case with its answers side by side. Texts are data of
// unknown origin: they enter the page by textContent alone.
(() => {
  const source = document.getElementById("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const PAGE = 50;
  const WORDS = { p: "passed", f: "failed", v: "scored", e: "error", u: "unsupported", k: "skipped", "-": "no row" };
  const SIGNS = { p: "✓", f: "✗", v: "", e: "!", u: "", k: "", "-": "" };
  const [ID, INPUT, EXPECTED, NOW, BEFORE, TAGS, MODE, WHERE] = [0, 1, 2, 3, 4, 5, 6, 7];
  const state = { text: "", metric: "", show: "failed", tag: "", mode: "", page: 0 };
  const lower = data.cases.map(() => null);

  function make(tag, props = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
      if (name in element) element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  const shown = (value) => (value == null ? "-" : (value / 1000).toFixed(2));
  const metrics = () => data.metrics.filter((each) => !state.metric || each.name === state.metric);

  function moved(metric, index) {
    const [now, before] = [metric.now[index], metric.before[index]];
    return now == null || before == null ? 0 : now - before;
  }

  const TESTS = {
    all: () => true,
    failed: (metric, index) => "fe".includes(metric.status[index]),
    error: (metric, index) => metric.status[index] === "e",
    worse: (metric, index) => moved(metric, index) < 0,
    better: (metric, index) => moved(metric, index) > 0,
  };

  function haystack(index) {
    const each = data.cases[index];
    lower[index] ??= [each[ID], each[INPUT], each[EXPECTED], each[NOW]].join("\n").toLowerCase();
    return lower[index];
  }

  function matching() {
    const [test, chosen, text] = [TESTS[state.show], metrics(), state.text.toLowerCase()];
    const found = [];
    data.cases.forEach((each, index) => {
      if (state.tag && !(each[TAGS] || []).includes(state.tag)) return;
      if (state.mode && each[MODE] !== state.mode) return;
      if (!chosen.some((metric) => (state.show !== "all" || !state.metric || metric.status[index] !== "-") && test(metric, index))) return;
      if (text && !haystack(index).includes(text)) return;
      found.push(index);
    });
    const worst = (index) => Math.min(...chosen.map((metric) => moved(metric, index) * 10 - "fe".includes(metric.status[index])));
    if (state.show !== "all") {
      const keys = new Map(found.map((index) => [index, worst(index)]));
      const sign = state.show === "better" ? -1 : 1;
      found.sort((a, b) => sign * (keys.get(a) - keys.get(b)) || a - b);
    }
    return found;
  }

  function strip(index) {
    const cells = metrics().map((metric) => {
      const status = metric.status[index];
      const title = `${metric.name}: ${WORDS[status]} ${shown(metric.now[index])}`;
      return make("i", { className: status, title }, SIGNS[status]);
    });
    return make("span", { className: "strip", "aria-hidden": "true" }, ...cells);
  }

  function row(index) {
    const each = data.cases[index];
    const bad = metrics().filter((metric) => "fe".includes(metric.status[index])).map((metric) => metric.name);
    const why = metrics().map((metric) => data.reasons[metric.why[index]]).find(Boolean);
    const button = make("button", { type: "button", "aria-expanded": "false" },
      make("bdi", { className: "id" }, each[ID]), strip(index),
      make("bdi", { className: "first" }, why || (each[INPUT] || "").slice(0, 200)));
    button.setAttribute("aria-label", `case ${each[ID]}${bad.length ? `, failed in ${bad.join(", ")}` : ""}`);
    const box = make("div", { className: "case" }, button);
    button.addEventListener("click", () => {
      const open = box.querySelector(".detail");
      if (open) open.remove();
      else box.append(detail(index));
      button.setAttribute("aria-expanded", String(!open));
    });
    return box;
  }

  function detail(index) {
    const each = data.cases[index];
    const texts = [["input", each[INPUT]], ["expected", each[EXPECTED]], ["answer now", each[NOW]], ["answer before", each[BEFORE]]]
      .filter(([, text]) => text)
      .map(([name, text]) => make("div", {}, make("h3", {}, name), make("pre", { tabIndex: 0 }, text)));
    const facts = [each[MODE] && `failure mode ${each[MODE]}`, (each[TAGS] || []).length && `tags ${each[TAGS].join(", ")}`, each[WHERE]].filter(Boolean);
    return make("div", { className: "detail" },
      make("p", { className: "small" }, make("bdi", {}, facts.join(" · "))),
      make("div", { className: "texts" }, ...texts), scores(index));
  }

  function scores(index) {
    const head = ["metric", "was", "is", "status", "reason"].map((name) => make("th", { scope: "col" }, name));
    const rows = data.metrics.filter((metric) => metric.status[index] !== "-").map((metric) => {
      const change = moved(metric, index);
      return make("tr", {},
        make("th", { scope: "row" }, make("bdi", {}, metric.name)),
        make("td", {}, shown(metric.before[index])),
        make("td", { className: change < 0 ? "worse" : change > 0 ? "better" : "" }, shown(metric.now[index])),
        make("td", { className: WORDS[metric.status[index]] }, WORDS[metric.status[index]]),
        make("td", { className: "text" }, make("bdi", {}, data.reasons[metric.why[index]] || "")));
    });
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
    return make("div", { className: "scroll" }, table);
  }

  const labelled = (label, control) => make("div", {}, make("label", { htmlFor: control.id }, label), control);

  function chooser(name, label, options) {
    const select = make("select", { id: `by-${name}` }, ...options.map(([value, text]) => make("option", { value }, text)));
    select.value = state[name];
    select.addEventListener("change", () => change(name, select.value));
    return labelled(label, select);
  }

  function change(name, value) {
    state[name] = value;
    state.page = 0;
    render();
  }

  const distinct = (place) => [...new Set(data.cases.flatMap((each) => each[place] || []))].sort();
  const any = (values) => [["", "any"], ...values.map((value) => [value, value.length > 60 ? `${value.slice(0, 59)}…` : value])];
  const list = make("div", {});
  const count = make("p", { role: "status" });
  const squares = make("p", { className: "small", "aria-hidden": "true" });
  const earlier = make("button", { type: "button" }, "Previous");
  const later = make("button", { type: "button" }, "Next");
  earlier.addEventListener("click", () => { state.page -= 1; render(); });
  later.addEventListener("click", () => { state.page += 1; render(); });

  function render() {
    const found = matching();
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    const start = state.page * PAGE;
    const end = Math.min(start + PAGE, found.length);
    count.textContent = found.length ? `${start + 1} to ${end} of ${found.length} cases` : "no case";
    squares.textContent = `squares: ${metrics().map((metric) => metric.name).join(", ")}`;
    earlier.disabled = state.page === 0;
    later.disabled = state.page >= pages - 1;
    list.replaceChildren(...found.slice(start, end).map(row));
  }

  const search = make("input", { id: "by-text", type: "search", autocomplete: "off" });
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change("text", search.value), 120);
  });
  const some = data.metrics.some((metric) => /[fe]/.test(metric.status));
  if (!some) state.show = "all";
  const shows = [["all", "all"], ["failed", "failed or broken"], ["error", "broken"]];
  if (data.metrics.some((metric) => metric.before.length)) shows.push(["worse", "worse than before"], ["better", "better than before"]);
  const controls = make("div", { className: "controls", role: "search", "aria-label": "Cases" },
    labelled("search", search),
    chooser("show", "show", shows),
    chooser("metric", "metric", any(data.metrics.map((metric) => metric.name))));
  const [tags, modes] = [distinct(TAGS), distinct(MODE)];
  if (tags.length) controls.append(chooser("tag", "tag", any(tags)));
  if (modes.length) controls.append(chooser("mode", "failure mode", any(modes)));
  const browser = document.getElementById("browser");
  browser.append(controls, make("div", { className: "count" }, count, earlier, later), squares, list);
  browser.hidden = false;
  document.getElementById("plain").hidden = true;
  render();
})();
