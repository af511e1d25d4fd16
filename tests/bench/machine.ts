// The machine that measures: its processor, and the instructions that decide how fast quantised weights are.

import { readFileSync } from 'node:fs';
import { arch, cpus } from 'node:os';

/** A column of the tables. A machine of which something is switched off counts as another one. */
export interface Machine {
  /** The name of its file in .github/bench. */
  id: string;
  /** Processor, vendor's family and model, and number of cores. */
  cpu: string;
  /** Those of `watched` that it has; undefined if the system does not tell. */
  features?: readonly string[];
  /** What is switched off, and how. */
  emulated?: string;
}

/** The flags of /proc/cpuinfo on which kernels depend, by the names in the tables. */
const watched: Readonly<Record<string, string>> = {
  avx2: 'AVX2',
  avx_vnni: 'AVX-VNNI',
  avx512f: 'AVX-512',
  avx512_vnni: 'AVX-512 VNNI',
  asimddp: 'SDOT',
  i8mm: 'I8MM',
};

/** What can be switched off: V8's flag, which holds for the engines that compile WebAssembly with V8. */
export const switches = {
  'avx-vnni': { flag: '--no-enable-avx-vnni', feature: 'AVX-VNNI' },
} as const;
export type Switch = keyof typeof switches;

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** The machine that /proc/cpuinfo (Linux) and Node's `os` describe. `without` is what is switched off. */
export function machineOf(cpuinfo: string, model: string, cores: number, without?: Switch): Machine {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}\\s*:\\s*(.*)$`, 'mi').exec(cpuinfo)?.[1]?.trim();
  const [family, number] = [field('cpu family'), field('model')];
  const flags = (field('flags') ?? field('Features'))?.split(' ');
  const name = model.trim() || field('model name') || arch();
  const places = family && number ? `, family ${family}, model ${number}` : '';
  const own = flags && Object.keys(watched).filter((flag) => flags.includes(flag));
  const machine: Machine = {
    id: slug([`${name}${places}`, without && `without ${without}`].filter(Boolean).join(' ')),
    cpu: `${name}${places}, ${cores} cores`,
  };
  if (own) machine.features = own.map((flag) => watched[flag] ?? flag);
  if (!without) return machine;
  const { flag, feature } = switches[without];
  return {
    ...machine,
    ...(machine.features && { features: machine.features.filter((each) => each !== feature) }),
    emulated: `no ${feature}, emulated by V8's flag ${flag} (Chromium and Node)`,
  };
}

/** This machine. */
export function thisMachine(without?: Switch): Machine {
  let cpuinfo = '';
  try {
    cpuinfo = readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    // Not Linux: the features are not told.
  }
  const all = cpus();
  return machineOf(cpuinfo, all[0]?.model ?? '', all.length, without);
}
