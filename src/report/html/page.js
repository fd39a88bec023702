(() => {
  "use strict";
  const search = document.getElementById("search");
  const tables = [...document.querySelectorAll("details.table")];
  const nodes = [...document.querySelectorAll(".node")];
  const entries = [...document.querySelectorAll("#overview li")];
  let current = -1;
  search.hidden = false;

  function show(table) {
    if (!table) return;
    tables.forEach((other) => other.classList.toggle("current", other === table));
    current = tables.indexOf(table);
    table.open = true;
    table.scrollIntoView({ block: "start" });
    table.querySelector("summary").focus({ preventScroll: true });
  }

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    const misses = (element) => wanted !== "" && !element.dataset.name.toLowerCase().includes(wanted);
    tables.forEach((table) => { table.hidden = misses(table); });
    entries.forEach((entry) => { entry.hidden = misses(entry); });
    nodes.forEach((node) => node.classList.toggle("faded", misses(node)));
  }

  function step(by) {
    for (let next = current + by; next >= 0 && next < tables.length; next += by) {
      if (!tables[next].hidden) return show(tables[next]);
    }
  }

  search.addEventListener("input", filter);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    show(document.getElementById(link.getAttribute("href").slice(1)));
  });
  document.addEventListener("keydown", (event) => {
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; filter(); search.blur(); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { event.preventDefault(); search.focus(); }
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  if (location.hash) show(document.getElementById(location.hash.slice(1)));
})();
