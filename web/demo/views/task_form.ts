// The form of a task: fields and files for the model, its answer, and what the text's tokens look at.

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
import type { Answer, OpenForm, Reading } from '../state/own_forms.js';
import { Attempt } from './attempt.js';
import './attention_reader.js';
import './file_pick.js';
import './score_bars.js';
import { shared } from './styles.js';

interface Outcome {
  answer: Answer;
  reading: Reading | undefined;
  milliseconds: number;
}

export class TaskForm extends LitElement {
  static override properties: PropertyDeclarations = {
    open: { attribute: false },
    texts: { state: true },
    files: { state: true },
    outcome: { state: true },
  };
  declare open: OpenForm;
  declare private texts: readonly string[];
  declare private files: readonly File[];
  declare private outcome: Outcome | undefined;
  #attempt = new Attempt(this, 'Running');

  static override styles = [
    shared,
    css`
      :host { display: grid; gap: var(--gap); }
      form { display: grid; gap: 10px; }
      label { display: grid; gap: 3px; font-size: 0.8rem; color: var(--muted); }
      textarea { width: 100%; font: 1.05rem / 1.5 var(--font-text); color: var(--ink); }
      .primary { justify-self: start; min-width: 96px; }
      score-bars { max-width: 640px; }
      output { display: block; font-size: 1.2rem; margin-top: 6px; }
    `,
  ];

  constructor() {
    super();
    this.texts = [];
    this.files = [];
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('open')) return;
    const { form, tokenizer } = this.open;
    this.texts = form.fields.map(({ value }) => value.replace('{mask}', tokenizer?.mask_token ?? ''));
    this.files = [];
    this.outcome = undefined;
    this.#attempt.reset();
  }

  override render(): TemplateResult {
    const { form } = this.open;
    const ready = this.files.length >= (form.files?.count ?? 0) && !this.#attempt.busy;
    return html`
      <form class="card" @submit=${this.#onSubmit} aria-busy=${this.#attempt.busy ? 'true' : 'false'}>
        ${form.fields.map(({ label }, i) => this.#field(label, i))}
        ${form.files ? this.#pick(form.files) : nothing}
        <button type="submit" class="primary" id="run" ?disabled=${!ready}>Run</button>
        ${this.#attempt.note()}
      </form>
      ${this.outcome ? this.#answer(this.outcome) : nothing}`;
  }

  #field(label: string, i: number): TemplateResult {
    return html`<label>${label}<textarea id=${`field-${i}`} rows="2" spellcheck="false" .value=${this.texts[i] ?? ''} @input=${(
      event: Event,
    ) => {
      this.texts = this.texts.with(i, (event.target as HTMLTextAreaElement).value);
    }}></textarea></label>`;
  }

  #pick({ kind, count }: { kind: 'image' | 'audio'; count: number }): TemplateResult {
    const what = kind === 'image' ? (count === 1 ? 'an image' : `${count} images`) : 'a sound, such as a WAV file';
    const given = this.files.map(({ name }) => name).join(', ');
    return html`<file-pick heading=${given || `Drop ${what} here`} accept=${`${kind}/*`} .buttons=${[{ id: 'input', label: `Choose ${what}`, folder: false }]}
      @files=${(event: CustomEvent<File[]>) => {
        this.files = [...this.files, ...event.detail].slice(-count);
      }}></file-pick>`;
  }

  #answer({ answer, reading, milliseconds }: Outcome): TemplateResult {
    return html`<section class="card" aria-labelledby="answer-title">
        <h2 id="answer-title">The answer</h2>
        ${'text' in answer ? html`<output id="answer" aria-live="polite">${answer.text}</output>` : html`<score-bars .classes=${answer.classes}></score-bars>`}
        <p class="hint number">Computed in ${amount(milliseconds)} ms.</p>
      </section>
      ${
        reading
          ? html`<attention-reader .maps=${reading.maps} .queries=${reading.tokens} .keys=${reading.tokens}></attention-reader>`
          : nothing
      }`;
  }

  #onSubmit(event: Event): void {
    event.preventDefault();
    void this.#run();
  }

  #run(): Promise<void> {
    const { open, texts, files } = this;
    return this.#attempt.run(async (signal) => {
      const begun = performance.now();
      const answer = await open.run({ texts, files }, signal);
      const milliseconds = performance.now() - begun;
      const reading = await open.read({ texts, files }, signal);
      if (!signal.aborted) this.outcome = { answer, reading, milliseconds };
    });
  }
}

customElements.define('task-form', TaskForm);
