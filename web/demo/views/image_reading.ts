// What a model sees in an image: its classes, and which patches it looks at, head by head or through all layers at once.

import {
  css,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import { largest } from '../book/distribution.js';
import { type ColourScale, colourScale } from '../state/colour_scale.js';
import { amount } from '../state/format.js';
import type { ClassScore, Seen } from '../state/image_model.js';
import type { PatchAttention } from '../state/patch_maps.js';
import { toImageData } from '../state/pixels.js';
import { AttentionFocus } from './attention_focus.js';
import './head_overview.js';
import './patch_view.js';
import './score_bars.js';
import { columns, shared } from './styles.js';
import './weight_legend.js';

/** More classes than that are shown best first, and only so many. */
const mostClasses = 10;

export class ImageReading extends LitElement {
  static override properties: PropertyDeclarations = {
    seen: { attribute: false },
    patch: { state: true },
    throughAll: { state: true },
  };
  declare seen: Seen;
  /** The patch that looks; undefined: the class token. */
  declare private patch: number | undefined;
  declare private throughAll: boolean;
  #sight = new AttentionFocus(this);
  #revision = 0;

  static override styles = [
    shared,
    columns,
    css`
      .parts { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 20px 26px; margin-top: 12px; }
      .choose { max-width: 100%; min-width: 0; }
      .segments { margin: 10px 0 0; }
      weight-legend { margin-top: 14px; }
      .answer { font-size: 1.3rem; font-weight: 650; }
      @media (max-width: 720px) { .parts { grid-template-columns: minmax(0, 1fr); } }
    `,
  ];

  constructor() {
    super();
    this.throughAll = false;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('seen')) return;
    this.#revision++;
    if (this.seen.attention) this.#sight.fit(this.seen.attention);
  }

  /** The dark colours in both themes: no weight leaves an image as it is, or darkens it. */
  get #scale(): ColourScale {
    return colourScale('dark', this.#sight.scale.spread);
  }

  override render(): TemplateResult {
    const { classes, attention, milliseconds } = this.seen;
    const [best] = ranked(classes, 1);
    return html`<div class="columns">
      <section class="card" aria-labelledby="classes-title">
        <h2 id="classes-title">What it sees</h2>
        <p class="answer" id="answer" role="status">${best?.label}</p>
        <score-bars .classes=${classes.length > mostClasses ? ranked(classes, mostClasses) : classes}></score-bars>
        <p class="hint number">${classes.length > mostClasses ? `The best ${mostClasses} of ${amount(classes.length)} classes, ` : 'Computed '}in ${amount(milliseconds)} ms.</p>
      </section>
      ${attention ? this.#looking(attention) : nothing}
    </div>`;
  }

  #looking(attention: PatchAttention): TemplateResult {
    const { patch, throughAll } = this;
    const [sight, scale, revision] = [this.#sight, this.#scale, this.#revision];
    const { layer, head } = sight.chosen;
    const token = patch === undefined ? 0 : attention.specials + patch;
    const weights = throughAll ? attention.rollout(token) : attention.row(layer, head, token);
    const who = patch === undefined ? 'the class token' : `patch ${patch + 1}`;
    return html`<section class="card" aria-labelledby="looking-title">
      <h2 id="looking-title">What it looks at</h2>
      <p class="hint">The image is cut into patches, and a class token collects what the answer needs. Shaded: the weight that ${who} gives each patch ${throughAll ? 'through all layers (attention rollout)' : `in layer ${layer + 1}, head ${head + 1}`}.</p>
      <div class="segments" role="group" aria-label="Which attention">${this.#mode(false, 'one head')}${this.#mode(true, 'all layers')}</div>
      <div class="parts">
        <div>
          <patch-view .image=${toImageData(this.seen.pixels)} .grid=${attention.grid} .weights=${weights.subarray(attention.specials)}
            .scale=${scale} .query=${patch} @patch-pick=${(event: CustomEvent<number | undefined>) => {
              this.patch = event.detail;
            }}></patch-view>
          <weight-legend .scale=${scale} @spread-change=${sight.onSpread}></weight-legend>
        </div>
        <div class="choose">
          <head-overview .store=${attention.seenBy(token)} .revision=${revision} .scale=${scale} .layer=${layer} .head=${head}
            @head-pick=${this.#onHead}></head-overview>
        </div>
      </div>
    </section>`;
  }

  #mode(throughAll: boolean, name: string): TemplateResult {
    return html`<button type="button" aria-pressed=${this.throughAll === throughAll ? 'true' : 'false'} @click=${() => {
      this.throughAll = throughAll;
    }}>${name}</button>`;
  }

  #onHead(event: CustomEvent<{ layer: number; head: number }>): void {
    this.throughAll = false;
    this.#sight.onHeadPick(event);
  }
}

customElements.define('image-reading', ImageReading);

/** The best `count` classes, best first. */
function ranked(classes: readonly ClassScore[], count: number): ClassScore[] {
  const scores = classes.map(({ score }) => score);
  return largest(scores, count).flatMap((i) => classes[i] ?? []);
}
