// Chapter: a model reads one text and writes another: translation, summary, whatever it was trained for.

import {
  css,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import { amount } from '../state/format.js';
import { type Look, type LookName, type Translation, Translator } from '../state/translator.js';
import { Attempt } from '../views/attempt.js';
import '../views/attention_reader.js';
import { shared } from '../views/styles.js';
import { bundledChapter } from './chapter.js';

const lookNames: readonly [LookName, string][] = [
  ['cross', 'target at source'],
  ['encoder', 'source at itself'],
  ['decoder', 'target at itself'],
];
const sideNames: Record<LookName, { queries: string; keys: string }> = {
  cross: { queries: 'What it wrote', keys: 'What it read' },
  encoder: { queries: 'What it read', keys: '' },
  decoder: { queries: 'What it wrote', keys: '' },
};
const mostTokens = 200;

export class TranslateChapter extends LitElement {
  static override properties: PropertyDeclarations = {
    model: { attribute: false },
    text: {},
    examples: { attribute: false },
    beams: { state: true },
    look: { state: true },
    result: { state: true },
  };
  declare model: Translator;
  /** What stands in the field at first, and examples to choose. */
  declare text: string;
  declare examples: readonly string[];
  declare private beams: number;
  declare private look: LookName;
  declare private result: Translation | undefined;
  #attempt = new Attempt(this, 'Running');

  static override styles = [
    shared,
    css`
      :host { display: grid; gap: var(--gap); }
      .top { display: flex; flex-wrap: wrap; gap: 10px; align-items: end; }
      .text { flex: 1 1 320px; display: grid; gap: 3px; }
      .label { font-size: 0.8rem; color: var(--muted); }
      textarea { width: 100%; font: 1.08rem / 1.5 var(--font-text); }
      .actions { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
      .primary { min-height: 40px; }
      .examples { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 10px; }
      .examples button { min-height: 30px; font-weight: 450; font-size: 0.87rem; border-color: var(--line); }
      output { display: block; font: 1.3rem / 1.5 var(--font-text); margin: 4px 0 6px; }
      .looks { justify-self: start; }
      error-note { margin-top: 12px; }
    `,
  ];

  constructor() {
    super();
    this.text = '';
    this.examples = [];
    this.beams = 4;
    this.look = 'cross';
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('model')) return;
    this.result = undefined;
    this.#attempt.reset();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('model') && this.text !== '') void this.#run();
  }

  override render(): TemplateResult {
    return html`
      <form class="card" @submit=${this.#onSubmit} aria-busy=${this.#attempt.busy ? 'true' : 'false'}>
        <div class="top">
          <label class="text"><span class="label">It reads</span>
            <textarea id="source" rows="2" spellcheck="false" .value=${this.text} @input=${this.#onInput} @keydown=${this.#onKey}></textarea></label>
          <div class="actions">
            <div class="segments" role="group" aria-label="How it chooses">${this.#choice(1, 'greedy')}${this.#choice(4, '4 beams')}</div>
            <button type="submit" class="primary" id="translate">Run</button>
          </div>
        </div>
        ${this.examples.length === 0 ? nothing : html`<div class="examples">${this.examples.map((text) => this.#example(text))}</div>`}
        ${this.#attempt.note()}
      </form>
      ${this.result ? this.#answer(this.result) : nothing}`;
  }

  #answer(result: Translation): TemplateResult {
    const score = result.score === undefined ? '' : `, mean log-probability ${result.score.toFixed(3)}`;
    return html`<section class="card" aria-labelledby="answer-title">
        <h2 id="answer-title">It writes</h2>
        <output id="target" aria-live="polite">${result.text}</output>
        <p class="hint number">${result.tokens} tokens in ${amount(result.milliseconds)} ms${score}</p>
      </section>
      ${result.looks ? this.#looks(result.looks) : html`<p class="hint">The attention maps of texts this long would take too much memory to be shown.</p>`}`;
  }

  #looks(looks: Record<LookName, Look>): TemplateResult {
    const { maps, queries, keys } = looks[this.look];
    return html`<div class="segments looks" role="group" aria-label="Which attention">${lookNames.map(([look, name]) => this.#lookButton(look, name))}</div>
      <attention-reader .maps=${maps} .queries=${queries} .keys=${keys} .names=${sideNames[this.look]}></attention-reader>`;
  }

  #lookButton(look: LookName, name: string): TemplateResult {
    return html`<button type="button" aria-pressed=${this.look === look ? 'true' : 'false'} @click=${() => {
      this.look = look;
    }}>${name}</button>`;
  }

  #choice(beams: number, name: string): TemplateResult {
    return html`<button type="button" aria-pressed=${this.beams === beams ? 'true' : 'false'} @click=${() => {
      this.beams = beams;
      void this.#run();
    }}>${name}</button>`;
  }

  #example(text: string): TemplateResult {
    return html`<button type="button" @click=${() => {
      this.text = text;
      void this.#run();
    }}>${text}</button>`;
  }

  #onInput(event: Event): void {
    this.text = (event.target as HTMLTextAreaElement).value;
  }

  /** Enter runs; with Shift it makes a new line. */
  #onKey(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    void this.#run();
  }

  #onSubmit(event: Event): void {
    event.preventDefault();
    void this.#run();
  }

  #run(): Promise<void> {
    const { model, text, beams } = this;
    const settings = { num_beams: beams, max_new_tokens: Math.min(mostTokens, model.model.cfg.n_ctx - 1) };
    return this.#attempt.run(async (signal) => {
      const result = await model.translate(text, settings, signal);
      if (!signal.aborted) this.result = result;
    });
  }
}

customElements.define('translate-chapter', TranslateChapter);

const sentences = [
  'I want to live in a big city.',
  'Where is the station?',
  'My brother lives in Paris.',
  'Have you finished reading that book?',
  'I never really wanted to study French.',
];

export const translate = bundledChapter({
  id: 'translate',
  name: 'Translate',
  heading: 'Watch a model translate',
  lede: 'The transformer of the original paper: one half reads the English sentence, the other writes the French one and looks back at it. It was trained on short everyday sentences, and errs on longer ones.',
  folder: 'marian-tiny-en-fr',
  files: ['config.json', 'generation_config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'],
  load: Translator.load,
  view: (model) =>
    html`<translate-chapter .model=${model} .text=${sentences[0]} .examples=${sentences}></translate-chapter>`,
});
