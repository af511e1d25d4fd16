// The base class of the chapters' figures: computes when its dependencies change, renders the result or the error, and
// reports which numbers it shows and the code that computes them.

import type { Drawn } from 'clearformer/elements';
import { html, LitElement, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import type { ShellWords } from '../words/en/shell.js';
import type { Changes } from './address.js';
import { type Book, firstModel } from './book.js';
import { type Chapter, type ChapterWords, isAt, type Step, stepIndexAt, valueAt } from './chapter.js';
import { minFontSizeOf, onWall, stageHeight } from './class_mode.js';
import { KeptFocus, ThemeColours } from './controllers.js';
import { type EditSpec, specsOf } from './edits.js';
import { errorText } from './error_text.js';
import { figureStyles } from './figure_styles.js';
import { filled } from './markup.js';
import type { PassInputs } from './shelf.js';

/** The code that computes what a figure shows. */
export interface FigureCode {
  js: string;
  /** Absent where nothing is computed. */
  cpp?: string | undefined;
  /** With TransformerLens, if there is an equivalent. */
  tl?: string | undefined;
}

export abstract class Figure<Data = unknown, Words extends ChapterWords = ChapterWords> extends LitElement {
  static override properties: PropertyDeclarations = {
    book: { attribute: false },
    chapter: { attribute: false },
    step: { attribute: false },
    words: { attribute: false },
    shell: { attribute: false },
    revealed: { type: Boolean },
    data: { state: true },
    failure: { state: true },
    said: { state: true },
  };
  declare book: Book;
  declare chapter: Chapter;
  declare step: Step;
  declare words: Words;
  declare shell: ShellWords;
  /** False in class mode while the class guesses. */
  declare revealed: boolean;
  declare data: Data | undefined;
  declare failure: unknown;
  declare private said: string;
  /** Computed values that the prose refers to, as text. */
  values: Readonly<Record<string, string>> = {};
  readonly #valuesOfSteps = new Map<
    string,
    { readonly key: string; readonly values: Readonly<Record<string, string>> }
  >();
  #key: string | undefined;
  /** The step whose choices `value` tells while its key is made; else those of the current one. */
  #asked: Step | undefined;
  #controller: AbortController | undefined;

  static override styles = [figureStyles];

  constructor() {
    super();
    new ThemeColours(this);
    new KeptFocus(this);
    this.revealed = true;
    this.said = '';
  }

  /** The dependencies of `compute` as text: the same key is not computed again. */
  protected abstract key(): string;
  /** Everything the figure renders. An error is shown in the figure's place. */
  protected abstract compute(signal: AbortSignal): Promise<Data>;
  protected abstract draw(data: Data): TemplateResult;
  abstract code(): FigureCode;
  /** Values for the prose. */
  protected valuesOf(_data: Data): Record<string, string> {
    return {};
  }

  /** The numbers and token ids of the address as they are shown: the nearest that there are. */
  protected nearest(_data: Data): Readonly<Record<string, number | string | undefined>> {
    return {};
  }

  /** Empty values, each of which keeps those sentences of the prose that are true of a choice (see markup.ts). */
  protected conditions(_value: (key: string) => string): Record<string, string> {
    return {};
  }

  /** The values computed at a step, if they are what a visit would compute again, and its conditions. */
  valuesAt(id: string): Readonly<Record<string, string>> {
    const isHere = id === this.step?.id;
    if (isHere && this.data !== undefined) return this.values;
    const step = this.chapter?.steps.find((one) => one.id === id);
    if (!step) return {};
    const known = isHere ? undefined : this.#valuesOfSteps.get(id);
    const values = known?.key === this.#keyAt(step) ? known.values : {};
    return { ...values, ...this.conditions((key) => this.#valueAt(step, key)) };
  }

  #keyAt(step: Step): string {
    this.#asked = step;
    try {
      return `${this.book.shelf.adopted}\n${this.key()}`;
    } finally {
      this.#asked = undefined;
    }
  }

  value(key: string): string {
    return this.#valueAt(this.#asked ?? this.step, key);
  }

  #valueAt(step: Step, key: string): string {
    return valueAt(this.chapter, this.book.address, key, step);
  }

  number(key: string): number {
    return Number(this.value(key));
  }

  /** A choice among these; the first for any other. */
  protected oneOf<Option extends string>(key: string, options: readonly [Option, ...Option[]]): Option {
    return options.find((option) => option === this.value(key)) ?? options[0];
  }

  /** The edits of the address, else those of the step, in the last block and head where the model has fewer. */
  protected specsIn(layers = Number.POSITIVE_INFINITY, heads = Number.POSITIVE_INFINITY): EditSpec[] {
    return specsOf(this.book.address.get('edit'), this.value('edit'), layers, heads);
  }

  /** The name of the model that reads the sentence, among the choices: `stories` is the book's. */
  carried(stories: string): string {
    const { modelName } = this.book;
    if (modelName === 'own') return this.shell.ownModel;
    return modelName === firstModel ? stories : modelName;
  }

  /** Whether the address is still the figure's: what it began may end after another chapter was opened. */
  get #isOpen(): boolean {
    return this.isConnected && isAt(this.chapter, this.book.address);
  }

  /** A choice with a history entry, which Back undoes. */
  choose(changes: Changes): void {
    if (this.#isOpen) this.book.address.set(changes, 'push');
  }

  /** An intermediate value of a drag or slider. */
  slide(changes: Changes): void {
    if (this.#isOpen) this.book.address.set(changes, 'replace');
  }

  /** Announces a change to screen readers; the same text once more is a change by a blank, or it would not be heard. */
  say(text: string): void {
    this.said = text !== '' && text === this.said ? `${text}\u00A0` : text;
  }

  /** The inputs of the figure's own model, for the margin of a chapter with `spine: 'figure'`. */
  spineInputs: PassInputs | undefined;

  /** The blocks that the figure shows, counted from 1; 0 is the input of the first. */
  get blocks(): readonly number[] {
    return [];
  }

  /** Whether the shell is in class mode, with everything larger. */
  get inClass(): boolean {
    return this.minFont > 0;
  }

  /** Minimum font size in CSS pixels; 0: default sizes. */
  get minFont(): number {
    return minFontSizeOf(this.book.address);
  }

  /** In class mode: the height of the area for the figure, in CSS pixels. */
  get stageHeight(): number {
    return stageHeight();
  }

  /** A size of class mode, stated for its usual window, in CSS pixels. */
  wall(size: number): number {
    return onWall(size);
  }

  /** A font size, at least the minimum. */
  textSize(size: number): number {
    return Math.max(size, this.minFont);
  }

  /** Every element that shows numbers, in document order. */
  drawn(): (HTMLElement & Drawn)[] {
    return drawnIn(this.renderRoot);
  }

  /** Resolves when the state of the address is rendered. */
  async settled(): Promise<void> {
    do await this.updateComplete;
    while (this.#controller !== undefined && (await new Promise((resolve) => setTimeout(resolve, 5, true))));
    await this.updateComplete;
  }

  /** Resolves when nothing goes on any more: by default with `settled`, for training once the steps asked for are done. */
  finished(): Promise<void> {
    return this.settled();
  }

  protected override shouldUpdate(): boolean {
    return !this.book || !this.chapter || isAt(this.chapter, this.book.address);
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (!this.book || !this.step || !this.words) return;
    if (changed.has('step')) this.say(''); // what was told of the step before
    const key = this.#keyAt(this.step);
    if (key === this.#key) return;
    this.#key = key;
    void this.#compute();
  }

  async #compute(): Promise<void> {
    this.#controller?.abort();
    const controller = new AbortController();
    this.#controller = controller;
    const key = this.#key ?? '';
    try {
      const data = await this.compute(controller.signal);
      if (controller.signal.aborted) return;
      this.data = data;
      this.failure = undefined;
      const values = this.valuesOf(data);
      this.#valuesOfSteps.set(this.step.id, { key, values });
      this.values = { ...values, ...this.conditions((key) => this.value(key)) };
    } catch (error) {
      if (controller.signal.aborted) return;
      this.data = undefined;
      this.failure = error;
      this.values = {};
    }
    this.#controller = undefined;
    this.dispatchEvent(new Event('figure-computed', { bubbles: true, composed: true }));
  }

  #retry = (): void => {
    this.failure = undefined;
    void this.#compute();
  };

  protected override render(): TemplateResult {
    const live = html`<p class="sr-only" role="status">${this.said}</p>`;
    if (this.failure !== undefined) return html`${this.around(this.#failed(this.failure))}${live}`;
    if (this.data === undefined) return html`${this.around(this.#waiting())}${live}`;
    return html`${this.#drawn(this.data)}${live}`;
  }

  /** What stands around an error, or the wait for the numbers. */
  protected around(state: TemplateResult): TemplateResult {
    return state;
  }

  #drawn(data: Data): TemplateResult {
    try {
      return html`${this.#notHere(data)}${this.draw(data)}`;
    } catch (error) {
      return this.around(this.#failed(error)); // of an address, whose numbers are still computed
    }
  }

  /** What the address asks for and is not there, with what is shown in its place. */
  #notHere(data: Data): TemplateResult | string {
    const { address } = this.book;
    const step = stepIndexAt(this.chapter, address);
    const wrong = Object.entries<number | string | undefined>({ step, ...this.nearest(data) }).flatMap(
      ([key, value]) => {
        const asked = address.get(key);
        if (!asked || value === undefined || asked === String(value) || Number(asked) === value) return [];
        return [{ key, asked: `${key}=${asked.slice(0, 40)}`, instead: `${key}=${value === '' ? '∅' : value}` }];
      },
    );
    if (wrong.length === 0) return '';
    const asked = wrong.map((one) => one.asked).join(', ');
    const instead = wrong.map((one) => one.instead).join(', ');
    return html`<div class="not-here" role="status"><p>${filled(this.shell.notHere, { asked, instead })}</p>${this.#asInTheBook(wrong.map(({ key }) => key))}</div>`;
  }

  /** The share of a file is no part of the status, which would be told again and again. */
  #waiting(): TemplateResult {
    const loading = this.book?.shelf.loading;
    const share = loading && loading.total > 0 ? ` ${Math.round((100 * loading.loaded) / loading.total)} %` : '';
    return html`<p class="waiting"><span role="status">${loading ? `${this.shell.loading} ${loading.name}` : this.shell?.computing}</span>${share}</p>`;
  }

  #failed(failure: unknown): TemplateResult {
    const { title, advice, message, code } = errorText(failure, this.shell);
    return html`<div class="failed" role="alert">
      <p><b>${title}</b></p>
      <p>${message}</p>
      ${advice ? html`<p>${advice}</p>` : ''}${this.#otherModels()}${this.#asInTheBook()}
      <p>${code ? html`<code>${code}</code> ` : ''}<button type="button" class="plain" @click=${this.#retry}>${this.shell.retry}</button></p>
    </div>`;
  }

  /** For an address with a model of the reader's choice: where it can be opened again, and the book's model instead. */
  #otherModels(): TemplateResult | string {
    const { address, shelf } = this.book;
    const choices = this.chapter.spine === 'figure' ? { of: 'own' } : { m: address.get('m') };
    const chosen = Object.entries(choices).filter(([key, name]) => name !== undefined && address.get(key) === name);
    if (chosen.length === 0) return '';
    const cleared = Object.fromEntries(chosen.map(([key]) => [key, undefined]));
    const { openAgain, bookModel } = this.shell;
    const again = chosen.some(([, name]) => name === 'own') && !shelf.has('own');
    return html`<p>${again ? html`<a class="chip" href=${address.href('own')}>${openAgain}</a> ` : ''}<a class="chip" href=${address.href(this.chapter.id, cleared)}>${bookModel}</a></p>`;
  }

  /** Without the choices of the address, one of which may be wrong, and these. */
  #asInTheBook(wrong: readonly string[] = []): TemplateResult | string {
    const { address } = this.book;
    const chosen = [...address.chosen, ...wrong];
    if (chosen.length === 0) return '';
    const cleared = Object.fromEntries(chosen.map((key) => [key, undefined]));
    return html`<p><a class="chip" href=${address.href(this.chapter.id, cleared)}>${this.shell.asInTheBook}</a></p>`;
  }

  #redraw = (): void => this.requestUpdate();

  /** WebKit does not notice that the window was resized while the figure was away. */
  #restyle = (): void => {
    for (const { shadowRoot } of [this, ...this.renderRoot.querySelectorAll('*')])
      if (shadowRoot) shadowRoot.adoptedStyleSheets = [...shadowRoot.adoptedStyleSheets];
  };

  override connectedCallback(): void {
    super.connectedCallback();
    void this.updateComplete.then(this.#restyle);
    this.book?.address.addEventListener('change', this.#redraw);
    this.book?.shelf.addEventListener('change', this.#redraw);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#controller?.abort();
    this.#controller = undefined;
    this.#key = undefined;
    this.book?.address.removeEventListener('change', this.#redraw);
    this.book?.shelf.removeEventListener('change', this.#redraw);
  }
}

function drawnIn(root: Node): (HTMLElement & Drawn)[] {
  if (!(root instanceof Element || root instanceof DocumentFragment)) return [];
  return [...root.querySelectorAll<HTMLElement>('*')].flatMap((element) => {
    if ('source' in element && 'numbers' in element && element.numbers !== undefined)
      return [element as HTMLElement & Drawn];
    return element.shadowRoot && !element.localName.startsWith('cf-') ? drawnIn(element.shadowRoot) : [];
  });
}
