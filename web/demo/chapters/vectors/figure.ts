// The figure of chapter 1: a text as tokens, the embedding table, nearest rows, and token plus position embedding.

import { four, two } from 'clearformer/elements';
import { css, html, nothing, type TemplateResult } from 'lit';
import { firstModel } from '../../book/book.js';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled, markup } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { sorter } from '../../book/sorter.js';
import { within } from '../../book/within.js';
import type { words } from '../../words/en/vectors.js';
import { codeOf } from './code.js';
import {
  type Chosen,
  type Near,
  type Reader,
  readers,
  readNear,
  readSum,
  readTable,
  type Split,
  type Sum,
  splitOf,
  type Table,
} from './reading.js';
import './split.js';

const views = ['cut', 'table', 'near', 'sum'] as const;
export type View = (typeof views)[number];

export interface VectorsData {
  readonly view: View;
  readonly splits: readonly Split[];
  /** The chosen token; undefined for an empty text. */
  readonly chosen: Chosen | undefined;
  readonly table?: Table;
  readonly near?: Near;
  readonly sum?: Sum;
}

/** From this cosine on two rows point about the same way. */
const alike = 0.2;

class FigureVectors extends MeasuredFigure<VectorsData, typeof words> {
  /** The column under the pointer. */
  #pointed: number | undefined;
  static override styles = [
    figureStyles,
    css`
      .views { margin-bottom: 12px; flex-wrap: wrap; }
      .field { display: flex; gap: 10px; margin: 0 0 16px; align-items: center; max-width: 640px; }
      .field input { flex: 1; min-width: 0; font: max(19px, var(--cf-min-font-size)) var(--cf-serif); min-height: 42px; }
      cf-matrix { margin-bottom: 4px; }
      .big { font: max(21px, var(--cf-min-font-size)) / 1.35 var(--cf-serif); margin: 10px 0; font-variant-numeric: tabular-nums; }
      .sign { font: 24px/1 var(--cf-serif); margin: -2px 0 2px; color: var(--cf-muted); }
      .strips { display: grid; grid-template-columns: minmax(0, 1fr); gap: 2px; }
      .large .big { font-size: calc(30px * var(--wall)); } .large .verdict { line-height: 1.3; }
      .large .views, .large .controls { display: inline-flex; vertical-align: top; margin: 0 calc(36px * var(--wall)) 10px 0; } .large .field input { min-height: calc(46px * var(--wall)); } .large .field.spare { display: none; }
      .large .near { display: grid; grid-template-columns: minmax(0, 1fr) max-content; gap: 0 calc(48px * var(--wall)); align-items: center; }
      @media (max-width: 900px) {
        .views { margin-bottom: 4px; } .field { margin-bottom: 8px; } .field input { font-size: 16px; min-height: 36px; }
        .field.spare { display: none; } .views button, .seg button { padding: 4px 8px; } .controls { margin-bottom: 6px; }
        .big { font-size: 17px; margin: 4px 0; }
      }
    `,
  ];

  get view(): View {
    return this.oneOf('v', views);
  }

  get reader(): Reader {
    return this.oneOf('of', readers);
  }

  /** The text: the reader's sentence, or a step's default until the reader edits it; letters for the sorter. */
  text(reader: Reader): string {
    if (reader === sorter) return this.value('letters');
    return this.book.address.get('t') ?? this.step.defaults?.try ?? this.book.text;
  }

  get #all(): boolean {
    return this.view === 'cut' && this.value('all') === '1';
  }

  protected override key(): string {
    const keys = ['id', 'q'].map((key) => this.value(key));
    const texts = (this.#all ? readers : [this.reader]).map((reader) => this.text(reader));
    return [this.view, this.reader, this.#all, ...texts, ...keys].join('\n');
  }

  protected override async compute(): Promise<VectorsData> {
    const { view, book, reader } = this;
    const shown = this.#all ? readers : [reader];
    const splits = await Promise.all(shown.map((one) => splitOf(book, one, this.text(one))));
    const split = splits.find((one) => one.reader === reader);
    if (!split || split.ids.length === 0) return { view, splits, chosen: undefined };
    const chosen = this.#chosen(split);
    if (view === 'table') return { view, splits, chosen, table: await readTable(book, chosen) };
    if (view === 'near') return { view, splits, chosen, near: await readNear(book, chosen) };
    if (view === 'sum') return { view, splits, chosen, sum: await readSum(book, chosen) };
    return { view, splits, chosen };
  }

  #chosen(split: Split): Chosen {
    const count = Math.min(split.ids.length, split.room);
    const asked = this.value('q') === '' ? Number.NaN : this.number('q');
    const id = this.value('id') === '' ? Number.NaN : this.number('id');
    // Until a token is chosen: the last one that is no special token.
    const last = split.pieces.slice(0, count).findLastIndex(({ special }) => !special);
    return {
      split,
      pos: asked < count ? within(asked, count) : Math.max(0, last),
      id: Number.isNaN(id) || this.view === 'sum' ? undefined : within(id, split.vocabulary),
    };
  }

  protected override nearest({ chosen, sum }: VectorsData): Record<string, number> {
    return {
      ...(chosen?.id !== undefined ? { id: chosen.id } : chosen && this.reader === firstModel && { q: chosen.pos }),
      ...(sum && this.value('c') !== '' && { c: within(this.number('c'), sum.token.numbers.size) }),
    };
  }

  protected override valuesOf({ splits, chosen, table, near, sum }: VectorsData): Record<string, string> {
    const [split] = splits;
    const [nearest] = near?.nearest ?? [];
    return {
      text: split?.text ?? '',
      tokens: String(split?.pieces.filter(({ special }) => !special).length ?? 0),
      letters: String([...(split?.text ?? '')].length),
      token: (table ?? near)?.piece.label ?? chosen?.split.pieces[chosen.pos]?.label ?? '',
      id: String(table?.id ?? near?.id ?? ''),
      ...(table && { rows: String(table.rows), d: String(table.taken.numbers.size), scale: two(table.scale) }),
      ...(near && { near: nearest?.piece.label ?? '', cosine: two(nearest?.cosine ?? 0) }),
      ...((nearest?.cosine ?? 0) > alike && { isAlike: '' }),
      ...(sum && { pos: String(sum.pos) }),
    };
  }

  protected override draw(data: VectorsData): TemplateResult {
    const { labels } = this.words;
    const { view, splits, chosen } = data;
    const selected = chosen && chosen.id === undefined ? chosen.pos : -1;
    return html`<div class=${this.inClass ? 'large' : ''}>
      <span class="seg views" role="group" aria-label=${labels.views}>${views.map((one) => html`<button type="button" aria-pressed=${one === view} @click=${() => this.choose({ v: one })}>${labels[one]}</button>`)}</span>
      <div class="controls"><span class="seg" role="group" aria-label=${labels.readers}>${readers.map((one) => html`<button type="button" aria-pressed=${one === this.reader && !this.#all} @click=${() => this.choose({ of: one, id: undefined, all: '0' })}>${labels[one]}</button>`)}
        ${view === 'cut' ? html`<button type="button" aria-pressed=${this.#all} @click=${() => this.choose({ all: this.#all ? '0' : '1' })}>${labels.all}</button>` : nothing}</span></div>
      ${this.#field()}
      ${splits.map((split) => html`<vectors-split class=${this.inClass ? 'large' : ''} .split=${split} .labels=${labels} selected=${split.reader === this.reader ? selected : -1} @token-select=${(event: CustomEvent<{ index: number }>) => this.#select(split, event.detail.index)}></vectors-split>`)}
      ${data.table ? this.#table(data.table) : nothing} ${data.near ? this.#near(data.near) : nothing} ${data.sum ? this.#sum(data.sum) : nothing}
      ${view === 'cut' && chosen ? this.#chosenNote(chosen) : nothing}
    </div>`;
  }

  #field(): TemplateResult {
    const { labels } = this.words;
    const letters = this.reader === sorter && !this.#all;
    const change = (event: Event): void => {
      const { value } = event.target as HTMLInputElement;
      this.slide({ [letters ? 'letters' : 't']: value, q: undefined, id: undefined });
    };
    return html`<div class="field ${this.view === 'cut' || letters ? '' : 'spare'}"><input type="text" aria-label=${letters ? labels.lettersField : labels.field} .value=${this.text(letters ? sorter : firstModel)} @input=${change} /></div>`;
  }

  #select({ reader }: Split, index: number): void {
    this.choose({ q: String(index), id: undefined, ...(reader !== this.reader && { of: reader }) });
  }

  /** The width in pixels of a strip of `count` values. */
  #width(count: number, beside: number): number {
    const room = Math.min(this.inClass ? this.wall(1300) : 860, this.width || 360) - beside - 18;
    return Math.max(2, Math.min(30, Math.floor(room / count)));
  }

  #chosenNote({ split, pos }: Chosen): TemplateResult {
    const piece = split.pieces[pos];
    const values = { id: piece?.id ?? 0, token: piece?.text ?? '', pos };
    const text = piece?.special ? this.words.labels.specialToken : this.words.labels.chosenToken;
    return html`<p class="big">${filled(text, values)}</p>`;
  }

  #table({ id, piece, first, labels: rows, part, taken, scale, difference, rows: count }: Table): TemplateResult {
    const { labels } = this.words;
    const d = taken.numbers.size;
    const width = this.#width(d, 78);
    const height = this.width < 500 ? 9 : 15;
    const note = scale === 1 ? labels.isRow : labels.isScaledRow;
    const values = { id, token: piece.label, difference: four(difference), scale: two(scale), d };
    return html`<cf-matrix .numbers=${part.numbers} source=${part.source} label="W" about=${filled(labels.window2, { n: rows.length, of: count })} hue="stream" .rowLabels=${rows} .cellWidth=${width} .cellHeight=${height} .rails=${{ rows: [id - first] }}></cf-matrix>
      <p class="big">${markup(note, Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)])), this.book.address)}</p>
      <cf-matrix .numbers=${taken.numbers} source=${taken.source} label="x" about=${labels.rowOf} hue="stream" .cellWidth=${width} cellHeight="26" .cellHeight=${26}></cf-matrix>`;
  }

  #near({ piece, nearest, source, rowsOfBoth, rows }: Near): TemplateResult {
    const { labels } = this.words;
    if (!this.revealed) return html`<p class="big">?</p>`;
    const [own, other] = rowsOfBoth;
    const width = this.#width(own?.numbers.size ?? 1, this.inClass ? this.wall(620) : 8);
    const most = Math.max(...rowsOfBoth.flatMap(({ numbers }) => Array.from(numbers.data, Math.abs)));
    const strip = (made: typeof own, token: string): TemplateResult =>
      made
        ? html`<cf-matrix .numbers=${made.numbers} source=${made.source} about=${filled(this.shell.quoted, { text: token })} hue="stream" bound=${most} .cellWidth=${width} .cellHeight=${24}></cf-matrix>`
        : html``;
    const items = nearest.map((one) => ({
      label: one.piece.label,
      value: one.cosine,
      note: filled(labels.idOf, { id: one.piece.id }),
    }));
    return html`<p class="big">${filled(labels.nearTo, { token: piece.label, n: nearest.length, of: rows })}</p>
      <div class="near"><cf-bars source=${source} format="number" .items=${items} max="1" label=${labels.cosines} @bar-select=${(event: CustomEvent<{ index: number }>) => this.#walk(nearest[event.detail.index]?.piece.id)}></cf-bars>
      ${this.inClass ? nothing : html`<p class="verdict">${labels.walk}</p>`}
      <div class="strips">${strip(own, piece.label)}${strip(other, nearest[0]?.piece.label ?? '')}</div></div>`;
  }

  #walk(id: number | undefined): void {
    if (id !== undefined) this.choose({ id: String(id) });
  }

  #sum({ token, position, input, piece, pos, difference }: Sum): TemplateResult {
    const { labels } = this.words;
    const d = token.numbers.size;
    const width = this.#width(d, 8);
    const all = [token, ...(position ? [position] : []), input];
    const most = Math.max(...all.flatMap(({ numbers }) => Array.from(numbers.data, Math.abs)));
    const sizes = Array.from(input.numbers.data, Math.abs);
    const chosen = this.value('c') === '' ? sizes.indexOf(Math.max(...sizes)) : within(this.number('c'), d);
    const column = Math.min(d - 1, this.#pointed ?? chosen);
    const point = ({ detail }: CustomEvent<{ column: number } | null>): void => {
      this.#pointed = detail?.column;
      this.requestUpdate();
    };
    const select = ({ detail }: CustomEvent<{ column: number }>): void => this.choose({ c: String(detail.column) });
    const strip = (made: typeof token, label: string, about: string): TemplateResult =>
      html`<cf-matrix .numbers=${made.numbers} source=${made.source} label=${label} about=${about} hue="stream" bound=${most} .cellWidth=${width} .cellHeight=${30} .rails=${{ columns: [column] }} @cell-point=${point} @cell-select=${select}></cf-matrix>`;
    const at = ({ numbers }: typeof token): string => two(Number(numbers.data[column]));
    const values = {
      difference: four(difference),
      n: column,
      token: at(token),
      position: position ? at(position) : '',
      input: at(input),
    };
    const said = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
    return html`<div class="strips">
        ${strip(token, 'E', filled(labels.ofToken, { token: piece.label }))}
        ${position ? html`<p class="sign">+</p>${strip(position, 'P', filled(labels.ofPlace, { pos }))}` : nothing}
        <p class="sign">=</p>${strip(input, 'X', labels.intoBlock)}
      </div>
      <p class="big">${markup(position ? labels.sumAt : labels.sameAt, said, this.book.address)}</p>
      <p class="verdict">${markup(position ? labels.sumHolds : labels.noneAdded, said, this.book.address)}</p>`;
  }

  override get blocks(): readonly number[] {
    return [0];
  }

  override code(): FigureCode {
    return codeOf(this.view, this.data);
  }
}

customElements.define('figure-vectors', FigureVectors);
