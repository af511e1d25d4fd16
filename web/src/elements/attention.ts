// <cf-attention>: what each token of a text attends to, one row per token.

import { css, html, nothing, type TemplateResult } from 'lit';
import { define, ElementBase, sharedStyles } from './base.js';
import { four } from './formats.js';
import type { CellTest } from './matrix/looks.js';
import { ModelTask } from './model_task.js';
import { type Cell, type Drawn, type Numbers, shapeOf } from './numbers.js';
import { type Token, visibleToken } from './token_pieces.js';
import { words } from './words.js';
import './matrix/matrix.js';

/**
 * An attention map: of `numbers` [queries, keys], or of a head of a model that it runs itself (`model`, `text`,
 * `layer`, `head`, counted from 0). Its events are those of the inner matrix: `cell-point`, `cell-select`; rows are
 * queries, columns keys.
 */
export class CfAttention extends ElementBase implements Drawn {
  /** @internal */
  static styles = [
    sharedStyles,
    css`
      .read {
        min-height: 1.5em;
        margin: 2px 0 0;
        font: max(15px, var(--_min-font-size)) / 1.5 var(--_serif);
        color: var(--_ink);
        font-variant-numeric: tabular-nums;
      }
    `,
  ];
  /** @internal */
  static properties = {
    numbers: { attribute: false },
    source: {},
    tokens: { attribute: false },
    keyTokens: { attribute: false },
    masked: { attribute: false },
    selected: { attribute: false },
    label: {},
    about: {},
    cellWidth: { attribute: 'cell-width', type: Number },
    cellHeight: { attribute: 'cell-height', type: Number },
    model: {},
    text: {},
    layer: { type: Number },
    head: { type: Number },
    pointed: { state: true },
  };

  /** [queries, keys]. With a `model` the element sets them itself, like `source`, `tokens` and `masked`. */
  declare numbers: Numbers | undefined;
  declare source: string;
  /** The query tokens; also the keys unless there are `keyTokens`. */
  declare tokens: readonly Token[];
  /** The key tokens, if they differ (cross-attention). */
  declare keyTokens: readonly Token[] | undefined;
  declare masked: CellTest | undefined;
  declare selected: Cell | undefined;
  declare label: string;
  declare about: string;
  declare cellWidth: number;
  declare cellHeight: number;
  /** A Hub id, or the URL of a checkpoint's folder. */
  declare model: string | undefined;
  declare text: string;
  declare layer: number;
  declare head: number;
  /** @internal */
  declare pointed: Cell | null;
  readonly #task = new ModelTask(this);

  constructor() {
    super();
    Object.assign(this, { source: '', tokens: [], label: 'A', about: '', cellWidth: 0, cellHeight: 0 });
    Object.assign(this, { text: '', layer: 0, head: 0, pointed: null });
  }

  /** @internal */
  willUpdate(): void {
    const { model, text, layer, head } = this;
    if (!model || !this.isConnected) {
      this.#task.stop();
      return;
    }
    this.#task.start([model, text, layer, head], {
      run: ({ running, tell, signal }) => running.attentionOf({ model, text, tell, signal }, layer, head),
      done: ({ causal, ...result }) => {
        Object.assign(this, result, { masked: causal ? (row: number, column: number) => column > row : undefined });
      },
      failed: () => {
        this.numbers = undefined;
      },
    });
  }

  /** @internal */
  render(): TemplateResult {
    return html`${this.#task.status()}${this.numbers === undefined ? nothing : this.#map(this.numbers)}`;
  }

  #map(numbers: Numbers): TemplateResult {
    const [rows, columns] = shapeOf(numbers);
    const keys = this.keyTokens ?? this.tokens;
    if ((this.tokens.length > 0 && this.tokens.length !== rows) || (keys.length > 0 && keys.length !== columns)) {
      const fault = `cf-attention: ${this.tokens.length} × ${keys.length} tokens for ${rows} × ${columns} weights`;
      return html`<p class="fault" role="alert">${fault}</p>`;
    }
    const names = (tokens: readonly Token[]): string[] => tokens.map(({ text }) => visibleToken(text).trim());
    return html`<cf-matrix
        scale="weights" .numbers=${numbers} .source=${this.source} .label=${this.label} .about=${this.about}
        .rowLabels=${names(this.tokens)} .columnLabels=${names(keys)} .masked=${this.masked} .selected=${this.selected}
        .cellWidth=${this.cellWidth} .cellHeight=${this.cellHeight} @cell-point=${this.#point} @cell-select=${this.#select}
      ></cf-matrix>
      <p class="read">${this.#readOut(numbers, names(this.tokens), names(keys))}</p>`;
  }

  /** The weight of the pointed or selected cell: "ar → p 0.9442". */
  #readOut(numbers: Numbers, queries: readonly string[], keys: readonly string[]): string {
    const cell = this.pointed ?? this.selected;
    if (!cell) return '';
    const value = numbers.data[cell.row * shapeOf(numbers)[1] + cell.column];
    if (value === undefined) return '';
    const weight = this.masked?.(cell.row, cell.column) ? words().masked : four(value);
    return `${queries[cell.row] ?? cell.row + 1} → ${keys[cell.column] ?? cell.column + 1}   ${weight}`;
  }

  #point(event: CustomEvent<Cell | null>): void {
    this.pointed = event.detail;
  }

  #select(event: CustomEvent<Cell>): void {
    this.selected = event.detail;
  }
}

define('cf-attention', CfAttention);

declare global {
  interface HTMLElementTagNameMap {
    'cf-attention': CfAttention;
  }
}
