// Chapter 4's figure: one head cell by cell, why its scores are divided by √d, other scoring functions, all heads at
// once.

import { two } from 'clearformer/elements';
import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { nearestOf, within } from '../../book/within.js';
import type { words } from '../../words/en/head.js';
import { type BatchData, batchData, batchStyles, batchView } from './batch.js';
import './canvas.js';
import { type FormulaPart, tokensShown } from './canvas.js';
import { headCode } from './code.js';
import { controls, controlsStyles, odds } from './controls.js';
import { formula, formulaStyles } from './formula.js';
import { type HeadData, headData, type MatrixName, type Stage } from './head_numbers.js';
import { narrow, narrowEdited, narrowStyles } from './narrow.js';
import { matrixText, type OwnMatrices, ownText, parseOwn } from './own_matrices.js';
import { ownPanel, ownStyles } from './own_panel.js';
import { type Projections, readProjections } from './read_weights.js';
import { type RootData, rootData, rootStyles, rootView, sizes, spreadValues } from './root.js';
import { type ScoresData, scoresData, scoresStyles, scoresView } from './scores.js';
import { ofKeys, type Selected, selectionOf, selectionText } from './selection.js';
import { headValues } from './values.js';
import { editedHook } from './views.js';

const views = ['head', 'root', 'scores', 'batch'] as const;
export type View = (typeof views)[number];
const stages = ['masked', 'scaled', 'raw'] as const satisfies readonly Stage[];

export interface Shown {
  readonly head: HeadData;
  readonly view: View;
  readonly root?: RootData;
  readonly scores?: ScoresData;
  readonly batch?: BatchData;
}

/** Below this width in CSS pixels the captions of the six matrices would overlap: one row at a time is shown. */
const canvasFrom = 960;

const litBy: Readonly<Record<MatrixName, readonly FormulaPart[]>> = {
  Q: ['q'],
  K: ['k'],
  V: ['v'],
  S: ['q', 'k'],
  A: ['soft'],
  Z: ['soft', 'v'],
};

class FigureHead extends MeasuredFigure<Shown, typeof words> {
  static override properties: PropertyDeclarations = {
    ...MeasuredFigure.properties,
    symbol: { state: true },
    pointed: { state: true },
    open: { state: true },
    problem: { state: true },
    projections: { state: true },
  };
  declare private symbol: FormulaPart | undefined;
  declare private pointed: Selected | undefined;
  /** Whether the fields for the reader's own matrices are open. */
  declare private open: boolean;
  declare private problem: string;
  declare private projections: Projections | undefined;
  #projectionsOf = '';
  #reading: Promise<void> | undefined;
  /** The view of the root of d as it was computed last, for the prose. */
  #root: RootData | undefined;
  #all: Readonly<Record<string, string>> = {};

  static override styles = [
    figureStyles,
    controlsStyles,
    formulaStyles,
    narrowStyles,
    ownStyles,
    rootStyles,
    scoresStyles,
    batchStyles,
    css`
      :host { container-type: inline-size; }
      .top { display: grid; grid-template-columns: minmax(0, 1fr) auto minmax(0, 1fr); align-items: center; gap: 8px 20px; margin-bottom: 4px; }
      .large .top { grid-template-columns: max-content minmax(0, 1fr) max-content; margin: 0 0 6px; }
      .note { color: var(--cf-muted); font-size: max(13px, var(--cf-min-font-size)); }
      @container (max-width: 860px) { .top { grid-template-columns: minmax(0, 1fr); gap: 2px; } }
    `,
  ];

  constructor() {
    super();
    this.problem = '';
    this.open = false;
  }

  get #own(): boolean {
    return this.value('qkv') !== '';
  }
  get #view(): View {
    return this.oneOf('view', views);
  }
  get #stage(): Stage {
    return this.oneOf('s', stages);
  }

  get #size(): number {
    return nearestOf(this.number('d'), sizes, 64);
  }

  protected override key(): string {
    const { address, modelName, text } = this.book;
    const extra = this.#view === 'scores' ? [this.value('norm'), this.value('gen')] : [];
    const keys = ['l', 'h', 'qkv', 'was', 'causal', 'view'].map((key) => this.value(key));
    return [modelName, text, address.get('edit'), address.get('q'), ...keys, this.#size, ...extra].join('\n');
  }

  protected override async compute(): Promise<Shown> {
    const view = this.#view;
    const head = await headData(this.book, {
      layer: this.number('l'),
      head: this.number('h'),
      own: this.value('qkv'),
      ownBefore: this.value('was'),
      causal: this.value('causal') === '1',
      focus: this.value('q'),
    });
    this.#readWeights(head);
    if (view === 'root') return { head, view, root: await rootData(this.#size) };
    if (view === 'scores') {
      const scores = await scoresData(head, {
        equalNorms: this.value('norm') === '1',
        identity: this.value('gen') === 'identity',
      });
      return { head, view, scores };
    }
    return view === 'batch' ? { head, view, batch: await batchData(head) } : { head, view };
  }

  /** Once per head, after the figure has rendered. */
  #readWeights({ shelved, hooks }: HeadData): void {
    const wanted = hooks && shelved ? [this.book.shelf.adopted, shelved.name, hooks.layer, hooks.head].join() : '';
    if (wanted === this.#projectionsOf) return;
    this.#projectionsOf = wanted;
    this.projections = undefined;
    if (!hooks || !shelved) return;
    this.#reading = readProjections(this.book.shelf, shelved, hooks).then(
      (read) => {
        if (this.#projectionsOf === wanted) this.projections = read;
      },
      () => undefined, // the strip of weights is not shown
    );
  }

  override async settled(): Promise<void> {
    await super.settled();
    await this.#reading;
    await this.updateComplete;
  }

  /** Which matrix of the stack is shown. */
  #stacked({ hooks }: HeadData): number {
    return within(Number(this.value('b') || (hooks?.head ?? 0)), hooks?.heads ?? 1);
  }

  protected override nearest({ head, root, batch }: Shown): Record<string, number> {
    const { hooks } = head;
    return {
      ...(hooks && { l: hooks.layer, h: hooks.head }),
      q: head.focus,
      ...(root && { d: root.d }),
      ...(batch && { b: this.#stacked(head) }),
    };
  }

  protected override valuesOf({ head, root }: Shown): Record<string, string> {
    this.#root = root ?? this.#root;
    this.#all = {
      ...(this.#root?.d === this.#size && spreadValues(this.#root)),
      ...headValues(head, this.words.labels),
    };
    return this.#all;
  }

  override valuesAt(): Readonly<Record<string, string>> {
    return this.#all;
  }

  override get blocks(): readonly number[] {
    return this.#own ? [] : [(this.data?.head.hooks?.layer ?? this.number('l')) + 1];
  }

  protected override draw(data: Shown): TemplateResult {
    const { head, view } = data;
    const { labels } = this.words;
    const selected = selectionOf(this.value('at'), head);
    return html`<div class=${this.inClass ? 'large' : ''}>
      <div class="top">
        ${controls({ head, labels, choose: (changes) => this.choose(changes), own: () => this.#toggleOwn(), isOwn: this.#own, isOpen: this.open })}
        ${formula({ lit: this.#lit(selected), labels, point: (part) => this.#pointAt(part), choose: (part) => this.#choosePart(part, head) })}
        ${odds({ head, labels, edited: this.#own ? this.value('was') !== '' : this.book.editSpecs.length > 0, undo: () => this.book.address.undo(), restore: () => this.#restore() })}
      </div>
      ${this.open ? this.#panel(head) : nothing}
      ${head.of > head.queries.length ? html`<p class="note">${filled(this.shell.cut, { read: head.queries.length, of: head.of })}</p>` : nothing}
      ${view === 'head' ? this.#head(head, selected) : this.#other(data)}
    </div>`;
  }

  #head(head: HeadData, selected: Selected): TemplateResult {
    const { labels } = this.words;
    const edits = this.book.editSpecs;
    if (this.width > 0 && this.width < canvasFrom) {
      return narrow({
        data: head,
        selected,
        stage: this.#stage,
        width: Math.min(this.width, 620),
        labels,
        hiding: !this.revealed,
        edited: narrowEdited(head, this.#stage, edits),
        select: (cell) => this.#select(cell, head),
        edit: (cell, value) => this.#edit(cell, value, head),
        focus: (row) => this.choose({ q: String(row) }),
      });
    }
    const [whole, part] = tokensShown(this.minFont);
    const shown = head.queries.length > whole ? part : head.queries.length;
    return html`<head-canvas .data=${head} .stage=${this.#stage} .selected=${selected} .edits=${edits} .symbol=${this.symbol} ?hiding=${!this.revealed} minFont=${this.minFont}
        .labels=${labels} .projections=${this.projections}
        @head-point=${(event: CustomEvent<Selected | undefined>) => this.#pointed(event.detail)}
        @head-select=${(event: CustomEvent<Selected>) => this.#select(event.detail, head)}
        @head-edit=${(event: CustomEvent<Selected & { value: number }>) => this.#edit(event.detail, event.detail.value, head)}
        @head-stage=${(event: CustomEvent<Stage>) => this.choose({ s: event.detail })}></head-canvas>
      ${shown < head.queries.length ? html`<p class="note">${filled(labels.window ?? '', { n: shown, of: head.queries.length })}</p>` : nothing}`;
  }

  #other({ head, root, scores, batch }: Shown): TemplateResult {
    const { labels } = this.words;
    const { width } = this;
    if (root) {
      const choose = (d: number, manner: 'slide' | 'choose'): void => this[manner]({ d: String(d) });
      return rootView({ data: root, labels, width, large: this.inClass, hiding: !this.revealed, choose });
    }
    if (scores)
      return scoresView({
        data: scores,
        head,
        labels,
        width,
        large: this.inClass,
        identity: this.value('gen') === 'identity',
        equalNorms: this.value('norm') === '1',
        choose: (changes) => this.choose(changes),
      });
    return batch
      ? batchView({
          data: batch,
          labels,
          width,
          head: this.#stacked(head),
          choose: (b) => this.choose({ b: String(b) }),
        })
      : html``;
  }

  #lit(selected: Selected): ReadonlySet<FormulaPart> {
    const at = this.pointed ?? selected;
    if (this.#view === 'root') return new Set(['d']);
    if (this.#view !== 'head') return new Set(['q', 'k']);
    const lit = new Set<FormulaPart>(litBy[at.matrix]);
    if (at.matrix === 'S' && this.#stage !== 'raw') lit.add('d');
    if (at.matrix === 'S' && this.#stage === 'masked') lit.add('m');
    if (this.symbol) lit.add(this.symbol);
    return lit;
  }

  #pointAt(part: FormulaPart | undefined): void {
    this.symbol = part;
  }

  #pointed(cell: Selected | undefined): void {
    this.pointed = cell;
  }

  #choosePart(part: FormulaPart, head: HeadData): void {
    const texts = { q: 'Q', k: 'K', v: 'V', d: 'S', m: 'S+', soft: 'A' } as const;
    const stage = part === 'd' ? 'scaled' : part === 'm' ? 'masked' : undefined;
    const cell = selectionOf(texts[part], head);
    this.choose({
      at: selectionText(cell),
      view: 'head',
      ...(stage && { s: stage }),
      ...(part === 'm' && { q: String(cell.row) }),
    });
  }

  #select(cell: Selected, head: HeadData): void {
    const { labels } = this.words;
    const row = ofKeys(cell.matrix) ? {} : { q: String(cell.row) };
    this.choose({ at: selectionText(cell), ...row });
    const numbers = head.now[cell.matrix === 'S' ? this.#stage : cell.matrix];
    const label = (ofKeys(cell.matrix) ? head.keys : head.queries)[cell.row] ?? '';
    const value = numbers.data[cell.row * (numbers.dims[1] ?? 0) + cell.column] ?? 0;
    this.say(filled(labels.said ?? '', { matrix: cell.matrix, label, n: cell.column + 1, value: two(value) }));
  }

  #edit(cell: Selected, value: number, head: HeadData): void {
    const { matrix, row, column } = cell;
    const place = editedHook(head, matrix, this.#stage);
    if (place) {
      this.book.addEdit({ ...place, pos: row, index: column, op: 'set', value });
      return;
    }
    if (matrix !== 'Q' && matrix !== 'K' && matrix !== 'V') return;
    const own = parseOwn(this.value('qkv'));
    own[matrix].data[row * (own[matrix].dims[1] ?? 0) + column] = value;
    this.choose({ qkv: ownText(own), was: this.value('was') || this.value('qkv') });
  }

  #restore(): void {
    if (this.#own) this.choose({ qkv: this.value('was') || undefined, was: undefined });
    else this.book.setEdits([]);
  }

  #toggleOwn(): void {
    const isOwn = this.#own;
    void this.#show(!isOwn && !this.open);
    if (isOwn) this.choose({ qkv: undefined, was: undefined, causal: undefined, at: undefined, q: undefined });
  }

  /** Opens the fields for the reader's own matrices, or closes them; the focus goes there, or back to their button. */
  async #show(open: boolean): Promise<void> {
    this.open = open;
    this.problem = '';
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>(open ? '.own textarea' : '.which button')?.focus();
  }

  #panel({ now }: HeadData): TemplateResult {
    const { Q, K, V } = now;
    return ownPanel({
      matrices: { Q, K, V },
      causal: true,
      problem: this.problem,
      labels: this.words.labels,
      use: (qkv, causal) => {
        void this.#show(false);
        this.choose({ qkv, was: undefined, causal: causal ? '1' : '0', at: undefined, q: undefined, edit: undefined });
      },
      fail: (problem) => {
        this.problem = problem;
      },
      close: () => void this.#show(false),
    });
  }

  override code(): FigureCode {
    const own = this.#own ? parseOwn(this.value('qkv')) : undefined;
    const hooks = this.data?.head.hooks;
    const rowsText = (matrix: OwnMatrices['Q']): string => matrixText(matrix, '], [').replace(/(?<!,) /g, ', ');
    const texts = own && { Q: rowsText(own.Q), K: rowsText(own.K), V: rowsText(own.V) };
    return headCode({
      view: this.#view,
      text: this.book.text,
      layer: hooks?.layer ?? this.number('l'),
      head: hooks?.head ?? this.number('h'),
      hooks,
      own: texts,
      edits: this.book.editSpecs,
      d: this.#size,
      causal: this.value('causal') === '1',
      equalNorms: this.value('norm') === '1',
      identity: this.value('gen') === 'identity',
    });
  }
}

customElements.define('figure-head', FigureHead);
