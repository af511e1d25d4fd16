// The wheel: sectors as wide as the probabilities, a hundred samples, and how close the frequencies are.

import { percent } from 'clearformer/elements';
import { html, svg, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { textWidths } from '../../book/text_widths.js';
import { vars } from '../../book/vars.js';
import type { Data, FigureSaying } from './figure.js';
import type { Draws } from './odds.js';

const size = 300;
const radius = 130;
const centre = size / 2;

/** Row i of a generation samples with seed + i, so the next hundred start after the seeds already used. */
export function drawsView(figure: FigureSaying, { draws }: Data): TemplateResult {
  if (!draws) return html``;
  const { labels } = figure.words;
  const items = draws.tokens.slice(0, 12).map(({ piece, times, probability }) => ({
    label: piece.label,
    value: figure.revealed ? times / draws.count : 0,
    note: filled(labels.expected, { share: percent(probability) }),
  }));
  return html`<div class="draws">
    <div>
      ${wheel(figure, draws)}
      <button type="button" class="primary" @click=${() => figure.choose({ seed: String(draws.seed + draws.count) })}>${filled(labels.again, { n: draws.count })}</button>
      <p class="verdict">${figure.revealed ? filled(labels.lastDraw, { token: draws.order.at(-1)?.label ?? '' }) : ''} ${filled(labels.seed, { seed: draws.seed })}</p>
    </div>
    <div class="counts">
      <p class="caption">${filled(labels.counts, { n: draws.count })}</p>
      <cf-bars readonly source="shares of generate({ num_return_sequences: ${draws.count}, max_new_tokens: 1, seed: ${draws.seed} })" label=${labels.countsName} max="1" .items=${items}></cf-bars>
    </div>
    ${figure.inClass && figure.width < besideOrder ? '' : inOrder(figure, draws)}
  </div>`;
}

/** From this width on the order stands beside the bars in class mode, which has no room below them. */
const besideOrder = 1500;

const inOrder = ({ words: { labels }, revealed }: FigureSaying, { order }: Draws): TemplateResult => html`<div>
  <p class="caption">${labels.inOrder}</p>
  <p class="order">${revealed ? order.map(({ label }) => html`<span>${label}</span>`) : '?'}</p>
</div>`;

/** The wheel's rotation in turns: two per hundred samples, ending at the last token sampled. */
function turnOf(figure: FigureSaying, { tokens, order, seed, count }: Draws): number {
  if (!figure.revealed) return 0;
  const last = tokens.findIndex(({ piece }) => piece.id === order.at(-1)?.id);
  const before = tokens.slice(0, Math.max(0, last)).reduce((sum, { probability }) => sum + probability, 0);
  const middle = before + (tokens[last]?.probability ?? 0) / 2;
  return 2 * Math.round(seed / count) + 1 - middle;
}

interface Slice {
  readonly label: string;
  /** In turns, before the wheel's rotation. */
  readonly from: number;
  readonly to: number;
}

const labelRadius = radius * 0.66;

/** The slices whose labels fit: the widest first, each if it overlaps none before where the wheel stops. */
function labelled<S extends Slice>(figure: FigureSaying, slices: readonly S[], turn: number): S[] {
  const wide = slices.filter(({ from, to }) => to - from > 0.035).sort((a, b) => b.to - b.from - (a.to - a.from));
  const height = figure.textSize(14.5);
  const widths = textWidths(
    wide.map(({ label }) => label),
    height,
  );
  const boxes = wide.map(({ from, to }, i) => {
    const angle = ((from + to) / 2 + turn) * 2 * Math.PI;
    return { x: labelRadius * Math.sin(angle), y: labelRadius * Math.cos(angle), width: widths[i] ?? 0 };
  });
  const placed: number[] = [];
  boxes.forEach(({ x, y, width }, i) => {
    const meets = (at: number): boolean => {
      const other = boxes[at];
      if (!other) return false;
      return Math.abs(x - other.x) < (width + other.width) / 2 + 4 && Math.abs(y - other.y) < 1.3 * height;
    };
    if (!placed.some(meets)) placed.push(i);
  });
  return placed.flatMap((i) => wide[i] ?? []);
}

function wheel(figure: FigureSaying, draws: Draws): TemplateResult {
  const { tokens } = draws;
  const turn = turnOf(figure, draws);
  let start = 0;
  const slices = tokens.map(({ piece, probability }, i) => {
    const [from, to] = [start, start + probability];
    start = to;
    return { label: piece.label, from, to, i };
  });
  const point = (turn: number, r: number): string => {
    const angle = turn * 2 * Math.PI - Math.PI / 2;
    return `${(centre + r * Math.cos(angle)).toFixed(2)} ${(centre + r * Math.sin(angle)).toFixed(2)}`;
  };
  const path = (from: number, to: number): string => {
    const end = Math.min(to, from + 0.99999);
    return `M${centre} ${centre}L${point(from, radius)}A${radius} ${radius} 0 ${end - from > 0.5 ? 1 : 0} 1 ${point(end, radius)}Z`;
  };
  return html`<svg class="wheel" width=${size} height=${size} role="img" aria-label=${figure.words.labels.wheelName}>
    <g class="turning" ${vars({ '--turn': `${360 * turn}deg` })}>
    <circle class="rest" cx=${centre} cy=${centre} r=${radius} />
    ${slices.map(({ label, from, to, i }) => svg`<path class="slice s${i % 4}" d=${path(from, to)}><title>${label}: ${percent(to - from)}</title></path>`)}
    ${labelled(figure, slices, turn).map(({ label, from, to }) => {
      const [x, y] = point((from + to) / 2, labelRadius).split(' ');
      return svg`<text class="serif" x=${x} y=${y} dy="5" text-anchor="middle">${label}</text>`;
    })}</g>
    ${figure.revealed ? svg`<path class="pointer" d="M${centre} ${centre - radius + 8}l-7 -17h14z"/>` : ''}
  </svg>`;
}
