// The sentence shared by the chapters: its tokens to choose from, a window around the chosen one, and a field to edit
// it. In a chapter whose figure has its own model it is shown as plain text.

import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { Sentence } from '../book/book.js';
import { minFontSizeOf } from '../book/class_mode.js';
import { fieldKey } from '../book/field_keys.js';
import { filled } from '../book/markup.js';
import { visible } from '../book/token_texts.js';
import { ShellElement } from './shell_element.js';

/** Characters of the sentence in the bar, so that it stays one line; fewer at class mode's font size. */
const windowLetters = { usual: 56, wall: 36 };

class BookSentence extends ShellElement {
  static override properties: PropertyDeclarations = {
    whole: { attribute: false },
    sentence: { state: true },
    editing: { state: true },
  };
  /** The sentence as plain text, in a chapter whose figure has its own model. */
  declare whole: string | undefined;
  declare private sentence: Sentence | undefined;
  declare private editing: boolean;
  #read = '';

  constructor() {
    super();
    this.editing = false;
  }

  protected override willUpdate(): void {
    if (this.whole !== undefined) return;
    const wanted = [this.book.shelf.adopted, this.book.modelName, this.book.text, this.book.address.get('q')].join(
      '\n',
    );
    if (wanted === this.#read) return;
    this.#read = wanted;
    this.book.sentence().then(
      (sentence) => {
        if (this.#read === wanted) this.sentence = sentence;
      },
      () => {
        this.sentence = undefined; // the figure shows the error
        this.#read = '';
      },
    );
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.editing) return this.#form();
    if (this.whole !== undefined)
      return html`<span class="whole" lang=${this.book.textLanguage}>${this.whole}</span>${this.#pencil()}`;
    return this.sentence ? this.#tokens(this.sentence) : nothing;
  }

  #tokens(sentence: Sentence): TemplateResult {
    const { tokens, focus, of } = sentence;
    const [from, to] = longestFitting(
      tokens.map(({ text }) => text.length),
      focus,
      minFontSizeOf(this.book.address) > 0 ? windowLetters.wall : windowLetters.usual,
    );
    const cut = of > tokens.length ? filled(this.words.cut, { read: tokens.length, of }) : '';
    return html`<div class="tokens" role="group" aria-label=${this.words.sentence}>
        ${from > 0 ? html`<span class="more" title=${this.words.earlier}>… ${from}&nbsp;</span>` : nothing}
        ${tokens.slice(from, to).map(({ text, special, id }, i) => {
          const shown = from + i === 1 ? text.trimStart() || text : text;
          return html`<button type="button" lang=${this.book.textLanguage} class=${special ? 'special' : ''} aria-pressed=${from + i === focus} title="${from + i}: ${id}"
            @click=${() => this.#choose(from + i)} @keydown=${this.#walk}>${visible(shown)}</button>`;
        })}
        ${to < tokens.length ? html`<span class="more" title=${this.words.later}>&nbsp;${tokens.length - to} …</span>` : nothing}
      </div>
      ${cut ? html`<span class="more" title=${cut}>${tokens.length} / ${of}</span>` : nothing}
      ${this.#pencil()}`;
  }

  #pencil(): TemplateResult {
    return html`<button type="button" class="plain icon" aria-label=${this.words.changeSentence} title=${this.words.changeSentence} @click=${this.#edit}>
      <svg viewBox="0 0 18 18" aria-hidden="true"><path d="M11.5 3.5l3 3L6 15l-3.6.6L3 12z" /></svg>
    </button>`;
  }

  #form(): TemplateResult {
    return html`<form @submit=${this.#submit} @keydown=${this.#keys}>
      <textarea name="text" rows="1" lang=${this.book.textLanguage} aria-label=${this.words.sentenceField} .value=${this.whole ?? this.book.text}></textarea>
      <button class="plain" type="submit">${this.words.readIt}</button>
      <button class="plain" type="button" @click=${this.#leave}>${this.words.cancel}</button>
    </form>`;
  }

  #choose(position: number): void {
    this.book.address.set({ q: String(position) }, 'push');
  }

  /** Arrow keys move along the sentence. */
  #walk = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || !this.sentence) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.sentence.focus + step;
    if (next >= 0 && next < this.sentence.tokens.length) this.#choose(next);
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus());
  };

  #edit = async (): Promise<void> => {
    this.editing = true;
    await this.updateComplete;
    this.querySelector('textarea')?.select();
  };

  /** Closes the field; the focus goes back to its button. */
  #leave = async (): Promise<void> => {
    this.editing = false;
    await this.updateComplete;
    this.querySelector<HTMLElement>('button.icon')?.focus();
  };

  #keys = (event: KeyboardEvent): void => {
    event.stopPropagation();
    const key = fieldKey(event);
    if (key === 'leave') void this.#leave();
    if (key === 'confirm' && event.target instanceof HTMLTextAreaElement) this.#submit(event);
  };

  #submit = (event: Event): void => {
    event.preventDefault();
    const text = this.querySelector('textarea')?.value ?? '';
    void this.#leave();
    this.book.address.set({ t: text, q: undefined, edit: undefined }, 'push');
  };
}

/** The range of positions shown: as many as fit, including the chosen one. */
function longestFitting(lengths: readonly number[], focus: number, most: number): [from: number, to: number] {
  let [from, to, letters] = [focus, focus + 1, lengths[focus] ?? 0];
  for (let grown = true; grown; ) {
    grown = false;
    for (const side of [from - 1, to]) {
      const length = lengths[side];
      if (length === undefined || letters + length > most) continue;
      letters += length;
      if (side === to) to++;
      else from--;
      grown = true;
    }
  }
  return [from, to];
}

customElements.define('book-sentence', BookSentence);
