// Live cells: each is an expression that may refer to other cells and to `cf`, the package. A changed cell is evaluated
// again, and the cells that depend on it, directly or indirectly, once each.

import * as cf from 'clearformer';

const AsyncFunction = (async () => {}).constructor;
const cells = new Map();

for (const section of document.querySelectorAll('[data-cell]')) {
  const input = section.querySelector('textarea');
  const output = document.createElement('output');
  section.append(output);
  cells.set(section.dataset.cell, { input, output, value: undefined });
  input.before(`${section.dataset.cell} =`);
  input.addEventListener('change', () => changed(section.dataset.cell));
}

/** The other cells that an expression refers to. */
const usedBy = (name) => {
  const words = new Set(cells.get(name).input.value.match(/(?<![.\w'])[a-z_]\w*/gi));
  return [...cells.keys()].filter((other) => other !== name && words.has(other));
};

/** The value of a cell, after those of the cells it refers to. */
async function compute(name) {
  const { input } = cells.get(name);
  const names = usedBy(name);
  const values = await Promise.all(names.map((other) => cells.get(other).value));
  return new AsyncFunction('cf', ...names, `return (${input.value}\n);`)(cf, ...values);
}

const shown = (value) => {
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? 'a function' : String(value);
  return Array.isArray(value) ? JSON.stringify(value).slice(0, 300) : `{ ${Object.keys(value).join(', ')} }`;
};

function update(name) {
  const cell = cells.get(name);
  const value = compute(name);
  cell.value = value;
  cell.output.textContent = '…';
  const show = (text) => {
    if (cell.value === value) cell.output.textContent = text; // unless it was changed meanwhile
  };
  value.then(
    (result) => show(shown(result)),
    (error) => show(`${error.name}: ${error.message}`),
  );
}

/** In topological order: every cell after those it refers to. */
function ordered() {
  const done = new Set();
  const visit = (name, path) => {
    if (path.includes(name)) return; // a cycle: it uses the previous value
    for (const other of usedBy(name)) visit(other, [...path, name]);
    done.add(name);
  };
  for (const name of cells.keys()) visit(name, []);
  return [...done];
}

function changed(first) {
  const anew = new Set([first]);
  for (const name of ordered()) {
    if (name !== first && !usedBy(name).some((other) => anew.has(other))) continue;
    anew.add(name);
    update(name);
  }
}

for (const name of ordered()) update(name);
