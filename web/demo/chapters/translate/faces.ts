// <text-faces>: source and target as two rows of tokens, with lines from each target token to the tokens that it
// attends to.

import { cssColour, type Drawn, inkOn, type Numbers, percent, visibleToken, weight } from 'clearformer/elements';
import { css, html, LitElement, type PropertyDeclarations, svg, type TemplateResult } from 'lit';
import { OwnWidth, ThemeColours } from '../../book/controllers.js';
import { visuallyHidden } from '../../book/figure_styles.js';
import { rove } from '../../book/roving.js';
import { theme } from '../../book/theme.js';
import type { Piece } from '../../book/token_texts.js';
import { vars } from '../../book/vars.js';

interface Line {
  readonly path: string;
  readonly share: number;
  readonly strong: boolean;
}

/** Weights below this are drawn without a line. */
const least = 0.04;

/** Event: `step-select` { index }, a token of the target. */
class TextFaces extends LitElement implements Drawn {
  static override properties: PropertyDeclarations = {
    numbers: { attribute: false },
    source: {},
    reads: { attribute: false },
    writes: { attribute: false },
    step: { type: Number },
    labels: { attribute: false },
    lines: { state: true },
  };
  /** Weights [target token, source token]. */
  declare numbers: Numbers | undefined;
  declare source: string;
  declare reads: readonly Piece[];
  declare writes: readonly Piece[];
  declare step: number;
  declare labels: { readonly reads: string; readonly writes: string };
  declare private lines: readonly Line[];

  static override styles = css`
    :host { display: block; position: relative; }
    .gap { height: calc(60px * var(--wall)); }
    svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; pointer-events: none; }
    path { fill: none; stroke: var(--cf-line-strong); stroke-linecap: round; }
    path.strong { stroke: var(--cf-q); }
    p { margin: 0; font-size: max(12.5px, var(--cf-min-font-size)); color: var(--cf-muted); }
    .line { display: flex; flex-wrap: wrap; gap: 4px 10px; }
    .line > * { font: calc(25px * var(--wall)) / 1.35 var(--cf-serif); white-space: pre; padding: 1px 6px 2px; border-radius: 4px; color: var(--ink); background: var(--ground); }
    .line .special { font: max(13px, var(--cf-min-font-size)) / max(calc(34px * var(--wall)), 1.4 * var(--cf-min-font-size)) var(--cf-mono); color: var(--ink, var(--cf-muted)); }
    button { border: 0; cursor: pointer; border-bottom: 3px solid transparent; border-radius: 0; }
    button:hover { border-color: var(--cf-line-strong); }
    button[aria-pressed='true'] { border-color: var(--cf-q); }
    @media (forced-colors: active) { .line > button { border-color: Canvas; } .line > button[aria-pressed='true'] { border-color: Highlight; } }
    button:focus-visible { outline: 2px solid var(--cf-accent); outline-offset: 2px; }
    @media (max-width: 900px) { .line { gap: 2px 3px; } .line > * { font-size: 18px; padding: 1px 3px 2px; } .gap { height: 46px; } }
    ${visuallyHidden}
    .k { color: var(--cf-k); } .q { color: var(--cf-q); }
  `;

  constructor() {
    super();
    new OwnWidth(this); // lines are measured again when it changes
    new ThemeColours(this);
    this.source = '';
    this.reads = [];
    this.writes = [];
    this.step = 0;
    this.labels = { reads: '', writes: '' };
    this.lines = [];
  }

  protected override render(): TemplateResult {
    const [, columns = 0] = this.numbers?.dims ?? [];
    return html`<p class="k">${this.labels.reads}</p>
      <div class="line reads" role="list" aria-label=${this.labels.reads}>${this.reads.map((piece, i) => this.#read(piece, this.numbers?.data[this.step * columns + i] ?? 0))}</div>
      <div class="gap"></div>
      <div class="line writes" role="group" lang="fr" aria-label=${this.labels.writes} @keydown=${this.#key}>${this.writes.map((piece, i) => this.#written(piece, i))}</div>
      <p class="q">${this.labels.writes}</p>
      <svg aria-hidden="true">${this.lines.map(({ path, share, strong }) => svg`<path d=${path} class=${strong ? 'strong' : ''} stroke-width=${1 + 7 * share} opacity=${strong ? 0.35 + 0.65 * share : 0.28 * share + 0.04}></path>`)}</svg>`;
  }

  #read({ text, special }: Piece, share: number): TemplateResult {
    const ground = weight(share, theme.current);
    const colours = { '--ground': cssColour(ground), '--ink': cssColour(inkOn(ground)) };
    const shown = visibleToken(text).trim() || visibleToken(text);
    return html`<span role="listitem" class=${special ? 'special' : ''} title=${percent(share)} ${vars(share < 0.005 ? {} : colours)}>${shown}<span class="sr-only">, ${percent(share)}</span></span>`;
  }

  #written({ text, special }: Piece, index: number): TemplateResult {
    const chosen = index === this.step;
    return html`<button type="button" class=${special ? 'special' : ''} aria-pressed=${chosen ? 'true' : 'false'} tabindex=${chosen ? 0 : -1} @click=${() => this.#choose(index)} @focus=${() => (chosen ? undefined : this.#choose(index))}>${visibleToken(text).trim() || visibleToken(text)}</button>`;
  }

  #choose(index: number): void {
    this.dispatchEvent(new CustomEvent('step-select', { detail: { index }, bubbles: true, composed: true }));
  }

  #key(event: KeyboardEvent): void {
    const buttons = [...this.renderRoot.querySelectorAll<HTMLElement>('.writes button')];
    rove(event, buttons, buttons.length);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.size !== 1 || !changed.has('lines')) this.#measure(); // the first update sets all properties
  }

  #measure(): void {
    const [reads, writes] = ['.reads', '.writes'].map((name) => this.renderRoot.querySelector(name)?.children);
    if (!reads || !writes || !this.numbers) return;
    const { left, top } = this.getBoundingClientRect();
    const [rows = 0, columns = 0] = this.numbers.dims;
    const lines: Line[] = [];
    for (let row = 0; row < rows; row++) {
      const to = writes[row]?.getBoundingClientRect() ?? new DOMRect();
      for (let column = 0; column < columns; column++) {
        const share = this.numbers.data[row * columns + column] ?? 0;
        if (share < least) continue;
        const from = reads[column]?.getBoundingClientRect() ?? new DOMRect();
        const [x1, y1] = [from.x + from.width / 2 - left, from.bottom - top + 2];
        const [x2, y2] = [to.x + to.width / 2 - left, to.y - top - 1];
        const bend = (y2 - y1) / 2;
        const path = `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
        lines.push({ path, share, strong: row === this.step });
      }
    }
    lines.sort((one, other) => Number(one.strong) - Number(other.strong));
    if (JSON.stringify(lines) !== JSON.stringify(this.lines)) this.lines = lines;
  }
}

customElements.define('text-faces', TextFaces);
