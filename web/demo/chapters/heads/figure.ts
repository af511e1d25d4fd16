// The figure of chapter 6: all heads of a layer side by side, their outputs concatenated and projected into the stream,
// and the next-token probabilities, updated at once when a head is ablated.

import type { DetectedHeads } from 'clearformer';
import { html, type PropertyDeclarations, type TemplateResult } from 'lit';
import { type EditSpec, formatEdits, withEdit } from '../../book/edits.js';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { lettersOf, sorter } from '../../book/sorter.js';
import { within } from '../../book/within.js';
import type { words } from '../../words/en/heads.js';
import { codeOf } from './code.js';
import { type Every, every } from './every.js';
import { everyView } from './every_view.js';
import { findView, needView } from './find_view.js';
import { habits, type Need, need } from './habits.js';
import { headStyles } from './head_styles.js';
import { joinView } from './join_view.js';
import { mapsView } from './maps_view.js';
import { type Mixing, mixing, type Projection, projections, type Split, split } from './projection.js';
import { type Reading, read, silences, subjectOf, translator } from './reading.js';
import { splitView } from './split_view.js';
import { summary } from './summary.js';
import type { LiveTraining } from './training/live.js';
import type { Training } from './training/view.js';

const views = ['read', 'split', 'join', 'all', 'find', 'train', 'need'] as const;
export type View = (typeof views)[number];

export interface Data {
  readonly reading: Reading;
  readonly view: Exclude<View, 'train'>;
  readonly split?: Split;
  readonly mixing?: Mixing;
  readonly every?: Every;
  readonly habits?: DetectedHeads;
  readonly need?: Need;
}

/** A model that is trained in the page. */
interface TrainingData {
  readonly view: 'train';
  readonly live: LiveTraining;
  readonly training: Training;
}

export class FigureHeads extends MeasuredFigure<Data | TrainingData, typeof words> {
  static override styles = [figureStyles, headStyles];
  static override properties: PropertyDeclarations = { ...MeasuredFigure.properties, note: { state: true } };
  /** The description of the cell under the pointer. */
  declare note: string;
  #live: Promise<LiveTraining> | undefined;

  constructor() {
    super();
    this.note = '';
  }

  get view(): View {
    return this.oneOf('view', views);
  }

  get who(): string {
    return this.value('who') || this.book.modelName;
  }

  get projection(): Projection {
    return this.oneOf('w', projections);
  }

  override get blocks(): readonly number[] {
    const { data } = this;
    return data && 'reading' in data && this.who === this.book.modelName ? [data.reading.layer + 1] : [];
  }

  /** The edits of the address, else of the step. */
  get specs(): EditSpec[] {
    const { data } = this;
    return data && 'reading' in data ? this.specsIn(data.reading.layers, data.reading.heads) : this.specsIn();
  }

  /** The letters to sort; an address without any has the chapter's. */
  get #word(): string {
    return lettersOf(this.value('letters')) || (this.chapter.defaults.letters ?? '');
  }

  protected override key(): string {
    const { address, language } = this.book;
    if (this.view === 'train') {
      const asked = ['layers', 'lr', 'seed', 'n', 'off'].map((key) => this.value(key));
      return [this.view, language, this.revealed, ...asked].join('\n');
    }
    const text = this.who === sorter ? this.#word : `${this.book.text} ${address.get('q')}`;
    return [this.who, text, this.view, this.value('l'), this.value('edit'), this.projection].join('\n');
  }

  protected override async compute(signal: AbortSignal): Promise<Data | TrainingData> {
    const { book, view } = this;
    if (view === 'train') return this.#train();
    void this.#live?.then((live) => live.stop());
    const subject = await subjectOf(book, this.who, this.#word);
    const { layers, heads, stack } = subject;
    const reading = await read(
      book,
      subject,
      within(this.number('l'), layers),
      fitting(this.specsIn(layers, heads), stack),
    );
    return {
      reading,
      view,
      ...(view === 'split' && { split: await split(book, reading, this.projection) }),
      ...(view === 'join' && { mixing: await mixing(book, reading) }),
      ...(view === 'all' && { every: await every(book, reading, signal) }),
      ...((view === 'find' || view === 'read') && { habits: await habits(book, subject) }),
      ...(view === 'need' && { need: await need(book, subject, signal) }),
    };
  }

  async #train(): Promise<TrainingData> {
    this.#live ??= import('./training/live.js').then(({ LiveTraining: Live }) => new Live(this));
    this.#live.catch(() => {
      this.#live = undefined; // the next attempt loads it again
    });
    const live = await this.#live;
    return { view: 'train', live, training: await live.aim() };
  }

  override async finished(): Promise<void> {
    await this.settled();
    await (await this.#live)?.done();
    await this.updateComplete;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    void this.#live?.then((live) => live.dispose());
    this.#live = undefined;
  }

  protected override nearest(data: Data | TrainingData): Record<string, number> {
    if (!('reading' in data)) {
      const { settings, steps } = data.training.aim;
      return { ...settings, ...(this.revealed && { n: steps }) };
    }
    const { reading, view } = data;
    return {
      ...{ l: reading.layer, h: this.headOf(reading) },
      ...(this.who === this.book.modelName && { q: reading.focus }),
      ...(view === 'join' && { c: within(this.number('c'), reading.model) }),
    };
  }

  protected override valuesOf(data: Data | TrainingData): Record<string, string> {
    return 'reading' in data ? summary(data) : {};
  }

  /** The chosen head. */
  headOf({ heads }: Reading): number {
    return within(this.number('h'), heads);
  }

  protected override draw(data: Data | TrainingData): TemplateResult {
    const [before, after] = 'reading' in data ? this.#controls(data.reading) : [];
    return html`<div class="all ${this.inClass ? 'large' : ''}">
      <div class="controls">${before}${this.#viewChoice()}${after}</div>
      ${'reading' in data ? this.#part(data) : data.live.view(data.training)}
    </div>`;
  }

  #part(data: Data): TemplateResult {
    const parts: Readonly<Record<Exclude<View, 'train'>, () => TemplateResult>> = {
      read: () => mapsView(this, data),
      split: () => splitView(this, data),
      join: () => joinView(this, data),
      all: () => everyView(this, data),
      find: () => findView(this, data),
      need: () => needView(this, data),
    };
    return parts[data.view]();
  }

  #viewChoice(): TemplateResult {
    const { labels } = this.words;
    const options = views.map((view) => [view, labels[view]] as const);
    return this.choice({ key: 'view', name: labels.show, options, chosen: this.view });
  }

  /** The choices before and after that of the view. */
  #controls(reading: Reading): TemplateResult[] {
    const { labels } = this.words;
    const models = [
      [this.book.modelName, this.carried(labels.carried)],
      [sorter, labels.sorter],
      [translator, labels.translator],
    ] as const;
    const offered = models.filter(([name], i) => models.findIndex(([other]) => other === name) === i);
    const layers = Array.from({ length: reading.layers }, (_, l) => [String(l), String(l + 1)] as const);
    const overAll = ['all', 'find', 'need'].includes(this.view);
    return [
      html`${this.choice({ key: 'who', name: labels.model, options: offered, chosen: this.who, clears: ['l', 'h'] })}
      ${overAll ? '' : this.choice({ key: 'l', name: labels.layer, options: layers, chosen: String(reading.layer) })}`,
      html`${this.who === sorter ? html`<label class="slider">${labels.letters} <input type="text" maxlength="6" size="8" .value=${this.#word} @change=${this.#letters} /></label>` : ''}
      ${reading.of > reading.tokens.length ? html`<span class="muted">${filled(this.shell.cut, { read: reading.tokens.length, of: reading.of })}</span>` : ''}`,
    ];
  }

  #letters = ({ target }: Event): void => {
    const text = lettersOf((target as HTMLInputElement).value);
    if (text !== '') this.choose({ letters: text });
    else (target as HTMLInputElement).value = this.#word;
  };

  /** Whether the address ablates a head: its numbers may still be computed. */
  isOff({ stack, layer }: Reading, head: number): boolean {
    return this.specs.some((spec) => silences(spec, `${stack}.${layer}.attn.hook_z`, head));
  }

  /** Ablates a head, or restores it. */
  toggle(reading: Reading, head: number): void {
    const { stack, layer } = reading;
    const hook = `${stack}.${layer}.attn.hook_z`;
    const off = this.isOff(reading, head);
    const specs = off
      ? this.specs.filter((spec) => !silences(spec, hook, head))
      : withEdit(this.specs, { hook, head, op: 'zero' });
    this.choose({ edit: formatEdits(specs) ?? '' });
    const { headOff, headOn } = this.words.labels;
    this.say(filled(off ? headOn : headOff, { head: head + 1, layer: layer + 1 }));
  }

  /** Opens a head found in any layer. */
  open(layer: number, head: number): void {
    this.choose({ l: String(layer), h: String(head), view: 'read' });
  }

  override code(): FigureCode {
    const { data } = this;
    if (!data) return { js: '' };
    if ('live' in data) return data.live.code(data.training);
    return codeOf(data, this.who === sorter ? this.#word : this.book.text);
  }
}

/** The edits of the shown stack; those of other models are left out. */
const fitting = (specs: readonly EditSpec[], stack: string): EditSpec[] =>
  specs.filter(({ hook }) => hook.startsWith(`${stack}.`));

customElements.define('figure-heads', FigureHeads);
