// <cf-attention>: what each token of a text attends to, one row per token.

import { css, html, nothing, type TemplateResult } from 'lit';
import { define, ElementBase, type Properties, sharedStyles } from './base.js';
import { four } from './formats.js';
import type { CellTest } from './matrix/looks.js';
import { ModelTask } from './model_task.js';
import { type Cell, cellForm, type Drawn, faultOf, type Numbers, shapeOf } from './numbers.js';
import { type Token, tokensForm, visibleToken } from './token_pieces.js';
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
  static override properties: Properties = {
    numbers: { attribute: false },
    source: { initial: '' },
    tokens: { attribute: false, initial: [], form: tokensForm },
    keyTokens: { attribute: false, form: tokensForm },
    masked: { attribute: false, form: 'function' },
    selected: { attribute: false, form: cellForm },
    label: { initial: 'A' },
    about: { initial: '' },
    cellWidth: { attribute: 'cell-width', type: Number, initial: 0 },
    cellHeight: { attribute: 'cell-height', type: Number, initial: 0 },
    model: {},
    text: { initial: '' },
    layer: { type: Number, initial: 0 },
    head: { type: Number, initial: 0 },
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
  declare pointed: Cell | null | undefined;
  readonly #task = new ModelTask(this);

  /** @internal */
  willUpdate(): void {
    const { model, text, layer, head } = this;
    if (this.numbers === undefined) this.pointed = undefined; // the matrix that would tell so is gone
    this.#task.start([model, text, layer, head], {
      run: ({ running, ...tools }) => running.attentionOf({ ...tools, text }, layer, head),
      shown: ({ causal, ...result }) => ({
        ...result,
        masked: causal ? (row: number, column: number) => column > row : undefined,
      }),
      failed: () => {
        this.numbers = undefined;
      },
    });
  }

  /** @internal */
  fault(): string | undefined {
    const { numbers, tokens, keyTokens = tokens } = this;
    const fault = faultOf(this);
    if (numbers === undefined || fault !== undefined) return fault;
    const [rows, columns] = shapeOf(numbers);
    const fits = (names: readonly Token[], count: number): boolean => names.length === 0 || names.length === count;
    if (fits(tokens, rows) && fits(keyTokens, columns)) return undefined;
    return `${tokens.length} × ${keyTokens.length} tokens for ${rows} × ${columns} weights`;
  }

  /** @internal */
  draw(): TemplateResult {
    return html`${this.#task.status()}${this.numbers === undefined ? nothing : this.#map(this.numbers)}`;
  }

  #map(numbers: Numbers): TemplateResult {
    const keys = this.keyTokens ?? this.tokens;
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
    const [, columns] = shapeOf(numbers);
    if (!cell || cell.column >= columns) return ''; // of a larger map
    const value = numbers.data[cell.row * columns + cell.column];
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
