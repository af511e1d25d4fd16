// The results as Markdown.

import { items } from '../items/index.js';
import type { Machine } from '../machine.js';
import { keyOf } from '../results.js';
import { median, type Ratio, speedUp } from '../statistics.js';
import type { MeasuredContender, Results, Run } from '../types.js';
import { type Bar, bars } from './bars.js';
import { type Judged, judge } from './judge.js';

const number = (value: number, digits = 3): string =>
  value >= 1000 ? String(Math.round(value)) : value.toPrecision(digits);
const times = ({ median: middle, low, high }: Ratio): string =>
  low === undefined || high === undefined
    ? `${middle.toFixed(2)} ×`
    : `${middle.toFixed(2)} × [${low.toFixed(2)}, ${high.toFixed(2)}]`;
const row = (cells: readonly (string | undefined)[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly (string | undefined)[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** "A", "B", …: the names of the columns. */
const letter = (i: number): string => String.fromCharCode(65 + i);

/** The other side of a target in words. */
function againstName({ against: { pick } }: Bar): string {
  if (pick.role === 'limit') return "the machine's limit";
  return pick.peer ? `${pick.peer} ${pick.dtype.join(' / ')}` : 'ours';
}

/** Our time and the other one, their ratio, and whether it passes. */
function barCell({ bar, of, against, ratio, met, missing }: Judged): string {
  if (!ratio || of.time === undefined || against.time === undefined) return missing ?? '';
  const { name = '', role } = against.contender ?? {};
  const which = role === 'peer' && bar.against.pick.dtype.length > 1 ? ` (${name})` : '';
  return `${number(of.time)} / ${number(against.time)} ms${which}, ${times(ratio)}, ${met ? 'met' : '**not met**'}`;
}

/** Every target with its measurement on each machine. */
function barTable(machines: readonly Results[]): string {
  const head = ['work', 'build', 'against', 'bar', ...machines.map((_, i) => `${letter(i)}: ours / theirs, ratio`)];
  const rows = bars.map((bar) => [
    bar.work,
    bar.of.pick.variant,
    againstName(bar),
    [`${bar.least} ×`, bar.leastWithoutVnni && `${bar.leastWithoutVnni} × without AVX-VNNI`].filter(Boolean).join(', '),
    ...machines.map((results) => barCell(judge(results, bar))),
  ]);
  return table(head, rows);
}

/** The fastest peer of a run for a contender of ours, with the same precision or a wider one. */
export function fastestPeer(run: Run): MeasuredContender | undefined {
  const peers = run.contenders.filter(({ role, milliseconds }) => role === 'peer' && milliseconds.length > 0);
  return peers.sort((a, b) => median(a.milliseconds) - median(b.milliseconds))[0];
}

const reason = (text = ''): string => (text.split('\n')[0] ?? '').replaceAll('|', '/').slice(0, 90);

/** Time, rate and, for ours, the ratio to the fastest peer. */
function measuredCell(run: Run, contender: MeasuredContender): string {
  const { milliseconds, unavailable, role } = contender;
  if (milliseconds.length === 0) return `not available: ${reason(unavailable)}`;
  const time = median(milliseconds);
  const fastest = fastestPeer(run);
  const parts = [`${number(time)} ms`];
  if (run.amount) parts.push(`${number(run.amount.gflop / (time / 1000))} G/s`);
  if (role === 'ours' && fastest) parts.push(times(speedUp(contender, fastest)));
  return parts.join(', ');
}

/** The keys of all machines' runs in the order of the items; those of items that are no more come last. */
function keysOf(machines: readonly Results[]): string[] {
  const order = new Map(items.map(({ id }, i) => [id, i]));
  const place = (key: string): number => order.get(key.split(' ')[0] ?? '') ?? items.length;
  const keys = new Set(machines.flatMap(({ measured }) => Object.keys(measured)));
  return [...keys].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

function measuredRows(key: string, machines: readonly Results[]): string[][] {
  const runs = machines.map(({ measured }) => measured[key]);
  const names = new Set(runs.flatMap((run) => run?.contenders.map(({ name }) => name) ?? []));
  const first = runs.find((run) => run !== undefined);
  return [...names].map((name) => {
    const own = runs.map((run) => run?.contenders.find((each) => each.name === name));
    const cosine = own.find((each) => each?.cosine !== undefined)?.cosine;
    const cells = runs.map((run, i) => {
      const contender = own[i];
      return run && contender ? measuredCell(run, contender) : '';
    });
    const where = first ? `${first.engine}, ${first.threads}` : '';
    return [first?.title ?? '', where, name, cosine === undefined ? '' : cosine.toFixed(4), ...cells];
  });
}

/** Every contender of every run, a column per machine. */
function measuredTable(machines: readonly Results[]): string {
  const head = ['work', 'engine, threads', 'who', 'cosine with fp32', ...machines.map((_, i) => letter(i))];
  return table(
    head,
    keysOf(machines).flatMap((key) => measuredRows(key, machines)),
  );
}

/** The machine in words. */
export function described({ cpu, features, emulated }: Machine): string {
  const known = features ? features.join(', ') || 'none of the watched instructions' : 'instructions not told';
  return [`${cpu}; ${known}`, emulated].filter(Boolean).join('; ');
}

/** Each machine, with a line per date, engine and set of versions. */
export function conditions(machines: readonly Results[]): string {
  return machines
    .map(({ machine, measured }, i) => {
      const lines = Object.values(measured).map(({ date, engineVersion, pinned, versions, note }) => {
        const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
        return [`  - ${date}, ${engineVersion} (${pinned}); ${named.join(', ')}`, note].filter(Boolean).join('; ');
      });
      return [`- **${letter(i)}**: ${described(machine)}`, ...[...new Set(lines)].sort()].join('\n');
    })
    .join('\n');
}

const shortList = [
  'minilm-1x128-fp32',
  'minilm-1x128-q8',
  'gpt2-prefill-128-fp32',
  'gpt2-decode-128-fp32',
  'gpt2-decode-128-q8',
  'gpt2-decode-128-q4',
  'vit-b16-fp32',
  'startup',
  'loading',
];

interface Quoted {
  row: string[];
  ratio: number;
}

/** Our faster build and the fastest peer in one run. */
function quoted(run: Run, machine: string): Quoted | undefined {
  const ours = run.contenders.filter(({ role, milliseconds }) => role === 'ours' && milliseconds.length > 0);
  const [best] = ours.sort((a, b) => median(a.milliseconds) - median(b.milliseconds));
  const fastest = fastestPeer(run);
  if (!best || !fastest) return undefined;
  const cell = ({ milliseconds }: MeasuredContender): string => `${number(median(milliseconds))} ms`;
  const ratio = speedUp(best, fastest);
  return {
    row: [run.title, cell(best), `${cell(fastest)} (${fastest.name})`, times(ratio), machine],
    ratio: ratio.median,
  };
}

/** A few lines for the readme, in Chromium: of each work the machine with the worse ratio. */
export function shortTable(machines: readonly Results[]): string {
  const rows = shortList.flatMap((id) => {
    const found = machines.flatMap(({ measured }, i) => {
      const run = measured[keyOf(id, { engine: 'chromium', threads: 1 })];
      return (run && quoted(run, letter(i))) ?? [];
    });
    const [worst] = found.sort((a, b) => a.ratio - b.ratio);
    return worst ? [worst.row] : [];
  });
  const head = ['Chromium, one thread', 'clearformer', 'fastest peer', 'ratio [quartiles]', 'machine'];
  const named = machines.map(({ machine }, i) => `${letter(i)}: ${described(machine)}.`).join(' ');
  return `${table(head, rows)}\n\nOf each work the machine with the lowest ratio. ${named}`;
}

/** `text` with the part between the two benchmark markers replaced by `content`. */
export function betweenMarks(text: string, content: string): string {
  const [begin, end] = ['<!-- bench: begin -->', '<!-- bench: end -->'];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error('the marks of the benchmarks are missing');
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`;
}

/** The whole page. */
export function page(machines: readonly Results[]): string {
  return `# Measurements

![Speed against the fastest peer, and how it scales](bench.svg)

Written by \`npm run bench\` from what it measured (bench/*.json, a file and a column per machine); \`npm run bench -- minilm\`
repeats a part, and replaces only the rows of this machine. All of a work's contenders run in turns in one run, after
warm-up; medians, and quartiles of the ratio in each round. The peers run graphs of their own fused operators, or a file of
their own format, with the same random weights, and must compute the same before they are timed. A kernel's time is without
a call from JavaScript, a peer's with it; wllama's is by its own clock, without its server. "Limit" is what a loop that touches
nothing but registers (for a single row: memory) takes for the same number of operations in the same run.

${conditions(machines)}

## Bars

A cell is our time, the other's, their ratio with its quartiles, and whether it reaches the bar.

${barTable(machines)}

## All of it

A cell is the median time, 10⁹ operations a second (a multiply and an add counted as two), and for ours the ratio to the
fastest peer with its quartiles. The cosine is that of the outputs and those in fp32 of the same random weights, whose
outputs are more sensitive to rounding than a trained model's: \`npm run accuracy\` measures those.

${measuredTable(machines)}
`;
}
