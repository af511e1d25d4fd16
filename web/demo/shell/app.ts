// The page: the bar, the spine, the chapter's prose and figure, and the page-wide keyboard shortcuts.

import { html, LitElement, noChange, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { Book } from '../book/book.js';
import { type Chapter, type ChapterId, type ChapterWords, chapterAt, isAt, wordsAt } from '../book/chapter.js';
import { type ChapterFiles, chapters, type Language } from '../book/chapters.js';
import { applyClassMode } from '../book/class_mode.js';
import { KeptFocus } from '../book/controllers.js';
import { messageOf } from '../book/error_text.js';
import type { Figure } from '../book/figure.js';
import { plain } from '../book/markup.js';
import { theme } from '../book/theme.js';
import type { ShellWords } from '../words/en/shell.js';
import { bar } from './bar.js';
import { caption } from './caption.js';
import { chapterView } from './chapter_view.js';
import './questions.js';
import './sentence.js';
import './spine.js';
import { Steps } from './steps.js';

const shellWords: Readonly<Record<Language, () => Promise<{ words: ShellWords }>>> = {
  en: () => import('../words/en/shell.js'),
  de: () => import('../words/de/shell.js'),
};

/** What uses keys itself, and what has its own undo. */
const fields = 'input:not([type="checkbox"]), textarea, select';
const fieldsOfText = 'input:not([type="checkbox"], [type="range"]), textarea';

/** After how many milliseconds without a chapter's files the reader is told that they are being loaded. */
const patience = 300;

/** An open chapter. */
export interface Open {
  readonly files: ChapterFiles;
  readonly language: Language;
  readonly chapter: Chapter;
  readonly words: ChapterWords;
  readonly shell: ShellWords;
  readonly figure: Figure<unknown>;
}

export class BookApp extends LitElement {
  static override properties: PropertyDeclarations = {
    open: { state: true },
    failure: { state: true },
    coming: { state: true },
    revealed: { state: true },
    wholeCaption: { state: true },
    popup: { state: true },
    menuFailure: { state: true },
  };
  declare open: Open | undefined;
  declare failure: unknown;
  /** Whether another chapter, or the same in another language, has been loading for some time. */
  declare coming: boolean;
  /** In class mode: whether the answer of the step is shown. */
  declare revealed: boolean;
  /** In class mode: whether a long text is shown in full. */
  declare wholeCaption: boolean;
  /** Which of the bar's popups is open. */
  declare popup: 'contents' | 'figure' | undefined;
  /** Why the figure's menu could not be opened. */
  declare menuFailure: unknown;
  readonly book = new Book();
  readonly steps = new Steps(this.book.address, this);
  #connected: AbortController | undefined;
  #opening = '';
  #retrying = false;
  #stepShown: string | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  constructor() {
    super();
    new KeptFocus(this);
    this.revealed = false;
    this.wholeCaption = false;
    this.coming = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    this.book.address.addEventListener('change', this.#turn, { signal });
    this.book.shelf.addEventListener('change', this.#redraw, { signal });
    theme.addEventListener('change', this.#redraw, { signal });
    this.addEventListener('figure-computed', this.#computed, { signal });
    addEventListener('keydown', this.#keys, { signal });
    addEventListener('resize', this.#resized, { signal });
    for (const type of ['pointerdown', 'focusin']) addEventListener(type, this.#outside, { signal });
    this.#turn();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#connected?.abort();
  }

  #redraw = (): void => this.requestUpdate();

  /** Updates the prose with the computed values, and the steps' position below the figure to its new height. */
  #computed = (): void => {
    if (performance.getEntriesByName('first-number').length === 0) performance.mark('first-number'); // for npm run page-budgets
    this.requestUpdate();
    void this.open?.figure.settled().then(() => {
      if (this.open) this.steps.settle(this.open.chapter);
    });
  };

  /** Opens the chapter in the language of the address. */
  #turn = (): void => {
    const files = chapters.find(({ id }) => id === chapterAt(this.book.address.chapter));
    const language = this.book.language;
    const wanted = `${files?.id} ${language}`;
    const step = this.book.address.get('step');
    if (step !== this.#stepShown) this.revealed = this.wholeCaption = false; // also after Back or a link
    this.#stepShown = step;
    this.requestUpdate();
    void this.#follow(files);
    if (!files || wanted === this.#opening) return;
    this.#opening = wanted;
    const told = setTimeout(() => {
      this.coming = this.#opening === wanted;
    }, patience);
    const opened = this.#opened(files, language).finally(() => {
      clearTimeout(told);
      if (this.#opening === wanted) this.coming = false;
    });
    opened.then(
      (open) => {
        if (this.#opening !== wanted) return;
        const turned = open.files !== this.open?.files;
        this.failure = undefined;
        this.#retrying = false;
        this.revealed = this.wholeCaption = false;
        this.open = open;
        if (turned) void this.#begin(open);
      },
      (failure: unknown) => {
        if (this.#opening !== wanted) return;
        this.#opening = ''; // so that the next attempt fetches again
        this.failure = failure;
        this.#failedAgain();
      },
    );
  };

  /** The prose above a step changes its height with the step, so it is scrolled to afterwards. */
  async #follow(files: ChapterFiles | undefined): Promise<void> {
    await this.updateComplete;
    if (this.open?.files === files && this.open) this.steps.follow(this.open.chapter);
  }

  async #opened(files: ChapterFiles, language: Language): Promise<Open> {
    const [{ chapter }, { words }, { words: shell }] = await Promise.all([
      files.chapter(),
      files.words[language](),
      shellWords[language](),
    ]);
    const same = this.open?.files === files ? this.open.figure : undefined;
    const figure = same ?? (document.createElement(chapter.tag) as Figure<unknown>);
    return { files, language, chapter, words, shell, figure };
  }

  /** Scrolls a newly opened chapter to its top, or to the step of the address. */
  async #begin(open: Open): Promise<void> {
    const { chapter, figure } = open;
    this.popup = undefined;
    await this.updateComplete;
    scrollTo(0, 0);
    this.steps.begin(chapter);
    const linked = this.book.address.get('step') !== undefined;
    // A linked step is scrolled to before scroll events are observed.
    if (linked) this.steps.reveal(this.steps.index(chapter));
    else requestAnimationFrame(() => this.steps.watch(chapter));
    await Promise.all([figure.settled(), document.fonts.ready]);
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame); // its height is final then
    if (this.open?.figure !== figure) return;
    if (linked) this.steps.reveal(this.steps.index(chapter));
    requestAnimationFrame(() => this.steps.watch(chapter));
  }

  protected override willUpdate(): void {
    if (!this.open || !isAt(this.open.chapter, this.book.address)) return;
    const { address } = this.book;
    const { figure, chapter, words, shell, language } = this.#shown(this.open);
    this.book.defaults = chapter.defaults;
    const inClass = address.get('class') !== undefined;
    const step = this.steps.current(chapter);
    const revealed = !inClass || this.revealed || step.predict !== true;
    Object.assign(figure, { book: this.book, chapter, words, shell, step, revealed });
    document.documentElement.lang = language;
    document.title = `${plain(words.title)} · clearformer`;
    document.body.classList.toggle('class', inClass);
    applyClassMode(address);
    document.body.classList.toggle('embedded', address.get('embed') !== undefined);
    document.body.classList.toggle('at-home', chapter.layout === 'home');
    document.body.classList.toggle('textless', chapter.textless === true);
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.open) return this.failure === undefined ? nothing : html`<main>${this.#failed()}</main>`;
    const open = this.#shown(this.open);
    const { chapter, shell, figure } = open;
    const kept = isAt(chapter, this.book.address) ? undefined : noChange; // until the chapter of the address is there
    return html`<a class="skip" href="#main" @click=${this.#skip}>${shell.skip}</a>
      ${bar(this, open)}
      ${chapter.layout === 'home' ? nothing : html`<book-spine .book=${this.book} .words=${shell} .inputs=${figure.spineInputs} .waiting=${chapter.spine === 'figure' && !figure.spineInputs} .here=${figure.blocks}></book-spine>`}
      ${this.coming ? html`<p class="coming" role="status">${shell.loading} …</p>` : nothing}
      <main id="main" tabindex="-1">
        ${this.failure === undefined ? (kept ?? keyed(chapter.id, chapterView(this, open))) : this.#failed()}
      </main>
      ${kept ?? caption(this, open)}`;
  }

  /** The open chapter with its words as they are at the address. */
  #shown(open: Open): Open {
    return { ...open, words: wordsAt(open.chapter, open.words, this.book.address) };
  }

  #retry = (): void => {
    this.#retrying = true;
    this.#turn();
  };

  /** Firefox never fetches a module again that it failed to fetch once: the page, whose state is in its address, does. */
  #failedAgain(): void {
    if (!this.#retrying) return;
    this.#retrying = false;
    const reload = (): void => location.reload();
    fetch(document.baseURI, { method: 'HEAD' }).then(reload, () => undefined); // only if the site or the service worker answers
  }

  #failed(): TemplateResult {
    const shell = this.open?.shell;
    return html`<div class="failed" role="alert">
      <p><b>${shell?.failedChapter ?? 'This chapter could not be opened'}</b></p>
      <p>${messageOf(this.failure)}</p>
      <button type="button" class="primary" @click=${this.#retry}>${shell?.retry ?? 'Try again'}</button>
    </div>`;
  }

  /** Opens one of the bar's popups, or closes it. */
  toggle(popup: 'contents' | 'figure'): void {
    this.popup = this.popup === popup ? undefined : popup;
    if (this.popup === 'figure') this.#openMenu();
  }

  #openMenu(): void {
    this.menuFailure = undefined;
    import('./figure_menu/figure_menu.js').catch((failure: unknown) => this.menuFailed(failure));
  }

  menuFailed(failure: unknown): void {
    this.menuFailure = failure;
    this.#failedAgain();
  }

  retryMenu = (): void => {
    this.#retrying = true;
    this.#openMenu();
  };

  /** Closes the popup and returns the focus to its button. */
  close(): void {
    this.querySelector<HTMLElement>('[aria-expanded="true"]')?.focus();
    this.popup = undefined;
  }

  #skip = (event: Event): void => {
    event.preventDefault();
    this.querySelector<HTMLElement>('#main')?.focus();
  };

  /** The previous or next chapter. */
  neighbour(distance: 1 | -1): ChapterId | undefined {
    const at = chapters.findIndex(({ id }) => id === this.open?.chapter.id);
    return chapters[at + distance]?.id;
  }

  get #inClass(): boolean {
    return this.book.address.get('class') !== undefined;
  }

  /** Reveals the answer that the class guesses, else goes to the next step; false if there is none. */
  forward(): boolean {
    if (!this.open) return false;
    const { chapter } = this.open;
    const at = this.steps.index(chapter);
    const next = this.neighbour(1);
    if (this.#inClass && chapter.steps[at]?.predict && !this.revealed) this.revealed = true;
    else if (at < chapter.steps.length - 1) this.#step(at + 1);
    else if (this.#inClass && next) this.book.address.go(next, { step: undefined });
    else return false;
    return true;
  }

  /** Goes to the previous step, or hides the answer of the first again; false if neither is possible. */
  backward(): boolean {
    const at = this.open ? this.steps.index(this.open.chapter) : 0;
    if (at > 0 || this.#inClass) this.#step(at - 1);
    return at > 0 || this.#inClass;
  }

  #step(index: number): void {
    if (!this.open) return;
    this.revealed = this.wholeCaption = false;
    this.steps.go(this.open.chapter, index, !this.#inClass);
  }

  toggleClass(): void {
    this.revealed = false;
    this.book.address.set({ class: this.#inClass ? undefined : '1' }, 'replace');
  }

  #keys = (event: KeyboardEvent): void => {
    const [from] = event.composedPath();
    const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z';
    if (from instanceof Element && from.matches(isUndo ? fieldsOfText : fields)) return;
    if (isUndo) {
      event.preventDefault();
      if (event.shiftKey) this.book.address.redo();
      else this.book.address.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === 'Escape') this.close();
    else if (event.key.toLowerCase() === 'c') this.toggleClass();
    else if (from instanceof Element && from.matches('pre'))
      return; // which these keys scroll
    else if (!event.shiftKey) this.#travel(event); // with Shift they extend what is selected
  };

  /** Along the steps; keys that scroll the page do so below the last step, at the questions, and where there is none. */
  #travel(event: KeyboardEvent): void {
    const { key } = event;
    const move = { ArrowRight: 'forward', PageDown: 'forward', ArrowLeft: 'backward', PageUp: 'backward' } as const;
    if (!(key in move)) return;
    if (key.startsWith('Page') && !this.#inClass && this.open && this.steps.isBelow(this.open.chapter)) return;
    if (this[move[key as keyof typeof move]]()) event.preventDefault();
  }

  #resized = (): void => {
    this.requestUpdate();
    if (this.open) this.steps.watch(this.open.chapter);
    if (this.#inClass) void this.updateComplete.then(() => this.open?.figure.requestUpdate()); // sizes follow the window
  };

  #outside = (event: Event): void => {
    const inside = event
      .composedPath()
      .some((node) => node instanceof Element && node.matches('.pop, .bar [aria-expanded="true"]'));
    if (!inside) this.popup = undefined;
  };
}

customElements.define('book-app', BookApp);
