// <where-clocks>: the table of sinusoids, one row per position, and above each pair of columns a clock whose hand shows
// it.

import type { Numbers } from 'clearformer/elements';
import { spoken, two } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, svg, type TemplateResult } from 'lit';
import { onWall, stageHeight } from '../../book/class_mode.js';
import { OwnWidth, ThemeColours } from '../../book/controllers.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { pixels } from '../../book/pixels.js';
import { isAbove, upperPart } from '../../book/upper_part.js';
import { clock, type Hand } from './clock.js';
import { type Places, places } from './places.js';

/** Pairs of columns at full width. */
const mostPairs = 8;

interface Geometry {
  width: number;
  left: number;
  pair: number;
  radius: number;
  top: number;
  row: number;
  small: boolean;
}

/** Events: `place-move` { i } or { delta } while dragging, `pair-choose` { pair }. */
class WhereClocks extends LitElement {
  static override properties: PropertyDeclarations = {
    places: { attribute: false },
    labels: { attribute: false },
    minFont: { type: Number },
    secret: { type: Boolean },
  };
  declare places: Places | undefined;
  declare labels: Readonly<Record<string, string>>;
  /** Minimum font size in CSS pixels; 0: default sizes. */
  declare minFont: number;
  /** Whether row i + δ is hidden. */
  declare secret: boolean;
  #geometry: Geometry | undefined;
  #dragged: 'i' | 'delta' | undefined;
  readonly #box = new OwnWidth(this);

  static override styles = [
    figureStyles,
    css`
      :host { min-height: 120px; }
      image { image-rendering: pixelated; }
      .clock { cursor: pointer; }
      .clock:focus-visible { outline: none; }
      .clock:focus-visible .rim { stroke: var(--cf-accent); stroke-width: 2.5; }
      .grab { cursor: ns-resize; touch-action: none; }
      .column { font-size: max(11px, var(--cf-min-font-size)); }
      .sym { font: italic max(17px, var(--cf-min-font-size)) var(--cf-serif); } .small .sym { font-size: max(15px, var(--cf-min-font-size)); } .large .sym { font-size: calc(26px * var(--wall)); }
      .there { fill: var(--cf-accent); }
      svg .twin { font-size: max(12px, var(--cf-min-font-size)); fill: var(--cf-wrong); stroke: var(--cf-paper); stroke-width: 4; paint-order: stroke; }
    `,
  ];

  get source(): string {
    return this.places?.table.source ?? '';
  }
  get numbers(): Numbers | undefined {
    return this.places?.table.numbers;
  }

  constructor() {
    super();
    new ThemeColours(this);
    this.minFont = 0;
    this.secret = false;
    this.labels = {};
  }

  #measure(): Geometry {
    const large = this.minFont > 0;
    const width = Math.min(this.#box.width, large ? onWall(1360) : 860);
    const small = width < 520;
    const left = small ? 42 : large ? onWall(96) : 66;
    const right = small ? 24 : large ? onWall(240) : 104;
    const pair = (width - left - right) / mostPairs;
    const radius = Math.min(pair / 2 - (small ? 3 : 7), large ? onWall(42) : 36);
    const spare = large
      ? stageHeight() - radius * 2 - Math.max(320, onWall(386))
      : innerHeight - 52 - (radius * 2 + 66) - 300;
    const row = isAbove()
      ? Math.max(2.6, Math.min(6, (upperPart() - radius * 2 - (small ? 224 : 330)) / places))
      : Math.max(3, Math.min(9, spare / places));
    return { width, left, pair, radius, top: radius * 2 + (small ? 16 : 44), row, small };
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.places || this.#box.width < 100) return nothing;
    const g = this.#measure();
    this.#geometry = g;
    const height = g.top + places * g.row + 8;
    const shape = this.places.table.numbers.dims.join('×');
    return html`<svg class="${g.small ? 'small' : ''} ${this.minFont > 0 ? 'large' : ''}" width=${g.width} height=${height} role="group" aria-label="${this.labels.table} ${shape}">
      ${this.#table(this.places, g)} ${this.#pairFrame(this.places, g)} ${this.#distances(this.places, g)} ${this.#rows(this.places, g)}
      <g role="radiogroup" aria-label=${this.labels.clocks} @keydown=${this.#keys}>${this.places.columns.map((_, j) => this.#clock(this.places as Places, j, g))}</g>
    </svg>`;
  }

  /** The left edge of a column. */
  #x(column: number, { left, pair }: Geometry): number {
    return left + (column * pair) / 2;
  }

  #table({ table, d, layout, sines, columns }: Places, g: Geometry): TemplateResult {
    const cosines = new Set(sines ? columns.map(([, cosine]) => cosine) : []);
    const shown = Array.from(table.numbers.data, (value, at) => (cosines.has(at % d) ? Number.NaN : value));
    const height = places * g.row;
    const gaps = columns.slice(1).map((_, j) => this.#x(layout === 'halves' ? j + 1 : 2 * (j + 1), g));
    const names = Array.from({ length: d }, (_, c) => (columns.some(([sine]) => sine === c) ? 'sin' : 'cos'));
    return svg`<image href=${pixels(shown, d, 1.3)} x=${g.left} y=${g.top} width=${(d * g.pair) / 2} height=${height} preserveAspectRatio="none"/>
      ${layout === 'halves' ? nothing : gaps.map((x) => svg`<path d="M${x} ${g.top}v${height}" stroke="var(--cf-paper)" stroke-width=${g.small ? 1.5 : 3}/>`)}
      ${g.small ? nothing : names.map((name, c) => svg`<text class="muted column" x=${this.#x(c, g) + g.pair / 4} y=${g.top - 8} text-anchor="middle" opacity=${cosines.has(c) ? 0.3 : 1}>${name}</text>`)}`;
  }

  /** The frame around the columns of the chosen pair, with lines from its clock if they are not below it. */
  #pairFrame({ columns, pair, layout }: Places, g: Geometry): TemplateResult {
    const [sine = 0, cosine] = columns[pair] ?? [];
    const wide = layout === 'interleaved' && cosine !== undefined;
    const framed = wide ? [sine] : [sine, ...(cosine === undefined ? [] : [cosine])];
    const clockX = this.#clockX(pair, g);
    return svg`${framed.map((column) => svg`<rect x=${this.#x(column, g) - 1} y=${g.top - 2} width=${(wide ? 1 : 0.5) * g.pair + 1} height=${places * g.row + 4} fill="none" stroke="var(--cf-ink)" stroke-width="1.4" rx="2" opacity="0.8"/>`)}
      ${
        layout === 'halves'
          ? framed.map((column) => {
              const x = this.#x(column, g) + g.pair / 4;
              const y = 8 + 2 * g.radius;
              return svg`<path d="M${clockX} ${y}C${clockX} ${y + 12} ${x} ${y + 2} ${x} ${g.top - (g.small ? 3 : 20)}" fill="none" stroke="var(--cf-ink)" opacity="0.7"/>`;
            })
          : nothing
      }`;
  }

  #clockX(j: number, { left, pair }: Geometry): number {
    return left + (j + 0.5) * pair;
  }

  #clock(all: Places, j: number, g: Geometry): TemplateResult {
    const { i, delta, pair, omegas, stepped, misprint, sines, d } = all;
    const chosen = j === pair;
    const hands: Hand[] = [{ ...this.#hand(all, i, j), colour: 'var(--cf-ink)' }];
    if (!this.secret) hands.push({ ...this.#hand(all, i + delta, j), colour: 'var(--cf-accent)' });
    if (chosen && misprint && !this.secret && typeof stepped !== 'string') {
      const [across = 0, up = 0] = stepped.got.numbers.data;
      hands.push({ across, up, colour: 'var(--cf-wrong)', dashed: true });
    }
    const turn = this.secret ? 0 : delta * (omegas[j] ?? 0);
    const cx = this.#clockX(j, g);
    const [first] = hands;
    const shadows = sines || d % 2 === 1;
    const said = filled((shadows ? this.labels.shadow : this.labels.clock) ?? '', {
      pair: j,
      sin: two(first?.across ?? 0),
      cos: two(first?.up ?? 0),
      turn: omegas[j] ? spoken((2 * Math.PI) / omegas[j]) : '–',
    });
    return svg`<g class="clock" role="radio" tabindex=${chosen ? 0 : -1} aria-checked=${chosen} aria-label=${said} data-pair=${j} @click=${() => this.#choose(j)}>
      <title>${said}</title>
      ${clock({ cx, cy: g.radius + 8, radius: g.radius, hands, turn, shadows, bold: chosen, small: g.small })}
    </g>`;
  }

  /**
   * x is the sine, y the cosine; a sine without its cosine has a hand as well, of which only the projection is known.
   */
  #hand({ table, columns, d }: Places, row: number, j: number): { across: number; up: number } {
    const [sine = 0, cosine] = columns[j] ?? [];
    const { data } = table.numbers;
    const across = data[row * d + sine] ?? 0;
    return {
      across,
      up: cosine === undefined ? Math.sqrt(Math.max(0, 1 - across * across)) : (data[row * d + cosine] ?? 0),
    };
  }

  /** Bars of each row's distance from row i, and marks on those that look the same. */
  #distances({ distances, twins, d }: Places, g: Geometry): TemplateResult {
    const x = this.#x(d, g) + 16;
    const room = Math.max(30, Math.min(200, g.width - x - 6));
    const y = (row: number): number => g.top + row * g.row;
    const bar = (distance: number, row: number): TemplateResult =>
      svg`<rect x=${x} y=${y(row) + 1} width=${Math.max(1, (distance / 2) * room)} height=${Math.max(1, g.row - 2)} fill=${twins.includes(row) ? 'var(--cf-wrong)' : 'var(--cf-line-strong)'} opacity=${twins.includes(row) ? 1 : 0.55}/>`;
    const tight = g.width - x < 7 * (this.labels.distance ?? '').length;
    return svg`${g.small ? nothing : svg`<text class="muted column" x=${tight ? g.width - 2 : x} y=${g.top - 8} text-anchor=${tight ? 'end' : 'start'}>${this.labels.distance}</text>${distances.map(bar)}`}
      ${twins.map((row) => svg`<circle cx=${x + (g.small ? 0 : 9)} cy=${y(row + 0.5)} r="3.4" fill="var(--cf-wrong)"/>${g.small ? nothing : svg`<text class="twin" x=${x + 18} y=${y(row + 0.5) + 4}>${filled(this.labels.twin ?? '', { row })}</text>`}`)}`;
  }

  /** The frames around rows i and i + δ, and the area for dragging them. */
  #rows({ i, delta, d }: Places, g: Geometry): TemplateResult {
    const width = (d * g.pair) / 2;
    const size = this.minFont > 0 ? 26 : 17;
    const apart = Math.max(0, size - delta * g.row) / 2;
    const framed = (row: number, name: string, colour: string, shift: number): TemplateResult => {
      const y = g.top + row * g.row;
      return svg`<rect x=${g.left - 3} y=${y - 1.5} width=${width + 6} height=${g.row + 3} fill="none" stroke=${colour} stroke-width="2" rx="3"/>
        <text class="sym ${row === i ? '' : 'there'}" x=${g.left - 10} y=${y + g.row / 2 + 5 + shift} text-anchor="end" opacity=${delta === 0 && shift > 0 ? 0 : 1}>${name}</text>`;
    };
    return svg`${framed(i, 'i', 'var(--cf-ink)', -apart)}
      ${this.secret ? nothing : framed(i + delta, 'i + δ', 'var(--cf-accent)', apart)}
      <rect class="grab" x="0" y=${g.top - 6} width=${g.left + width} height=${places * g.row + 12} fill="transparent" @pointerdown=${this.#press} @pointermove=${this.#move} @pointerup=${this.#release} @pointercancel=${this.#release}/>`;
  }

  #rowAt(event: PointerEvent): number {
    const g = this.#geometry;
    const frame = this.renderRoot.querySelector('svg')?.getBoundingClientRect();
    if (!g || !frame) return 0;
    return Math.max(0, Math.min(places - 1, Math.floor((event.clientY - frame.top - g.top) / g.row)));
  }

  #press = (event: PointerEvent): void => {
    if (!this.places) return;
    const { i, delta } = this.places;
    const row = this.#rowAt(event);
    this.#dragged = Math.abs(row - i) <= Math.abs(row - i - delta) ? 'i' : 'delta';
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    this.#move(event);
  };

  #move = (event: PointerEvent): void => {
    if (!this.#dragged || !this.places) return;
    const { i, delta } = this.places;
    const row = this.#rowAt(event);
    const moved = this.#dragged === 'i' ? { i: Math.min(row, places - 1 - delta) } : { delta: Math.max(0, row - i) };
    this.dispatchEvent(new CustomEvent('place-move', { detail: moved }));
  };

  #release = (): void => {
    this.#dragged = undefined;
  };

  #choose(pair: number): void {
    this.dispatchEvent(new CustomEvent('pair-choose', { detail: { pair } }));
  }

  #keys = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by === undefined || !this.places) return;
    event.preventDefault();
    const count = this.places.columns.length;
    const next = (this.places.pair + by + count) % count;
    this.#choose(next);
    this.renderRoot.querySelector<SVGElement>(`[data-pair='${next}']`)?.focus();
  };
}

customElements.define('where-clocks', WhereClocks);
