// Measures items in one engine with one number of threads, and stores the results; scripts/bench.ts starts it pinned to
// cores.

import { loadavg } from 'node:os';
import { NodeHost } from './hosts/node.js';
import { PageHost } from './hosts/pages.js';
import { items } from './items/index.js';
import { type Switch, switches, thisMachine } from './machine.js';
import { measure } from './measure.js';
import { keepResult } from './results.js';
import { median } from './statistics.js';
import type { Host, Item, Pace, Run, Setting } from './types.js';
import { versions } from './versions.js';

/** A plan that scripts/bench.ts has prepared for one engine and number of threads. */
export interface PreparedPlan extends Setting, Pace {
  /** The cores, in words. */
  pinned: string;
  /** Whether the results are kept. */
  keep: boolean;
  /** What is switched off. */
  without?: Switch;
  items: { id: string; paths: (string | null)[] }[];
}

function tell({ contenders }: Run): void {
  for (const { name, milliseconds, unavailable, agreement } of contenders) {
    const time = milliseconds.length > 0 ? `${median(milliseconds).toPrecision(4)} ms` : '';
    const words = [time, unavailable && `not available: ${unavailable}`, agreement];
    console.log(`    ${name.padEnd(48)} ${words.filter(Boolean).join('  ')}`);
  }
}

/** More runs at once than the measurement itself. */
const isBusy = (): boolean => (loadavg()[0] ?? 0) > 3;

async function measureItem(
  host: Host,
  plan: PreparedPlan,
  item: Item,
  paths: readonly (string | null)[],
): Promise<Run> {
  const { engine, threads, pinned } = plan;
  console.log(`  ${item.title} (${host.version}, ${threads} thread${threads > 1 ? 's' : ''})`);
  const given = paths.map((path) => path ?? undefined);
  const contenders = await measure(host, item, { engine, threads }, given, plan);
  const notes = [plan.rounds < 7 && `${plan.rounds} rounds`, isBusy() && 'other work shared the machine'].filter(
    Boolean,
  );
  return {
    id: item.id,
    title: item.title,
    part: item.part,
    engine,
    threads,
    amount: item.amount,
    date: new Date().toISOString().slice(0, 10),
    engineVersion: host.version,
    pinned,
    versions,
    ...(notes.length > 0 && { note: notes.join('; ') }),
    contenders,
  };
}

export async function runPlan(plan: PreparedPlan): Promise<void> {
  const { engine, without } = plan;
  const flags = without ? [switches[without].flag] : [];
  const host: Host = await (engine === 'chromium' || engine === 'firefox'
    ? PageHost.start(engine, flags)
    : NodeHost.start(flags));
  const machine = thisMachine(without);
  try {
    for (const { id, paths } of plan.items) {
      const item = items.find((each) => each.id === id);
      if (!item) throw new Error(`no item is called ${id}`);
      const run = await measureItem(host, plan, item, paths);
      tell(run);
      if (plan.keep) keepResult(machine, run);
    }
  } finally {
    await host.stop();
  }
}
