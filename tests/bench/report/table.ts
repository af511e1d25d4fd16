// The results as Markdown.

import { median, type Ratio, ratios } from '../statistics.js';
import type { MeasuredContender, Results, Run } from '../types.js';
import { bars } from './bars.js';
import { type Judged, judge, type Picked } from './judge.js';

const number = (value: number, digits = 3): string =>
  value >= 1000 ? String(Math.round(value)) : value.toPrecision(digits);
const times = ({ median: middle, low, high }: Ratio): string =>
  low === undefined || high === undefined
    ? `${middle.toFixed(2)} ×`
    : `${middle.toFixed(2)} × [${low.toFixed(2)}, ${high.toFixed(2)}]`;
const row = (cells: readonly (string | undefined)[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly (string | undefined)[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

function barRow(judged: Judged): (string | undefined)[] {
  const { bar, of, against, ratio, met, missing } = judged;
  const own = bar.of.pick.variant;
  const other = bar.against.pick.peer ?? (bar.against.pick.role === 'limit' ? "the machine's limit" : 'ours');
  const time = (side: Picked): string => (side.time === undefined ? '' : `${number(side.time)} ms`);
  const verdict = missing ?? (met ? 'met' : '**not met**');
  const named = against.contender?.role === 'peer' ? against.contender.name : other;
  return [bar.work, own, time(of), named, time(against), ratio ? times(ratio) : '', `${bar.least} ×`, verdict];
}

const barHead = ['work', 'build', 'ours', 'against', 'theirs', 'ratio [quartiles]', 'bar', ''];

/** Every target with its measurement. */
export const barTable = (results: Results): string =>
  table(
    barHead,
    bars.map((bar) => barRow(judge(results, bar))),
  );

/** The fastest peer of a run for a contender of ours, with the same precision or a wider one. */
export function fastestPeer(run: Run): MeasuredContender | undefined {
  const peers = run.contenders.filter(({ role, milliseconds }) => role === 'peer' && milliseconds.length > 0);
  return peers.sort((a, b) => median(a.milliseconds) - median(b.milliseconds))[0];
}

function measuredRows(run: Run): string[][] {
  const fastest = fastestPeer(run);
  const where = `${run.engine}, ${run.threads}`;
  return run.contenders.map((contender) => {
    const { name, milliseconds, unavailable, role } = contender;
    if (milliseconds.length === 0) return [run.title, where, name, `not available: ${reason(unavailable)}`, '', ''];
    const time = median(milliseconds);
    const rate = run.amount ? `${number(run.amount.gflop / (time / 1000))}` : '';
    const ratio = role === 'ours' && fastest ? times(ratios(fastest.milliseconds, milliseconds)) : '';
    return [run.title, where, name, `${number(time)} ms`, rate, ratio];
  });
}

const reason = (text = ''): string => (text.split('\n')[0] ?? '').replaceAll('|', '/').slice(0, 90);

const measuredHead = ['work', 'engine, threads', 'who', 'median', 'G/s', 'ratio to the fastest peer [quartiles]'];

/** Every contender of every run. */
export const measuredTable = (results: Results): string =>
  table(measuredHead, Object.values(results.measured).flatMap(measuredRows));

/** Date, machine and versions, one line per combination. */
export function conditions(results: Results): string {
  const runs = Object.values(results.measured);
  const lines = runs.map(({ date, machine, engineVersion, pinned, versions }) => {
    const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
    return `- ${date}, ${machine}, ${engineVersion} (${pinned}); ${named.join(', ')}`;
  });
  return [...new Set(lines)].sort().join('\n');
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
];

/** A few lines for the readme: our faster build and the fastest peer, in Chromium. */
export function shortTable(results: Results): string {
  const rows = shortList.flatMap((id) => {
    const run = results.measured[`${id} chromium 1`];
    const ours = run?.contenders.filter(({ role, milliseconds }) => role === 'ours' && milliseconds.length > 0) ?? [];
    const [best] = ours.sort((a, b) => median(a.milliseconds) - median(b.milliseconds));
    const fastest = run && fastestPeer(run);
    if (!best || !fastest) return [];
    const cell = ({ milliseconds }: MeasuredContender): string => `${number(median(milliseconds))} ms`;
    return [
      [
        run.title,
        cell(best),
        `${cell(fastest)} (${fastest.name})`,
        times(ratios(fastest.milliseconds, best.milliseconds)),
      ],
    ];
  });
  return table(['Chromium, one thread', 'clearformer', 'fastest peer', 'ratio [quartiles]'], rows);
}

/** `text` with the part between the two benchmark markers replaced by `content`. */
export function betweenMarks(text: string, content: string): string {
  const [begin, end] = ['<!-- bench: begin -->', '<!-- bench: end -->'];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error('the marks of the benchmarks are missing');
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`;
}

/** The whole page. */
export function page(results: Results): string {
  return `# Measurements

![Speed against the fastest peer, and how it scales](bench.svg)

Written by \`npm run bench\` from what it measured; \`npm run bench -- minilm\` repeats a part. All of a work's contenders run
in turns in one run, after warm-up; medians, and quartiles of the ratio in each round. The peers run graphs of their own
fused operators with the same random weights, and must compute the same before they are timed. A kernel's time is without a
call from JavaScript, a peer's with it. "Limit" is what a loop that touches nothing but registers (for a single row:
memory) takes for the same number of operations in the same run.

${conditions(results)}

## Bars

${barTable(results)}

## All of it

G/s: 10⁹ operations a second, a multiply and an add counted as two.

${measuredTable(results)}
`;
}
