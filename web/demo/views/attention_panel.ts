// All about attention in one card: every head as a small map, the chosen head large, its legend and its numbers.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import type { AttentionKind, AttentionMaps } from '../state/attention_maps.js';
import type { ColourScale } from '../state/colour_scale.js';
import { headProfile } from '../state/head_profile.js';
import type { Cell } from '../state/map_geometry.js';
import './attention_map.js';
import './cell_readout.js';
import './head_overview.js';
import type { HeadChoice } from './head_overview.js';
import './head_profile.js';
import { shared } from './styles.js';
import './weight_legend.js';

const fullHint = (store: AttentionMaps): string =>
  `The maps of the first ${store.rows} tokens are kept; there is no room in memory for those of more.`;

/** What a head does, and what the lines and columns of its map are. */
const wordings: Record<AttentionKind, { hint: string; query: string; key: string }> = {
  causal: {
    hint: 'Reading a token, every head spreads a weight of 1 over the tokens so far. Pick a head to see its map.',
    query: 'token that looks (query)',
    key: 'token looked at (key)',
  },
  self: {
    hint: 'Every token spreads a weight of 1 over all tokens, in every head. Pick a head to see its map.',
    query: 'token that looks (query)',
    key: 'token looked at (key)',
  },
  cross: {
    hint: 'Writing a token, every head spreads a weight of 1 over what was read. Pick a head to see its map.',
    query: 'token written (query)',
    key: 'token read (key)',
  },
};

/** Width of the column beside the map, in pixels: all heads of a layer side by side, as long as the map has room. */
const asideFor = (heads: number): number => Math.min(360, Math.max(262, 24 + heads * 26));

export class AttentionPanel extends LitElement {
  static override properties: PropertyDeclarations = {
    store: { attribute: false },
    revision: { attribute: false },
    chosen: { attribute: false },
    scale: { attribute: false },
    texts: { attribute: false },
    keyTexts: { attribute: false },
    query: { attribute: false },
    cell: { attribute: false },
    growing: { type: Boolean },
    closeUp: { state: true },
  };
  declare store: AttentionMaps;
  declare revision: number;
  declare chosen: HeadChoice;
  declare scale: ColourScale;
  declare texts: readonly string[];
  /** Names of the keys where these are other tokens than the queries. */
  declare keyTexts: readonly string[] | undefined;
  declare query: number | undefined;
  declare cell: Cell | undefined;
  declare growing: boolean;
  declare private closeUp: boolean;

  static override styles = [
    shared,
    css`
      :host { container-type: inline-size; }
      .parts { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px 26px; margin-top: 12px; }
      .choose { display: flex; flex-wrap: wrap; gap: 14px 28px; align-content: start; }
      head-overview { max-width: 100%; }
      head-profile { flex: 1 1 200px; min-width: 190px; }
      .title { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; justify-content: space-between; }
      .axes { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 12px; margin-top: 8px; font-size: 0.8rem; }
      weight-legend { margin-top: 12px; }
      @container (min-width: 690px) {
        .parts { grid-template-columns: minmax(0, 1fr) var(--aside); }
        .choose { grid-column: 2; grid-row: 1; flex-direction: column; flex-wrap: nowrap; gap: 20px; }
        .map { grid-column: 1; grid-row: 1 / 3; }
        .numbers { grid-column: 2; grid-row: 2; }
        head-profile { flex: none; }
      }
    `,
  ];

  constructor() {
    super();
    this.revision = 0;
    this.texts = [];
    this.growing = false;
    this.closeUp = false;
  }

  override render(): TemplateResult {
    const { store, revision, scale, texts, keyTexts, query, cell, growing } = this;
    const words = wordings[store.kind];
    const { layer, head } = this.chosen;
    return html`<section class="card" aria-labelledby="attention-title">
      <h2 id="attention-title">What it looks at</h2>
      <p class="hint">${words.hint}</p>
      ${store.full ? html`<p class="hint">${fullHint(store)}</p>` : nothing}
      <div class="parts" style=${styleMap({ '--aside': `${asideFor(store.heads)}px` })}>
        <div class="choose">
          <head-overview .store=${store} .revision=${revision} .scale=${scale} .layer=${layer} .head=${head} .growing=${growing}
            @head-pick=${this.#forward}></head-overview>
          ${store.kind === 'cross' ? nothing : html`<head-profile .profile=${headProfile(store, layer, head)}></head-profile>`}
        </div>
        <div class="map">
          <div class="title">
            <h3>Layer ${layer + 1}, head ${head + 1}</h3>
            ${this.#zoom()}
          </div>
          <p class="hint axes"><span>↓ ${words.query}</span><span>${words.key} →</span></p>
          <attention-map .store=${store} .revision=${revision} .layer=${layer} .head=${head} .scale=${scale} .texts=${texts} .keyTexts=${keyTexts}
            .query=${query} .cell=${cell} .growing=${growing} .closeUp=${this.closeUp}
            @cell-hover=${this.#forward} @token-pick=${this.#forward}></attention-map>
        </div>
        <div class="numbers">
          <cell-readout .store=${store} .revision=${revision} .layer=${layer} .head=${head} .texts=${texts} .keyTexts=${keyTexts}
            .query=${query} .cell=${cell} .quiet=${growing}></cell-readout>
          <weight-legend .scale=${scale} @spread-change=${this.#forward}></weight-legend>
        </div>
      </div>
    </section>`;
  }

  #zoom(): TemplateResult {
    const button = (closeUp: boolean, name: string): TemplateResult => html`<button
      aria-pressed=${this.closeUp === closeUp ? 'true' : 'false'} @click=${() => {
        this.closeUp = closeUp;
      }}
    >${name}</button>`;
    return html`<div class="segments" role="group" aria-label="Part of the map">${button(false, 'whole text')}${button(true, 'close-up')}</div>`;
  }

  /** The chapter holds what is chosen; events of the parts go on to it. */
  #forward(event: Event): void {
    if (event instanceof CustomEvent)
      this.dispatchEvent(new CustomEvent(event.type, { detail: event.detail as unknown }));
  }
}

customElements.define('attention-panel', AttentionPanel);
