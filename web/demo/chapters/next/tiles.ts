// The model as tiles: a column per token, a row per block, the stream's vectors as squares of cells, lines to the
// tokens that the last one attends to, and the logit lens' prediction after each block.

import type { Tensor } from 'clearformer';
import type { Numbers } from 'clearformer/elements';
import { percent, weight } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, svg, type TemplateResult } from 'lit';
import { onWall } from '../../book/class_mode.js';
import { OwnWidth, ThemeColours } from '../../book/controllers.js';
import { figureStyles } from '../../book/figure_styles.js';
import { pixels, usualBound } from '../../book/pixels.js';
import { textWidths } from '../../book/text_widths.js';
import { theme } from '../../book/theme.js';
import { shortened } from '../../book/token_texts.js';
import type { Guess, Reading } from './reading.js';

const mostColumns = 10;

interface Layout {
  width: number;
  left: number;
  column: number;
  tile: number;
  row: number;
  small: boolean;
  /** Width of a bar of probability 1. */
  rate: number;
}

class ModelTiles extends LitElement {
  static override properties: PropertyDeclarations = {
    reading: { attribute: false },
    labels: { attribute: false },
    still: { type: Boolean },
    minFont: { type: Number },
  };
  declare reading: Reading | undefined;
  declare labels: Readonly<Record<string, string>>;
  /** Whether the animation of the blocks has already run. */
  declare still: boolean;
  /** Minimum font size in CSS pixels; 0: default sizes. */
  declare minFont: number;
  readonly #box = new OwnWidth(this, 900);

  static override styles = [
    figureStyles,
    css`
      :host { min-height: 320px; }
      image { image-rendering: pixelated; }
      @media (prefers-reduced-motion: no-preference) { .block { animation: light 0.4s backwards; } }
      @keyframes light { from { opacity: 0.06; } }
      .token { font: max(18px, var(--cf-min-font-size)) var(--cf-serif); } .token.special { font: max(11px, var(--cf-min-font-size)) var(--cf-mono); fill: var(--cf-muted); }
      .small .token { font-size: max(14px, var(--cf-min-font-size)); } .small .token.special { font-size: max(8px, var(--cf-min-font-size)); }
      .guess { font: max(18px, var(--cf-min-font-size)) var(--cf-serif); fill: var(--cf-muted); } .last .guess { font-weight: 600; fill: var(--cf-ink); }
      .small .guess { font-size: max(15px, var(--cf-min-font-size)); }
    `,
  ];

  /** The expression of the tiles' data, for the figure's menu: the stream after the last block. */
  get source(): string {
    return this.reading?.stream.at(-1)?.name ?? '';
  }
  get numbers(): Numbers | undefined {
    return this.reading?.stream.at(-1)?.tensor;
  }

  constructor() {
    super();
    new ThemeColours(this);
    this.still = false;
    this.minFont = 0;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.reading || this.#box.width < 100) return nothing;
    const { tokens, stream } = this.reading;
    const small = this.#box.width < 520;
    const large = this.minFont > 0;
    const [left, right] = small ? [12, 92] : large ? [onWall(104), onWall(222)] : [66, 150];
    const room = this.#box.width - left - right;
    const size = Math.max(small ? 14 : 18, this.minFont);
    const last = tokens.slice(-mostColumns).map(({ label }) => label);
    const widths = textWidths(last, size);
    const widest = Math.max(...widths) + 6;
    const least = large ? widest : small ? Math.min(widest, 40) : 1;
    const columns = Math.min(tokens.length, mostColumns, Math.max(1, Math.floor(room / least)));
    const from = tokens.length - columns;
    const column = Math.min(Math.max(64, least), room / columns);
    const labels = last.map((label) => within(label, column, size));
    const tile = Math.max(8, Math.floor(Math.min(column - (small ? 3 : 10), large ? onWall(44) : 44) / 8) * 8);
    const rate = large ? onWall(96) : small ? 50 : 84;
    const row = tile + (large ? onWall(24) : small ? 16 : 24);
    const layout = { width: this.#box.width, left, column, tile, row, small, rate };
    const height = 34 + stream.length * layout.row;
    return html`<svg class=${small ? 'small' : ''} width=${this.#box.width} height=${height} role="img" aria-label=${this.labels.model}>
      ${tokens.slice(from).map(({ special }, i) => svg`<text class="token ${special ? 'special' : ''}" x=${left + (i + 0.5) * column} y=${large ? 20 : 18} text-anchor="middle">${labels[last.length - columns + i]}</text>`)}
      ${small ? nothing : svg`<text class="muted" x=${left + columns * column + 16} y=${large ? 20 : 18}>${this.labels.wouldSay}</text>`}
      ${stream.map((_, l) => this.#block(l, from, columns, layout))}
    </svg>${from > 0 ? html`<p class="verdict">${this.labels.window?.replace('{n}', String(columns)).replace('{of}', String(tokens.length))}</p>` : nothing}`;
  }

  #block(l: number, from: number, columns: number, layout: Layout): TemplateResult {
    const { left, column, tile, row, small } = layout;
    const { stream, reads, lens, tokens } = this.reading as Reading;
    const y = 34 + l * row;
    const centre = (i: number): number => left + (i + 0.5) * column;
    const last = centre(columns - 1);
    const tensor = stream[l]?.tensor;
    const bound = tensor ? usualBound(tensor.data) : 1;
    const side = Math.ceil(Math.sqrt(tensor?.dims[1] ?? 1));
    const href = tensor ? picture(tensor.slice([from, null]), side, bound) : '';
    const animated = this.still ? '' : 'block';
    return svg`<g class="${animated} ${l === stream.length - 1 ? 'last' : ''}">
      ${
        l === 0
          ? nothing
          : Array.from(reads[l - 1] ?? [])
              .slice(from)
              .map((share, i) => line(centre(i), y - row + tile, last, y, share))
      }
      ${tokens.slice(from).map(
        (
          token,
          i,
        ) => svg`<svg x=${centre(i) - tile / 2} y=${y} width=${tile} height=${tile} viewBox="${i * side} 0 ${side} ${side}" preserveAspectRatio="none">
          <image width=${columns * side} height=${side} href=${href}><title>${token.label}</title></image></svg>`,
      )}
      <rect x=${last - tile / 2 - 2.5} y=${y - 2.5} width=${tile + 5} height=${tile + 5} fill="none" stroke="var(--cf-ink)" stroke-width="1.2" rx="2"/>
      ${small ? nothing : svg`<text class="muted" x="0" y=${y + tile / 2 + 4}>${l === 0 ? this.labels.token : `${this.labels.block} ${l}`}</text>`}
      ${guess(lens[l], last + tile / 2 + 16, y + tile / 2, l === stream.length - 1, layout)}
    </g>`;
  }

  protected override updated(): void {
    this.renderRoot.querySelectorAll<SVGGElement>('.block').forEach((block, l) => {
      block.style.animationDelay = `${200 + 320 * l}ms`;
    });
  }
}

function line(x0: number, y0: number, x1: number, y1: number, share: number): TemplateResult {
  const [red, green, blue] = weight(Math.max(0.16, share), theme.current);
  return svg`<path d="M${x0} ${y0}C${x0} ${y0 + 16} ${x1} ${y1 - 18} ${x1} ${y1}" fill="none" stroke="rgb(${red} ${green} ${blue})" stroke-width=${0.6 + 7 * share} stroke-linecap="round" opacity=${share < 0.02 ? 0.35 : 1}/>`;
}

/** A label, or what has room of it. */
const within = (label: string, width: number, size: number): string =>
  (textWidths([label], size)[0] ?? 0) < width ? label : shortened(label, (13 * width) / size);

function guess(
  one: Guess | undefined,
  x: number,
  y: number,
  last: boolean,
  { width, rate, small }: Layout,
): TemplateResult | typeof nothing {
  if (!one) return nothing;
  const { label } = one.piece;
  return svg`<text class="guess" x=${x} y=${y - 1}>${small ? within(label, width - x - 48, 15) : label}</text>
    <rect x=${x} y=${y + 6} width=${rate * one.probability} height="4" rx="1" fill=${last ? 'var(--cf-accent)' : 'var(--cf-line-strong)'}/>
    <text class="muted" x=${width} y=${y - 1} text-anchor="end">${percent(one.probability)}</text>`;
}

/** Vectors [tokens, d_model] as squares of cells side by side: one image per block. */
function picture({ data, dims }: Tensor<'float32'>, side: number, bound: number): string {
  const [tokens = 0, width = 0] = dims;
  const cells = new Float32Array(tokens * side * side).fill(Number.NaN);
  data.forEach((value, i) => {
    const [token, cell] = [Math.floor(i / width), i % width];
    cells[Math.floor(cell / side) * tokens * side + token * side + (cell % side)] = value;
  });
  return pixels(cells, tokens * side, bound);
}

customElements.define('model-tiles', ModelTiles);
