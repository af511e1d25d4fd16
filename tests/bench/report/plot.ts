// The results as one SVG: speed-ups over the fastest peer, and how they scale. Colours follow the reader's
// colour scheme; the background is drawn, so that the picture is legible wherever it is shown.

import { median } from '../statistics.js';
import type { Identity, Results, Run } from '../types.js';
import { barPanel, escaped, type Group, linePanel, type Panel, type Series } from './panels.js';
import { fastestPeer } from './table.js';

const style = `
  .ground { fill: #ffffff } .text { fill: #1f2328; font: 12px system-ui, sans-serif } .title { font-weight: 600 }
  .quiet { fill: #59636e } .line { stroke: #d1d9e0 } .one { stroke: #1f2328 }
  .c0 { fill: #0969da; stroke: #0969da } .c1 { fill: #8250df; stroke: #8250df }
  .c2 { fill: #bc4c00; stroke: #bc4c00 } .c3 { fill: #59636e; stroke: #59636e }
  .curve { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } .text { fill: #e6edf3 } .quiet { fill: #9198a1 } .line { stroke: #3d444d }
    .one { stroke: #e6edf3 } .c0 { fill: #4493f8; stroke: #4493f8 } .c1 { fill: #ab7df8; stroke: #ab7df8 }
    .c2 { fill: #f0883e; stroke: #f0883e } .c3 { fill: #9198a1; stroke: #9198a1 } .curve { fill: none }
  }`;

const pictureWidth = 860;
const ratioWorks = [
  'matmul-128x384x1536-fp32',
  'attention-2048',
  'attention-2048-causal',
  'minilm-1x128-fp32',
  'minilm-1x128-q8',
  'minilm-8x128-fp32',
  'gpt2-prefill-128-fp32',
  'gpt2-prefill-128-q8',
  'gpt2-decode-128-fp32',
  'gpt2-decode-128-q8',
  'gpt2-decode-128-q4',
  'vit-b16-fp32',
];
const lengthPlaces = [128, 512, 1024, 2048, 4096];
const tokenPlaces = [32, 64, 128, 256, 512];
const sizeNames = ['bert-2x128', 'bert-4x256', 'minilm', 'bert-12x768'];
const threadedItems = ['minilm-1x128-fp32', 'minilm-8x128-fp32', 'gpt2-prefill-128-fp32', 'vit-b16-fp32'];

type At = (id: string, threads?: number) => Run | undefined;
type Wanted = (contender: Identity) => boolean;

const timeOf = (run: Run | undefined, pick: Wanted): number | undefined => {
  const found = run?.contenders.filter((each) => pick(each) && each.milliseconds.length > 0) ?? [];
  return found.length > 0 ? Math.min(...found.map(({ milliseconds }) => median(milliseconds))) : undefined;
};
const own =
  (variant: string): Wanted =>
  (each) =>
    each.role === 'ours' && each.variant === variant;
const isWeb: Wanted = ({ peer }) => peer === 'onnxruntime-web';

function ratioBars(at: At): Group[] {
  return ratioWorks
    .flatMap((id) => at(id) ?? [])
    .map((run) => {
      const fastest = fastestPeer(run);
      const ratio = (variant: string): number | undefined => {
        const time = timeOf(run, own(variant));
        return time && fastest ? median(fastest.milliseconds) / time : undefined;
      };
      return { label: run.title, values: [ratio('simd128'), ratio('relaxed')] };
    });
}

const shownLines: Readonly<Record<string, Wanted>> = {
  'clearformer simd128': own('simd128'),
  'clearformer relaxed': own('relaxed'),
  'onnxruntime-web': isWeb,
  'limit (relaxed)': ({ role, variant }) => role === 'limit' && variant === 'relaxed',
};

const lines = (at: At, ids: readonly string[], value: typeof gflops): Series[] =>
  Object.entries(shownLines).map(([name, pick]) => ({
    name,
    values: ids.map((id) => {
      const run = at(id);
      const time = timeOf(run, pick);
      return run && time ? value(run, time) : undefined;
    }),
  }));

const lengthIds = tokenPlaces.map((n) => (n === 128 ? 'minilm-1x128-fp32' : `scaling-minilm-${n}-fp32`));
const sizeIds = sizeNames.map((name) => (name === 'minilm' ? 'minilm-1x128-fp32' : `scaling-${name}-128-fp32`));

function threadBars(at: At): Group[] {
  return threadedItems.flatMap((id) => {
    const [one, two] = [at(id), at(id, 2)];
    if (!one || !two) return [];
    const ratio = (pick: Wanted): number | undefined => {
      const [alone, both] = [timeOf(one, pick), timeOf(two, pick)];
      return alone && both ? alone / both : undefined;
    };
    return [{ label: one.title, values: [ratio(own('simd128')), ratio(own('relaxed')), ratio(isWeb)] }];
  });
}

function gflops(run: Run, time: number): number | undefined {
  return run.amount && run.amount.gflop / (time / 1000);
}

/** The picture of one machine's results, without panels that have no measurement. */
export function plot(results: Results): string {
  const at: At = (id, threads = 1) => results.measured[`${id} chromium ${threads}`];
  const panels: ((top: number) => Panel)[] = [
    (top) =>
      barPanel(top, 'Times as fast as the fastest peer (Chromium, one thread; more is better)', ratioBars(at), [
        'clearformer simd128',
        'clearformer relaxed',
      ]),
    (top) =>
      linePanel(
        top,
        'Attention, 12 heads of 64: GFLOP/s by length',
        lengthPlaces,
        lines(
          at,
          lengthPlaces.map((n) => `attention-${n}`),
          gflops,
        ),
      ),
    (top) => linePanel(top, 'MiniLM: GFLOP/s by tokens', tokenPlaces, lines(at, lengthIds, gflops)),
    (top) => linePanel(top, 'BERT of four sizes, 128 tokens: GFLOP/s', sizeNames, lines(at, sizeIds, gflops)),
    (top) =>
      barPanel(top, 'Two threads: times as fast as one', threadBars(at), [
        'clearformer simd128',
        'clearformer relaxed',
        'onnxruntime-web',
      ]),
  ];
  let top = 16;
  const drawn: string[] = [];
  for (const panel of panels) {
    const { svg, height } = panel(top);
    drawn.push(svg);
    top += height;
  }
  const dates = Object.values(results.measured).map(({ date }) => date);
  const versions = Object.values(results.measured).find(({ engine }) => engine === 'chromium')?.engineVersion ?? '';
  const foot = `<text class="text quiet" x="16" y="${top + 8}">${escaped(`${results.machine.cpu}; ${versions}, ${dates.sort().at(-1) ?? ''}; npm run bench repeats it`)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${pictureWidth} ${top + 24}" width="${pictureWidth}" height="${top + 24}" role="img" aria-label="Speed of clearformer against its peers">
<style>${style}
</style>
<rect class="ground" width="100%" height="100%" rx="8"/>
${drawn.filter(Boolean).join('\n')}
${foot}
</svg>
`;
}
