// Texts that have been read, and what their tokens look at: one text that looks at itself, or one that looks at another.

import {
  css,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import type { AttentionMaps } from '../state/attention_maps.js';
import type { ShownToken } from '../state/token_texts.js';
import { AttentionFocus } from './attention_focus.js';
import { columns, shared } from './styles.js';
import './token_strip.js';

export class AttentionReader extends LitElement {
  static override properties: PropertyDeclarations = {
    maps: { attribute: false },
    queries: { attribute: false },
    keys: { attribute: false },
    names: { attribute: false },
  };
  declare maps: AttentionMaps;
  declare queries: readonly ShownToken[];
  /** The same array as `queries` where a text looks at itself. */
  declare keys: readonly ShownToken[];
  /** What the texts are called. */
  declare names: { queries: string; keys: string };
  #revision = 0;
  #sight = new AttentionFocus(this, { layer: 2, head: 0 });

  static override styles = [
    shared,
    columns,
    css`
      h3 { color: var(--muted); font-weight: 600; }
      token-strip { margin: 2px 0 12px; max-height: 25rem; }
      .hint { border-top: 1px solid var(--line); padding-top: 8px; }
    `,
  ];

  constructor() {
    super();
    this.queries = [];
    this.keys = [];
    this.names = {
      queries: 'The text',
      keys: 'The source',
    };
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('maps')) return;
    this.#revision++;
    this.#sight.fit(this.maps);
    if (this.hasUpdated) this.#sight.letGo();
  }

  override render(): TemplateResult {
    const { maps, queries, keys, names } = this;
    const [revision, sight, query] = [this.#revision, this.#sight, this.#query];
    const { layer, head } = sight.chosen;
    const weights = query === undefined ? [] : maps.row(layer, head, query);
    const crossed = maps.kind === 'cross';
    const textsOf = (tokens: readonly ShownToken[]): string[] => tokens.map((token) => token.text);
    return html`<div class="columns">
      <section class="card" aria-labelledby="reader-title">
        <h2 id="reader-title">Token by token</h2>
        ${crossed ? html`<h3>${names.keys}</h3>${this.#strip(names.keys, keys, weights, undefined, sight.cell?.key)}` : nothing}
        <h3>${names.queries}</h3>
        ${this.#strip(names.queries, queries, crossed ? [] : weights, query, crossed ? undefined : sight.cell?.key)}
        <p class="hint">${crossed ? `Point at a token of “${names.queries}”` : 'Point at a token'} to see what it attends to in layer ${layer + 1}, head ${head + 1}.</p>
      </section>
      ${sight.panel({ maps, revision, texts: textsOf(queries), keyTexts: crossed ? textsOf(keys) : undefined, query })}
    </div>`;
  }

  /** The token whose row is shown: the one in focus, else the first one. */
  get #query(): number | undefined {
    const wanted = this.#sight.cell?.query ?? this.#sight.token ?? 0;
    return wanted < this.maps.rows ? wanted : undefined;
  }

  #strip(
    label: string,
    tokens: readonly ShownToken[],
    weights: ArrayLike<number>,
    query: number | undefined,
    key: number | undefined,
  ): TemplateResult {
    const sight = this.#sight;
    const looks = tokens === this.queries;
    return html`<token-strip .label=${label} .tokens=${tokens} .revision=${this.#revision} .scale=${sight.scale} .weights=${weights}
      .query=${query} .key=${key} .pinned=${looks ? sight.pinned : undefined}
      @token-hover=${looks ? sight.onTextHover : nothing} @token-pick=${looks ? sight.onTextPick : nothing}></token-strip>`;
  }
}

customElements.define('attention-reader', AttentionReader);
