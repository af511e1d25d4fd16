// Overlays of the matrices: wires in the gaps between them, frames of what the formula's symbol or a product refers to,
// and the chosen row's weights as bars above A's columns. No line crosses digits.

import { cssColour, decimals, weight } from 'clearformer/elements';
import { nothing, svg, type TemplateResult } from 'lit';
import { theme } from '../../book/theme.js';
import { inWindow } from '../../book/window.js';
import type { FormulaPart } from './canvas.js';
import { drawnSize, type Geometry, type Spans } from './geometry.js';
import { at, type HeadData, largestAt, type MatrixName, rowOf, type Stage } from './head_numbers.js';
import { ofKeys, type Selected } from './selection.js';
import type { Views } from './views.js';

export interface DrawingContext {
  readonly data: HeadData;
  readonly views: Views;
  readonly geometry: Geometry;
  readonly at: Selected;
  readonly stage: Stage;
  readonly labels: Readonly<Record<string, string>>;
  readonly secretRow: number;
  readonly large: boolean;
  /** Height of the labels above S and A. */
  readonly above: number;
}

interface OverlayContext extends DrawingContext {
  readonly part: FormulaPart | undefined;
  readonly product: number | undefined;
  readonly width: number;
}

export function overlay(context: OverlayContext): TemplateResult {
  const { geometry, width } = context;
  return svg`<svg class="over" width=${width} height=${geometry.height} aria-hidden="true">
    ${wires(context)}${pointedPart(context)}${productFrames(context)}${bars(context)}
  </svg>` as TemplateResult;
}

const spansOf = ({ Q, A, V }: Views): Spans => ({
  queries: Q.rows,
  keys: A.columns,
  inner: Q.columns,
  outer: V.columns,
});

/** The matrices that a wire connects. */
const madeOf: Readonly<Record<MatrixName, readonly MatrixName[]>> = {
  Q: [],
  K: [],
  V: [],
  S: ['Q', 'K', 'S'],
  A: ['S', 'A'],
  Z: ['A', 'V', 'Z'],
};

function wires({ views, geometry, at: chosen, above }: OverlayContext): TemplateResult | typeof nothing {
  const { places, cell, middle } = geometry;
  const { matrix, row, column } = chosen;
  const spans = spansOf(views);
  const r = row - views.Q.rows.from;
  const y = middle + (r + 0.5) * cell.height;
  const end = (name: MatrixName): number => places[name].x + drawnSize(name, spans)[1] * cell.width;
  const bottom = (name: MatrixName): number => places[name].y + drawnSize(name, spans)[0] * cell.height;
  if (!madeOf[matrix].every((name) => geometry.shown.has(name))) return nothing;
  const line = (d: string, hue: string): TemplateResult =>
    svg`<path d=${d} fill="none" stroke="var(--cf-${hue})" stroke-width="2.2" opacity="0.8"/>`;
  if (matrix === 'S') {
    const x = places.S.x + (column - views.S.columns.from + 0.5) * cell.width;
    const down = `M${x} ${bottom('K') + 4}V${middle - above - 5}M${x} ${middle - 7}V${middle - 1}`;
    return svg`${line(`M${end('Q') + 7} ${y}H${places.S.x - 7}`, 'q')}${line(down, 'k')}`;
  }
  if (matrix === 'A') return line(`M${end('S') + 7} ${y}H${places.A.x - 7}`, 'ink');
  if (matrix !== 'Z') return nothing;
  const x = places.Z.x + (column - views.Z.columns.from + 0.5) * cell.width;
  return svg`${line(`M${end('A') + 7} ${y}H${places.Z.x - 7}`, 'ink')}${line(`M${x} ${bottom('V') + 4}V${middle - 4}`, 'v')}`;
}

function frame(
  context: DrawingContext,
  name: MatrixName,
  hue: string,
  stroke: number,
  cell?: { row: number; column: number },
): TemplateResult | typeof nothing {
  if (!context.geometry.shown.has(name)) return nothing;
  const { places, cell: size } = context.geometry;
  const [rows, columns] = cell ? [1, 1] : drawnSize(name, spansOf(context.views));
  const x = places[name].x + (cell?.column ?? 0) * size.width - 0.5;
  const y = places[name].y + (cell?.row ?? 0) * size.height - 0.5;
  return svg`<rect x=${x} y=${y} width=${columns * size.width + 1} height=${rows * size.height + 1} rx="2.5" fill="none" stroke="var(--cf-${hue})" stroke-width=${stroke}/>`;
}

function pointedPart(context: OverlayContext): TemplateResult | typeof nothing {
  const { part } = context;
  if (part === 'q' || part === 'k' || part === 'v') return frame(context, part.toUpperCase() as MatrixName, part, 3.5);
  if (part === undefined) return nothing;
  return frame(context, part === 'soft' ? 'A' : 'S', 'ink', 3);
}

/** Frames of the two factors of the product under the pointer. */
function productFrames(context: OverlayContext): TemplateResult | typeof nothing {
  const { product, views, at: chosen } = context;
  if (product === undefined) return nothing;
  const { matrix, row, column } = chosen;
  if (matrix === 'S' && inWindow(views.Q.columns, product)) {
    const element = product - views.Q.columns.from;
    return svg`${frame(context, 'Q', 'ink', 2.6, { row: row - views.Q.rows.from, column: element })}
      ${frame(context, 'K', 'ink', 2.6, { row: element, column: column - views.K.rows.from })}`;
  }
  if (matrix !== 'Z' || !inWindow(views.A.columns, product)) return nothing;
  const key = product - views.A.columns.from;
  return svg`${frame(context, 'A', 'ink', 2.6, { row: row - views.A.rows.from, column: key })}
    ${frame(context, 'V', 'ink', 2.6, { row: key, column: column - views.V.columns.from })}`;
}

function bars(context: OverlayContext): TemplateResult | typeof nothing {
  const { data, geometry, views, at: chosen, labels, secretRow, above, large } = context;
  if (large && !(geometry.shown.has('A') && geometry.shown.has('S'))) return nothing;
  const { places, cell, middle } = geometry;
  const row = ofKeys(chosen.matrix) ? data.focus : chosen.row;
  const { x } = places.A;
  const { columns } = views.A;
  const base = middle - above - 13;
  const title = large ? 22 : 18;
  if (row === secretRow) return svg`<text class="reads" x=${x} y=${title} font-style="italic">${labels.guess}</text>`;
  const weights = rowOf(data.now.A, row);
  const tall = base - title - 36;
  // NaN, of scores beyond float32, has no bar.
  const shown = Array.from(weights.slice(columns.from, columns.from + columns.count), (share) => share || 0);
  const place = x + columns.count * cell.width + 2;
  return svg`<text class="reads" x=${x} y=${title}><tspan class="q-fill">${data.queries[row]}</tspan><tspan class="muted-fill"> ${labels.reads} </tspan><tspan>${data.keys[largestAt(weights)]}</tspan></text>
    ${shown.map((share, i) => {
      const key = columns.from + i;
      const hidden = at(data.now.masked, row, key) === Number.NEGATIVE_INFINITY;
      const height = Math.min(tall, Math.max(hidden ? 0 : 1, share * tall));
      const middleOf = x + (i + 0.5) * cell.width;
      return svg`<rect x=${x + i * cell.width + 3} y=${base - height} width=${Math.max(1, cell.width - 6)} height=${height} rx="1.5" fill=${cssColour(weight(Math.max(0.1, share), theme.current))}/>
        ${share >= 0.02 ? svg`<text class="share" x=${middleOf} y=${base - height - 6} text-anchor="middle">${decimals(share, 2)}</text>` : nothing}`;
    })}
    <path d="M${x - 2} ${base + 0.5}H${place}" stroke="var(--cf-line-strong)"/>`;
}
