// The questions at a chapter's end. Every answer is checked by computation; none is stored.

import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { Chapter, ChapterWords, Question, Verdict } from '../book/chapter.js';
import { errorText } from '../book/error_text.js';
import { markup } from '../book/markup.js';
import { ShellElement } from './shell_element.js';

type Outcome = Verdict | { failure: unknown };

class BookQuestions extends ShellElement {
  static override properties: PropertyDeclarations = {
    chapter: { attribute: false },
    chapterWords: { attribute: false },
    values: { attribute: false },
    outcomes: { state: true },
    options: { state: true },
  };
  declare chapter: Chapter;
  declare chapterWords: ChapterWords;
  /** The figure's computed values, for the questions' texts. */
  declare values: Readonly<Record<string, string>>;
  declare private outcomes: Readonly<Record<string, Outcome>>;
  declare private options: Readonly<Record<string, readonly string[]>>;
  readonly #chosen: Record<string, string> = {};
  #asked = '';

  constructor() {
    super();
    this.outcomes = {};
    this.options = {};
    this.values = {};
  }

  /** The options are computed when the questions approach the viewport. */
  override firstUpdated(): void {
    const seen = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) void this.#offer();
    });
    seen.observe(this);
  }

  protected override updated(): void {
    if (this.#asked !== '' && this.#asked !== this.#state) void this.#offer();
  }

  /** What the options depend on. */
  get #state(): string {
    const { text, modelName, address } = this.book;
    return [text, modelName, this.chapter.variant?.(address)].join('\n');
  }

  async #offer(): Promise<void> {
    const state = this.#state;
    if (state === this.#asked) return;
    this.#asked = state;
    for (const { id, options } of this.chapter.questions) {
      const offered = await options?.(this.book).catch(() => []);
      if (offered) this.options = { ...this.options, [id]: offered };
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { questions } = this.chapter;
    if (questions.length === 0) return nothing;
    return html`<h2>${this.words.tryYourself}</h2>
      <p class="cut">${this.words.checkedByComputing}</p>
      ${questions.map((question) => this.#question(question))}`;
  }

  #question(question: Question): TemplateResult {
    const { id } = question;
    const texts = this.chapterWords.questions[id];
    return html`<div class="question" data-question=${id}>
      <div class="prose">${markup(texts?.ask ?? '', this.values, this.book.address)}</div>
      <form @submit=${(event: Event) => this.#submit(event, question)}>${this.#answer(question)}</form>
      ${this.#verdict(id)}
    </div>`;
  }

  #answer({ id, kind }: Question): TemplateResult {
    if (kind === 'choice') {
      return html`${(this.options[id] ?? []).map(
        (option) =>
          html`<button class="chip" name="answer" value=${option} aria-pressed=${this.#chosen[id] === option}>${option}</button>`,
      )}`;
    }
    const field = html`<input type="text" inputmode="decimal" name="answer" aria-label=${this.words.answer} autocomplete="off" />`;
    return html`${kind === 'number' ? field : nothing}<button class="chip">${this.words.check}</button>`;
  }

  #verdict(id: string): TemplateResult | typeof nothing {
    const outcome = this.outcomes[id];
    if (!outcome) return nothing;
    if ('failure' in outcome) {
      const { title, message } = errorText(outcome.failure, this.words);
      return html`<p class="verdict wrong" role="status">${title}: ${message}</p>`;
    }
    const texts = this.chapterWords.questions[id];
    const text = (outcome.right ? texts?.right : texts?.wrong) ?? '';
    return html`<p class="verdict ${outcome.right ? 'right' : 'wrong'}" role="status">${markup(text, { ...this.values, ...outcome.values }, this.book.address)}</p>`;
  }

  async #submit(event: Event, question: Question): Promise<void> {
    event.preventDefault();
    const { submitter, target } = event as SubmitEvent;
    const data = new FormData(target as HTMLFormElement, submitter);
    const answer =
      question.kind === 'state'
        ? this.book.address.link()
        : String(data.get('answer') ?? '')
            .trim()
            .replace('−', '-')
            .replace(',', '.');
    this.#chosen[question.id] = answer;
    const outcome = await question.check(this.book, answer).catch((failure: unknown) => ({ failure }));
    this.outcomes = { ...this.outcomes, [question.id]: outcome };
  }
}

customElements.define('book-questions', BookQuestions);
