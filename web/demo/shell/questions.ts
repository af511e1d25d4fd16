// The questions at a chapter's end. Every answer is checked by computation; none is stored.

import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { Chapter, ChapterWords, Question, Verdict } from '../book/chapter.js';
import { errorText } from '../book/error_text.js';
import { computed, markup, plain } from '../book/markup.js';
import { ShellElement } from './shell_element.js';

type Outcome = (Verdict | { failure: unknown }) & {
  /** What was asked: the outcome is shown while this is still so. */
  readonly asked: string;
};

/**
 * A number as it is typed: "33024", "33,024", "33 024", "33.024", "98.6 %". Where a separator may be the decimal point
 * or one of thousands both are meant.
 */
function readings(text: string): string[] {
  const bare = text.replace(/[\s'’%]/g, '').replace('−', '-');
  const marks = bare.match(/[.,]/g) ?? [];
  const last = marks.at(-1);
  const whole = bare.replace(/[.,]/g, '');
  if (last === undefined) return [whole];
  const at = bare.lastIndexOf(last);
  const decimal = `${bare.slice(0, at).replace(/[.,]/g, '')}.${bare.slice(at + 1)}`;
  const isGrouped = /^[-+]?[1-9]\d{0,2}([.,]\d{3})+$/.test(bare);
  if (marks.length > 1 && marks.every((mark) => mark === last)) return isGrouped ? [whole] : [bare];
  return isGrouped ? [decimal, whole] : [decimal];
}

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
  /** Resolves when the options are known. */
  offered: Promise<void> = Promise.resolve();

  constructor() {
    super();
    this.outcomes = {};
    this.options = {};
    this.values = {};
  }

  /** The options are computed after the figure, whether the questions are seen or not: a handout shows them, too. */
  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('figure-computed', this.#offer);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener('figure-computed', this.#offer);
  }

  protected override updated(): void {
    if (this.#asked !== '') this.#offer();
  }

  /** What the options depend on. */
  get #state(): string {
    const { text, modelName, address, shelf } = this.book;
    return [shelf.adopted, text, modelName, this.chapter.variant?.(address)].join('\n');
  }

  #offer = (): void => {
    if (this.#state === this.#asked) return;
    this.#asked = this.#state;
    this.offered = this.#optionsFor(this.#state);
  };

  async #optionsFor(state: string): Promise<void> {
    for (const { id, options } of this.chapter.questions) {
      const offered = await options?.(this.book).catch(() => []);
      if (state !== this.#asked) return; // another state's are under way
      if (offered) this.options = { ...this.options, [id]: offered };
    }
    await this.updateComplete;
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
    const asked = this.#askedNow(question);
    return html`<div class="question" data-question=${id} role="group" aria-labelledby="ask-${id}">
      <div class="prose" id="ask-${id}">${markup(texts?.ask ?? '', this.values, this.book.address)}</div>
      <form data-kind=${question.kind} @submit=${(event: Event) => this.#submit(event, question)}>${this.#answer(question, asked)}</form>
      ${this.outcomes[id]?.asked === asked ? this.#verdict(id) : nothing}
    </div>`;
  }

  /** The question with its values, and what else its answer depends on. */
  #askedNow({ id }: Question): string {
    return `${this.#state}\n${plain(this.chapterWords.questions[id]?.ask ?? '', this.values)}`;
  }

  #answer({ id, kind }: Question, asked: string): TemplateResult {
    if (kind === 'choice') {
      return html`${(this.options[id] ?? []).map(
        (option) =>
          html`<button class="chip" name="answer" value=${option} aria-pressed=${this.#chosen[id] === option && this.outcomes[id]?.asked === asked}>${option}</button>`,
      )}`;
    }
    const field = html`<input type="text" inputmode="decimal" name="answer" aria-label=${this.words.answer} aria-describedby="ask-${id}" autocomplete="off" />`;
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
    const values = { ...this.values, ...outcome.values };
    const text = computed((outcome.right ? texts?.right : texts?.wrong) ?? '', values);
    return html`<p class="verdict ${outcome.right ? 'right' : 'wrong'}" role="status">${markup(text, values, this.book.address)}</p>`;
  }

  async #submit(event: Event, question: Question): Promise<void> {
    event.preventDefault();
    const { submitter, target } = event as SubmitEvent;
    const data = new FormData(target as HTMLFormElement, submitter);
    const given = question.kind === 'state' ? this.book.address.link() : String(data.get('answer') ?? '');
    this.#chosen[question.id] = given;
    const asked = this.#askedNow(question);
    const outcome = await this.#check(question, given).catch((failure: unknown) => ({ failure }));
    this.outcomes = { ...this.outcomes, [question.id]: { ...outcome, asked } };
  }

  /** An answer that is right in one of its readings is right. */
  async #check(question: Question, given: string): Promise<Verdict> {
    const answers = question.kind === 'number' ? readings(given) : [given];
    const verdicts: Verdict[] = [];
    for (const answer of answers) verdicts.push(await question.check(this.book, answer));
    return verdicts.find(({ right }) => right) ?? (verdicts[0] as Verdict);
  }
}

customElements.define('book-questions', BookQuestions);
