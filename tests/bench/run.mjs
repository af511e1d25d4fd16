// Measures items in one engine with one number of threads, and keeps the results; scripts/bench.mjs starts it on the cores
// that are meant. Its argument is a plan: { engine, threads, pinned, rounds, budget, keep, items: [{ id, paths }] }.
import { cpus } from 'node:os';

import { ChromiumHost } from './hosts/chromium.mjs';
import { NodeHost } from './hosts/node.mjs';
import { items } from './items/index.mjs';
import { measure } from './measure.mjs';
import { keepResult } from './results.mjs';
import { median } from './statistics.mjs';
import { versions } from './versions.mjs';

const plan = JSON.parse(process.argv[2]);
const { engine, threads, pinned, rounds, budget } = plan;
const Host = engine === 'chromium' ? ChromiumHost : NodeHost;

function tell(entry) {
  for (const { name, milliseconds, unavailable, agreement } of entry.contenders) {
    const time = milliseconds.length > 0 ? `${median(milliseconds).toPrecision(4)} ms` : '';
    console.log(
      `    ${name.padEnd(48)} ${[time, unavailable && `not available: ${unavailable}`, agreement].filter(Boolean).join('  ')}`,
    );
  }
}

const host = await Host.start();
try {
  for (const { id, paths } of plan.items) {
    const item = items.find((each) => each.id === id);
    console.log(`  ${item.title} (${host.version}, ${threads} thread${threads > 1 ? 's' : ''})`);
    const contenders = await measure(
      host,
      item,
      { engine, threads },
      paths.map((path) => path ?? undefined),
      {
        rounds,
        budget,
      },
    );
    const entry = {
      id,
      title: item.title,
      part: item.part,
      engine,
      threads,
      amount: item.amount,
      date: new Date().toISOString().slice(0, 10),
      engineVersion: host.version,
      machine: cpus()[0].model.trim(),
      pinned,
      versions,
      contenders,
    };
    tell(entry);
    if (plan.keep) keepResult(entry);
  }
} finally {
  await host.stop();
}
