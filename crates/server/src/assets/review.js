// Keys, linked claims, the timeline, transcripts in parts. Pages work without it, but for the door.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);

// The door: the token behind # becomes a session, and leaves the address.
async function enter() {
  const token = location.hash.slice(1);
  if (!token) return;
  if (!one("#door")) {
    if (/^[0-9a-f]{64}$/.test(token)) history.replaceState(null, "", location.pathname + location.search);
    return;
  }
  const answer = await fetch("/session", { method: "POST", body: token, headers: { "content-type": "text/plain" } });
  history.replaceState(null, "", "/");
  if (answer.ok) location.replace("/queue");
}

// Keys: an element says by data-key which key presses it.
const KEYS_OFF = "hindcast_keys_off";
let sent = false;

function isTyping(element) {
  if (element.matches("textarea, select, [contenteditable]")) return true;
  return element.matches("input") && !["radio", "checkbox", "button", "submit"].includes(element.type);
}

function press(element) {
  const fold = element.closest("details:not([open])");
  if (fold && element.parentElement !== fold) fold.open = true;
  if (element.matches("input[type=search]")) {
    element.focus();
    element.select();
  } else {
    element.click();
    if (element.matches("input[type=radio]")) one("textarea[name=reason]")?.focus();
  }
}

function onKey(event) {
  const target = event.target instanceof Element ? event.target : document.body;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    if (one("#other")?.open && target.closest("#decision")) one("#decision button[value=other]").click();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
  if (event.key === "Escape") {
    if (isTyping(target)) target.blur();
    else if (one("#other")?.open) one("#other").open = false;
    return;
  }
  if (sent || isTyping(target) || one("dialog[open]") || localStorage.getItem(KEYS_OFF)) return;
  const list = all("a.case");
  if (list.length && (event.key === "j" || event.key === "k")) {
    const at = list.indexOf(document.activeElement);
    const to = at < 0 ? 0 : at + (event.key === "j" ? 1 : -1);
    list[Math.min(Math.max(to, 0), list.length - 1)].focus();
    event.preventDefault();
    return;
  }
  const key = CSS.escape(event.key);
  const digit = one("#other")?.open ? one(`[data-digit="${key}"]`) : null;
  const element = digit ?? one(`[data-key="${key}"]`);
  if (!element) return;
  event.preventDefault();
  press(element);
}

function keys() {
  document.addEventListener("keydown", onKey);
  // A second press must not decide twice.
  document.addEventListener("submit", (event) => {
    if (event.target.getAttribute("method") === "dialog") return;
    if (sent) event.preventDefault();
    else sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  one("#other")?.addEventListener("toggle", (event) => {
    if (event.target.open && !one("#other").contains(document.activeElement?.closest("textarea"))) {
      (one("#other input[type=radio]:checked") ?? one("#other input[type=radio]")).focus();
    }
  });
  for (const opener of all("[data-opens]")) {
    opener.addEventListener("click", () => one(`#${opener.dataset.opens}`).showModal());
  }
  const button = one("#keys-switch");
  const name = () => { button.textContent = localStorage.getItem(KEYS_OFF) ? button.dataset.on : button.dataset.off; };
  button?.addEventListener("click", () => {
    if (localStorage.getItem(KEYS_OFF)) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, "1");
    name();
  });
  if (button) name();
}

// Claims: the same mechanism on both sides and on the map, marked together.
function claims() {
  // A claim's mark has its role and mechanism as its title.
  const subjectOf = (element) => element.dataset.subject ?? element.title.slice(element.title.indexOf(": ") + 2);
  const named = all("[data-subject], blockquote mark");
  const mark = (subject, on) => {
    for (const element of named) {
      if (subjectOf(element) === subject) element.classList.toggle("linked", on);
    }
  };
  const pressed = () => all("[data-claim][aria-pressed=true]").map((button) => button.dataset.claim);
  for (const element of named) {
    element.addEventListener("mouseenter", () => mark(subjectOf(element), true));
    element.addEventListener("mouseleave", () => {
      if (!pressed().includes(subjectOf(element))) mark(subjectOf(element), false);
    });
  }
  for (const button of all("[data-claim]")) {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      for (const twin of all("[data-claim]")) {
        if (twin.dataset.claim === button.dataset.claim) twin.setAttribute("aria-pressed", on);
      }
      mark(button.dataset.claim, on);
    });
  }
}

// Transcripts come in parts, when they are asked for.
async function loadPart(from, into) {
  const answer = await fetch(from);
  const part = document.createElement("div");
  if (!answer.ok) {
    part.textContent = into.dataset.failed;
    into.append(part);
    return;
  }
  // The server escapes every text; the policy of the page lets no script of it run.
  part.innerHTML = await answer.text();
  into.append(part);
  const more = one("button[data-part]", part);
  more?.addEventListener("click", () => {
    more.remove();
    loadPart(more.dataset.part, into);
  });
}

function transcript() {
  const fold = one("#transcript");
  fold?.addEventListener("toggle", () => {
    if (fold.open && !fold.dataset.loaded) {
      fold.dataset.loaded = "1";
      loadPart(fold.dataset.part, fold).then(() => fold.scrollIntoView({ block: "start" }));
    }
  });
}

// The windows of both sides on one axis. A table beside it tells the same to who can't see it.
function timeline() {
  const host = one("#timeline");
  if (!host || typeof uPlot === "undefined") return;
  const { stretches } = JSON.parse(host.dataset.timeline);
  const lanes = ["incident", "engineers", "skill"].filter((side) => stretches.some((s) => s.side === side));
  const times = [...new Set(stretches.flatMap((s) => [s.from, s.to]))].sort((a, b) => a - b);
  const margin = Math.max((times.at(-1) - times[0]) * 0.03, 30);
  const [first, last] = [times[0] - margin, times.at(-1) + margin];
  const probes = document.createElement("div");
  probes.className = "lanes";
  for (const name of [...lanes, "text", "line"]) {
    const probe = document.createElement("span");
    probe.className = `lane-${name}`;
    probes.append(probe);
  }
  host.append(probes);
  const colour = (name) => getComputedStyle(one(`.lane-${name}`, probes)).color;
  const told = document.createElement("p");
  told.className = "told";
  // Stretches of one side that overlap stand in rows of their own, as far as there is room.
  const MOST_ROWS = 5;
  const counts = lanes.map((side) => {
    const ends = [];
    for (const s of stretches.filter((one) => one.side === side)) {
      const free = ends.findIndex((end) => end <= s.from);
      s.row = free < 0 ? Math.min(ends.length, MOST_ROWS - 1) : free;
      ends[s.row] = Math.max(ends[s.row] ?? s.to, s.to);
    }
    return ends.length;
  });
  const total = counts.reduce((sum, count) => sum + count, 0);
  const above = (index) => counts.slice(0, index).reduce((sum, count) => sum + count, 0);
  const rowOf = (s) => total - 1 - above(lanes.indexOf(s.side)) - s.row;
  const middles = lanes.map((_, index) => total - above(index) - counts[index] / 2);
  const height = 24 * total + 56;

  const draw = (plot) => {
    const { ctx } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    ctx.clip();
    ctx.font = `${12 * devicePixelRatio}px system-ui`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    for (const s of stretches) {
      const left = plot.valToPos(s.from, "x", true);
      const width = Math.max(plot.valToPos(s.to, "x", true) - left, 3 * devicePixelRatio);
      const top = plot.valToPos(rowOf(s) + 0.9, "y", true);
      const height = plot.valToPos(rowOf(s) + 0.1, "y", true) - top;
      ctx.fillStyle = colour(s.side);
      ctx.globalAlpha = s.side === "incident" ? 0.25 : 0.55;
      ctx.fillRect(left, top, width, height);
      ctx.globalAlpha = 1;
      ctx.strokeStyle = colour(s.side);
      ctx.strokeRect(left, top, width, height);
      if (s.label && ctx.measureText(s.label).width + 8 < width) {
        ctx.fillStyle = colour("text");
        ctx.fillText(s.label, left + 4 * devicePixelRatio, top + height / 2);
      }
    }
    ctx.restore();
  };

  const hover = (plot) => {
    const at = plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : null;
    const here = at === null ? [] : stretches.filter((s) => s.from <= at && at <= s.to);
    told.textContent = here.map((s) => [host.dataset[s.side], s.label, s.text].filter(Boolean).join(" ")).join(" · ");
  };

  // 24 hours, with the day where it begins.
  const clock = (_, splits, axis, space, step) => splits.map((seconds, index) => {
    const at = new Date(seconds * 1000).toISOString();
    const [day, time] = [at.slice(0, 10), at.slice(11, step < 60 ? 19 : 16)];
    const isNew = index === 0 || new Date(splits[index - 1] * 1000).toISOString().slice(0, 10) !== day;
    return isNew ? `${time}\n${day}` : time;
  });
  const names = (_, splits) => splits.map((value) => host.dataset[lanes[middles.indexOf(value)]] ?? "");
  const plot = new uPlot({
    width: host.clientWidth,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false } },
    scales: { x: { time: true, range: (_, from, to) => [from, to] }, y: { range: [0, total] } },
    // The stretches are drawn by the hook; the series only tells where the axis begins and ends.
    series: [{}, { paths: () => null, points: { show: false } }],
    axes: [
      {
        stroke: () => colour("text"), grid: { stroke: () => colour("line") }, ticks: { stroke: () => colour("line") },
        space: 90, values: clock,
      },
      {
        stroke: () => colour("text"), size: 90, grid: { show: false }, ticks: { show: false },
        splits: () => middles, values: names,
      },
    ],
    hooks: { draw: [draw], setCursor: [hover] },
  }, [[first, ...times, last], [0, ...times.map(() => 0), 0]], host);

  const zoom = (factor) => {
    const { min, max } = plot.scales.x;
    const [middle, half] = [(min + max) / 2, ((max - min) / 2) * factor];
    plot.setScale("x", { min: Math.max(middle - half, first), max: Math.min(middle + half, last) });
  };
  const buttons = document.createElement("div");
  buttons.className = "zoom";
  for (const [name, act] of [
    [host.dataset.in, () => zoom(0.5)],
    [host.dataset.out, () => zoom(2)],
    [host.dataset.reset, () => plot.setScale("x", { min: first, max: last })],
  ]) {
    const button = document.createElement("button");
    button.type = "button";
    button.tabIndex = -1;
    button.textContent = name;
    button.addEventListener("click", act);
    buttons.append(button);
  }
  host.append(told, buttons);
  new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height })).observe(host);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw());
}

enter();
keys();
claims();
transcript();
timeline();
