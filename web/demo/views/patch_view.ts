// An image as a model is given it, cut into its patches, each tinted by a weight. Pointing at a patch reads its weight;
// picking one makes it the patch that looks.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import { type ColourScale, cssColour } from '../state/colour_scale.js';
import { weightText } from '../state/format.js';
import type { PatchGrid } from '../state/patch_maps.js';
import { shared } from './styles.js';

export class PatchView extends LitElement {
  static override properties: PropertyDeclarations = {
    image: { attribute: false },
    grid: { attribute: false },
    weights: { attribute: false },
    scale: { attribute: false },
    query: { attribute: false },
    pointed: { state: true },
  };
  declare image: ImageData;
  declare grid: PatchGrid;
  /** One weight a patch, line by line. */
  declare weights: ArrayLike<number>;
  declare scale: ColourScale;
  /** The patch that looks; undefined for the class token. */
  declare query: number | undefined;
  declare private pointed: number | undefined;

  static override styles = [
    shared,
    css`
      .stack { position: relative; max-width: 420px; }
      canvas { display: block; width: 100%; image-rendering: pixelated; border-radius: 6px; }
      .patches { position: absolute; inset: 0; display: grid; }
      button { min-height: 0; padding: 0; border: 0; border-radius: 0; opacity: 0.62; }
      button:hover:not(:disabled) { outline: 2px solid var(--focus); outline-offset: -2px; z-index: 1; background: var(--tint); }
      button[aria-pressed='true'] { outline: 3px solid var(--focus); outline-offset: -3px; opacity: 0.9; }
      .read { margin-top: 8px; min-height: 1.5em; }
    `,
  ];

  constructor() {
    super();
    this.weights = [];
  }

  override render(): TemplateResult {
    const { width, height } = this.image;
    const { rows, columns } = this.grid;
    const cells = Array.from({ length: rows * columns }, (_, i) => i);
    const tracks = { gridTemplateColumns: `repeat(${columns}, 1fr)`, gridTemplateRows: `repeat(${rows}, 1fr)` };
    return html`<div class="stack">
        <canvas width=${width} height=${height} role="img" aria-label="The image as the model is given it"></canvas>
        <div class="patches" role="group" aria-label="Patches: arrow keys move, Enter makes one look" style=${styleMap(tracks)}
          @keydown=${this.#onKey} @pointerleave=${() => this.#point(undefined)}>${cells.map((i) => this.#patch(i))}</div>
      </div>
      <p class="hint number read" aria-live="polite">${this.#reading()}</p>`;
  }

  #patch(i: number): TemplateResult {
    const weight = this.weights[i] ?? 0;
    const colour = cssColour(this.scale, weight);
    const stop = i === (this.query ?? 0) ? 0 : -1;
    return html`<button type="button" data-weight=${weight} style=${styleMap({ backgroundColor: colour, '--tint': colour })} tabindex=${stop}
      aria-label=${`${this.#place(i)}, weight ${weightText(weight)}`} aria-pressed=${i === this.query ? 'true' : 'false'}
      @pointerenter=${() => this.#point(i)} @focus=${() => this.#point(i)} @click=${() => this.#pick(i === this.query ? undefined : i)}></button>`;
  }

  #place(i: number): string {
    const { columns } = this.grid;
    return `Patch ${i + 1}: line ${Math.floor(i / columns) + 1}, column ${(i % columns) + 1}`;
  }

  #reading(): string {
    if (this.pointed === undefined) return 'Point at a patch to read its weight; pick one to see what it looks at.';
    return `${this.#place(this.pointed)} has the weight ${weightText(this.weights[this.pointed] ?? 0)}.`;
  }

  protected override updated(): void {
    this.renderRoot.querySelector('canvas')?.getContext('2d')?.putImageData(this.image, 0, 0);
  }

  #point(i: number | undefined): void {
    this.pointed = i;
  }

  #pick(patch: number | undefined): void {
    this.dispatchEvent(new CustomEvent<number | undefined>('patch-pick', { detail: patch }));
  }

  #onKey(event: KeyboardEvent): void {
    const { rows, columns } = this.grid;
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const buttons = [...this.renderRoot.querySelectorAll<HTMLElement>('.patches button')];
    const next = buttons.indexOf(event.target as HTMLElement) + step;
    if (next >= 0 && next < rows * columns) buttons[next]?.focus();
  }
}

customElements.define('patch-view', PatchView);
