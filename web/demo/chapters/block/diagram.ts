// A block as an interactive diagram: the residual stream as a ribbon whose width is the norm of the chosen token's
// vector, boxes for the sublayers that read from it and add to it, each of which opens its tensor, and switches that
// ablate a box.

import { two } from 'clearformer/elements';
import { html, nothing, svg, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { onWall } from '../../book/class_mode.js';
import { filled } from '../../book/markup.js';
import { activation } from '../../book/shelf.js';
import { textWidths } from '../../book/text_widths.js';
import { vars } from '../../book/vars.js';
import type { FigureBlock } from './figure.js';
import type { Part, Plan } from './plan.js';
import { lengthOf, type Reading, takesOut } from './reading.js';

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Layout {
  readonly narrow: boolean;
  readonly width: number;
  readonly height: number;
  readonly box: Size;
  /** The size of a norm on the stream (post-norm). */
  readonly onStream: Size;
  /** The size of a part of the stream. */
  readonly pill: Size;
  /** From the middle of the stream to the baseline of a length below it. */
  readonly below: number;
  /** Whether norms on the stream are too narrow for their whole name. */
  readonly short?: boolean;
  place(at: number, beside: boolean): Point;
}

/** The width of the longest name of a norm in class mode, in CSS pixels. */
const widestNorm = (): number => textWidths(['LayerNorm'], onWall(24), 'sans')[0] ?? 0;

function layoutOf(width: number, { length, postNorm }: Plan, large: boolean): Layout {
  if (width < 700) {
    const slot = 46;
    const box = { width: Math.min(130, width * 0.38), height: 36 };
    const place = (at: number, beside: boolean): Point => ({
      x: width * (beside ? 0.66 : 0.3),
      y: 26 + at * slot,
    });
    return {
      narrow: true,
      width,
      height: 52 + length * slot,
      box,
      onStream: { width: 88, height: 36 },
      pill: { width: 62, height: 26 },
      below: 0,
      place,
    };
  }
  const slot = (width - 130) / length;
  const high = large ? onWall(1) : 1;
  const place = (at: number, beside: boolean): Point => ({ x: 62 + at * slot, y: high * (beside ? 36 : 146) });
  if (large) {
    const box = { width: Math.min(onWall(190), postNorm ? slot * 1.25 : slot - 8), height: onWall(58) };
    const short = postNorm && slot * 1.14 < widestNorm();
    const onStream = { width: short ? slot * 0.86 : Math.min(onWall(150), slot * 1.14), height: onWall(40) };
    const pill = { width: onWall(94), height: onWall(34) };
    return { narrow: false, width, height: onWall(194), box, onStream, pill, below: onWall(38), short, place };
  }
  const box = { width: Math.min(132, slot - 12), height: 44 };
  return { narrow: false, width, height: 190, box, onStream: box, pill: { width: 62, height: 26 }, below: 38, place };
}

export function diagram(figure: FigureBlock, reading: Reading): TemplateResult {
  const { plan } = reading;
  const layout = layoutOf(figure.width || 1000, plan, figure.inClass);
  const chosen = figure.chosenPart(reading);
  return html`<div class="diagram ${layout.narrow ? 'tall' : ''}" ${vars({ height: `${layout.height}px` })}>
    <svg width=${layout.width} height=${layout.height} aria-hidden="true">${ribbon(reading, layout)}${wires(reading, layout)}</svg>
    ${plan.parts.map((part) => box(figure, reading, part, { layout, chosen: part.id === chosen.id }))}
  </div>`;
}

/** The label of a part. */
export function nameOf(figure: FigureBlock, { plan, shape }: Reading, { kind, id }: Part): string {
  const { labels } = figure.words;
  if (kind === 'norm') return shape.norm === 'RMS' ? labels.rmsNorm : labels.layerNorm;
  if (kind === 'stream')
    return id === plan.parts[0]?.id ? labels.streamIn : id === plan.parts.at(-1)?.id ? labels.streamOut : labels.stream;
  return labels[kind];
}

function box(
  figure: FigureBlock,
  reading: Reading,
  part: Part,
  { layout, chosen }: { layout: Layout; chosen: boolean },
): TemplateResult {
  const { stack, layer, shape, tokens } = reading;
  const hook = `${stack}.${layer}.${part.id}`;
  const { x, y } = layout.place(part.at, part.beside);
  const { width, height } = part.kind === 'stream' ? layout.pill : part.beside ? layout.box : layout.onStream;
  const out = reading.specs.some((spec) => takesOut(spec, hook));
  const away = figure.isOut(hook);
  const name = nameOf(figure, reading, part);
  const place = { left: `${x - width / 2}px`, top: `${y - height / 2}px`, width: `${width}px`, height: `${height}px` };
  const title = `${hook} [${tokens.length}, ${shape.model}]`;
  const switched = ['attention', 'cross', 'mlp'].includes(part.kind);
  return html`<button type="button" class="box ${part.kind} ${out ? 'out' : ''}" aria-pressed=${chosen} title=${title} aria-label="${name}: ${title}" ${vars(place)}
      @click=${() => figure.choose({ box: part.id, view: 'tensor' })}>${figure.inClass ? (layout.short && !part.beside ? name.replace(/.*(?=Norm)/, '') : name) : breakable(name)}</button>
    ${
      switched
        ? html`<label class="switch" title=${filled(away ? figure.words.labels.putBack : figure.words.labels.takeOut, { box: name })} ${vars({ left: `${x + width / 2 - 30}px`, top: `${y + height / 2 + 4}px` })}>
        <input type="checkbox" aria-label=${filled(figure.words.labels.switchName, { box: name, layer: layer + 1 })} .checked=${live(!away)} @change=${() => figure.toggle(reading, part.id, reading.layer)} /></label>`
        : nothing
    }`;
}

/** LayerNorm and RMSNorm in two lines where the box is too narrow for one. */
const breakable = (name: string) =>
  name.split(/(?=Norm)/).map((word, i) => html`${i > 0 ? html`<wbr>` : nothing}${word}`);

/** Points of the stream with the vector's norm at each. */
function along({ plan, now, stack, layer, focus }: Reading): { at: number; length: number }[] {
  return plan.parts
    .filter(({ beside }) => !beside)
    .map(({ id, at }) => ({ at, length: lengthOf(activation(now, `${stack}.${layer}.${id}`).slice(0, focus).data) }));
}

function ribbon(reading: Reading, layout: Layout): TemplateResult {
  const points = along(reading);
  const largest = Math.max(...points.map(({ length }) => length), 1e-9);
  const half = (length: number): number => 1.5 + (14 * length) / largest;
  const turn = ({ x, y }: Point, off: number): string => (layout.narrow ? `${x + off} ${y}` : `${x} ${y + off}`);
  const ends = points.map(({ at, length }) => ({ point: layout.place(at, false), half: half(length) }));
  const one = ends.map(({ point, half: off }) => turn(point, -off));
  const other = ends.map(({ point, half: off }) => turn(point, off)).reverse();
  return svg`<path class="ribbon" d="M${[...one, ...other].join('L')}Z" />
    ${points.map(({ at, length }) => {
      const { x, y } = layout.place(at, false);
      return layout.narrow
        ? svg`<text class="muted" x=${x - 50} y=${y + 4} text-anchor="end">${two(length)}</text>`
        : svg`<text class="muted" x=${x} y=${y + layout.below} text-anchor="middle">${two(length)}</text>`;
    })}`;
}

/** Lines between the stream and the boxes, and the signs of the additions. */
function wires({ plan, specs, stack, layer }: Reading, layout: Layout): TemplateResult {
  const path = (from: Point, to: Point): string =>
    layout.narrow ? `M${from.x} ${from.y}H${to.x}V${to.y}` : `M${from.x} ${from.y}V${to.y}H${to.x}`;
  const groups = plan.sums.map((sum, i) => {
    const inside = plan.parts.filter(({ beside, at }) => beside && at < sum && at > (plan.sums[i - 1] ?? -1));
    return { sum, inside };
  });
  return svg`${groups.map(({ sum, inside }) => {
    const [first, last] = [inside[0], inside.at(-1)];
    if (!first || !last) return nothing;
    const out = specs.some((spec) => takesOut(spec, `${stack}.${layer}.${last.id}`));
    const enter = layout.place(first.at - (layout.narrow ? 0.55 : 0.5), false);
    const start = layout.place(first.at, true);
    const end = layout.place(last.at, true);
    const joined = layout.place(sum, false);
    const back = layout.narrow
      ? `M${end.x} ${end.y}V${joined.y}H${joined.x + 11}`
      : `M${end.x} ${end.y}H${joined.x}V${joined.y - 11}`;
    return svg`<path class="wire" d=${path(enter, start)} /><path class="wire" d="M${start.x} ${start.y}L${end.x} ${end.y}" />
      <path class="wire ${out ? 'cut' : ''}" d=${back} marker-end="" />
      <circle class="sum" cx=${joined.x} cy=${joined.y} r="10" /><path class="plus" d="M${joined.x - 5} ${joined.y}h10M${joined.x} ${joined.y - 5}v10" />`;
  })}`;
}
