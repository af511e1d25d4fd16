// The form of a task: fields and files for the model, and its answer.

import { decimals } from 'clearformer/elements';
import {
  css,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import { errorText } from '../../book/error_text.js';
import { figureStyles } from '../../book/figure_styles.js';
import type { words as english } from '../../words/en/own.js';
import type { ShellWords } from '../../words/en/shell.js';
import './file_pick.js';
import type { Answer, OpenForm } from './forms.js';

class TaskForm extends LitElement {
  static override properties: PropertyDeclarations = {
    open: { attribute: false },
    labels: { attribute: false },
    shell: { attribute: false },
    texts: { state: true },
    files: { state: true },
    answer: { state: true },
    failure: { state: true },
    busy: { state: true },
  };
  declare open: OpenForm;
  declare labels: typeof english.labels;
  declare shell: ShellWords;
  declare private texts: readonly string[];
  declare private files: readonly File[];
  declare private answer: Answer | undefined;
  declare private failure: unknown;
  declare private busy: boolean;
  #controller: AbortController | undefined;

  static override styles = [
    figureStyles,
    css`
      form { display: grid; gap: 10px; }
      label { display: grid; gap: 3px; color: var(--cf-muted); }
      textarea { width: 100%; font: max(18px, var(--cf-min-font-size)) / 1.5 var(--cf-serif); color: var(--cf-ink); }
      .primary { justify-self: start; }
      output { display: block; font: max(20px, var(--cf-min-font-size)) / 1.5 var(--cf-serif); margin-top: 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
    `,
  ];

  constructor() {
    super();
    this.texts = [];
    this.files = [];
    this.busy = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#controller?.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('open')) return;
    const { form, tokenizer } = this.open;
    this.texts = form.fields.map(({ value }) => value.replace('{mask}', tokenizer?.mask_token ?? ''));
    this.files = [];
    this.answer = undefined;
    this.failure = undefined;
  }

  protected override render(): TemplateResult {
    const { form } = this.open;
    const ready = this.files.length >= (form.files?.count ?? 0);
    return html`<form @submit=${this.#submit} aria-busy=${this.busy}>
        ${form.fields.map(
          ({ label }, i) =>
            html`<label>${this.labels[label]}<textarea rows="2" spellcheck="false" .value=${this.texts[i] ?? ''} @input=${(
              event: Event,
            ) => {
              this.texts = this.texts.with(i, (event.target as HTMLTextAreaElement).value);
            }}></textarea></label>`,
        )}
        ${form.files ? this.#pick(form.files) : nothing}
        <button class="primary" ?disabled=${!ready && !this.busy}>${this.busy ? this.labels.stop : this.labels.run}</button>
      </form>
      ${this.failure === undefined ? nothing : this.#failed()}
      ${this.answer ? this.#answer(this.answer) : nothing}`;
  }

  #pick({ kind, count }: { kind: 'image' | 'audio'; count: number }): TemplateResult {
    const what = kind === 'image' ? (count === 1 ? this.labels.anImage : this.labels.twoImages) : this.labels.aSound;
    const given = this.files.map(({ name }) => name).join(', ');
    return html`<file-pick heading=${given || what} accept=${`${kind}/*`} .buttons=${[{ id: 'input', label: what, folder: false }]}
      @files=${(event: CustomEvent<File[]>) => {
        this.files = [...this.files, ...event.detail].slice(-count);
      }}></file-pick>`;
  }

  #answer(answer: Answer): TemplateResult {
    if ('text' in answer) return html`<output>${answer.text}</output>`;
    if ('likeness' in answer) return html`<output>${this.labels.likeness} ${decimals(answer.likeness, 4)}</output>`;
    if (answer.classes.length === 0) return html`<output>${this.labels.nothing}</output>`;
    const items = answer.classes.map(({ label, score }) => ({ label, value: score }));
    return html`<cf-bars readonly max="1" label=${this.labels.run} source="pipeline('${this.open.task}', folder)(…)" .items=${items}></cf-bars>`;
  }

  #failed(): TemplateResult {
    const { title, message, advice, code } = errorText(this.failure, this.shell);
    return html`<div class="failed" role="alert"><p><b>${title}</b></p><p>${message}</p>${advice ? html`<p>${advice}</p>` : nothing}${code ? html`<code>${code}</code>` : nothing}</div>`;
  }

  #submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (this.busy) {
      this.#controller?.abort();
      return;
    }
    const controller = new AbortController();
    this.#controller = controller;
    this.busy = true;
    this.failure = undefined;
    try {
      const { open } = this;
      const tell = (answer: Answer): void => {
        if (this.open === open) this.answer = answer;
      };
      this.answer = undefined;
      this.answer = await open.run({ texts: this.texts, files: this.files }, controller.signal, tell);
    } catch (failure) {
      if (controller.signal.aborted) return; // what was written until then stays
      this.answer = undefined;
      this.failure = failure;
    } finally {
      this.busy = false;
    }
  };
}

customElements.define('task-form', TaskForm);
