// The whole model in the margin of a chapter: the residual stream before the first block and after each, a column per
// token. It shows the chapter's blocks, is clickable, and shows which positions an edit changed downstream.

import type { Tensor } from 'clearformer';
import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { ThemeColours } from '../book/controllers.js';
import { filled } from '../book/markup.js';
import { paint, usualBound } from '../book/pixels.js';
import { activation, type PassInputs } from '../book/shelf.js';
import { transposed } from '../book/tensors.js';
import { vars } from '../book/vars.js';
import { ShellElement } from './shell_element.js';

interface Stream {
  /** [pos, d_model] of the first block's input and of each block's output. */
  readonly rows: readonly Tensor<'float32'>[];
  /** The first column changed by the edits, for each. */
  readonly changedFrom: readonly (number | undefined)[];
  readonly focus: number;
  readonly names: readonly string[];
}

const most = 64; // columns

class BookSpine extends ShellElement {
  static override properties: PropertyDeclarations = {
    inputs: { attribute: false },
    waiting: { attribute: false },
    here: { attribute: false },
    stream: { state: true },
  };
  /** The inputs of the figure's model; by default the sentence. */
  declare inputs: PassInputs | undefined;
  /** Whether the figure's inputs are not known yet. */
  declare waiting: boolean;
  /** The blocks that the figure shows, counted from 1; 0 is the first block's input. */
  declare here: readonly number[];
  declare private stream: Stream | undefined;
  #key = '';

  constructor() {
    super();
    new ThemeColours(this);
    this.waiting = false;
    this.here = [];
  }

  protected override willUpdate(): void {
    const { address, text, modelName, shelf } = this.book;
    const key = this.waiting
      ? ''
      : [
          shelf.adopted,
          this.inputs?.model ?? modelName,
          this.inputs?.key ?? text,
          address.get('edit'),
          address.get('q'),
        ].join('\n');
    if (key === this.#key) return;
    this.#key = key;
    if (this.waiting) {
      this.stream = undefined;
      return;
    }
    this.#read().then(
      (stream) => {
        if (this.#key === key) this.stream = stream;
      },
      () => {
        if (this.#key === key) this.stream = undefined; // the figure shows the error
      },
    );
  }

  async #read(): Promise<Stream | undefined> {
    const sentence = this.inputs ? undefined : await this.book.sentence(this.book.modelName, most);
    const inputs = this.inputs ?? sentence?.inputs;
    if (!inputs) return undefined;
    const { model } = await this.book.shelf.model(inputs.model);
    const names = streamNames(model.hooks().map(({ name }) => name));
    const { clean, now } = await this.book.passes(inputs, names);
    const read = names.filter((name) => name in now.cache);
    const tensors = read.map((name) => activation(now, name).slice(0));
    const before = now === clean ? tensors : read.map((name) => activation(clean, name).slice(0));
    const changedFrom = tensors.map((tensor, i) => firstDifference(tensor, before[i]));
    return { rows: tensors, changedFrom, focus: sentence?.focus ?? -1, names: read };
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.stream) return nothing;
    const { rows, changedFrom, focus } = this.stream;
    const columns = rows[0]?.dims[0] ?? 1;
    const width = 56 / columns;
    return html`<nav class="model" aria-label=${this.words.spine}>
      ${focus >= 0 ? html`<span class="focus" ${vars({ left: `${23 + (focus + 0.5) * width}px` })}></span>` : nothing}
      ${rows.map((_, i) => {
        const label = i === 0 ? this.words.spineInput : filled(this.words.spineBlock, { block: i });
        const from = changedFrom[i];
        return html`<button type="button" class=${this.here.includes(i) ? 'here' : ''} title=${label} aria-label="${i === 0 ? this.words.spineIn : i}: ${label}" @click=${() => this.#open(i)}>
          <span>${i === 0 ? this.words.spineIn : i}</span><canvas data-row=${i}></canvas>
          ${from === undefined ? nothing : html`<span class="changed" ${vars({ left: `${23 + from * width}px`, width: `${(columns - from) * width}px` })}></span>`}
        </button>`;
      })}
    </nav>`;
  }

  protected override updated(): void {
    if (!this.stream) return;
    const { rows } = this.stream;
    const height = Math.max(18, Math.min(66, (innerHeight - 140) / rows.length - 11));
    for (const canvas of this.querySelectorAll('canvas')) {
      const row = rows[Number(canvas.dataset.row)];
      if (!row) continue;
      paint(canvas, transposed(row).data, row.dims[0] ?? 0, usualBound(row.data)); // [d_model, pos]
      canvas.style.height = `${height}px`;
    }
  }

  #open(block: number): void {
    const { address } = this.book;
    if (block === 0) address.go('vectors');
    else if (address.chapter === 'head' || address.chapter === 'heads') address.set({ l: String(block - 1) }, 'push');
    else address.go('head', { l: String(block - 1) });
  }
}

/**
 * Hooks of the stream in the order of the pass: the first block's input, and each block's output after its last norm,
 * if any.
 */
function streamNames(all: readonly string[]): string[] {
  const first = all.filter((name) =>
    /(^|\.)blocks\.0\.hook_resid_pre$|^(encoder|decoder)\.0\.hook_resid_pre$/.test(name),
  );
  const leaving = all.filter((name) => /\.hook_resid_post$/.test(name));
  const normalized = new Set(all.filter((name) => name.endsWith('.hook_normalized_resid_post')));
  const last = leaving.map((name) => {
    const after = name.replace('hook_resid_post', 'hook_normalized_resid_post');
    return normalized.has(after) ? after : name;
  });
  const stack = first[0]?.split('.')[0] ?? 'blocks';
  return [...first.slice(0, 1), ...last.filter((name) => name.startsWith(`${stack}.`))];
}

/** The first row in which two tensors [pos, d] differ. */
function firstDifference(one: Tensor<'float32'>, other: Tensor<'float32'> | undefined): number | undefined {
  if (!other || one === other) return undefined;
  const width = one.dims[1] ?? 1;
  const at = one.data.findIndex((value, i) => !Object.is(value, other.data[i]));
  return at < 0 ? undefined : Math.floor(at / width);
}

customElements.define('book-spine', BookSpine);
