// Chapter: a model sorts six letters. Small enough to see how its heads find the next letter.

import { css, html, nothing, type TemplateResult } from 'lit';
import { letterCount, lettersOf, shuffled, sorted } from '../state/letters.js';
import { defaultSettings } from '../state/settings.js';
import { LoadedModel } from '../state/text_model.js';
import { shared } from '../views/styles.js';
import { bundledChapter } from './chapter.js';
import { WritingChapter } from './writing_chapter.js';

/** Letters a second. */
const slowPace = 2.5;

export class SortChapter extends WritingChapter {
  protected override readonly head = { layer: 0, head: 2 };

  static override styles = [
    shared,
    css`
      :host { display: grid; gap: var(--gap); }
      form { display: flex; flex-wrap: wrap; gap: 10px 18px; align-items: end; }
      label { display: grid; gap: 3px; font-size: 0.8rem; color: var(--muted); }
      input { width: 9.5em; min-height: 40px; font: 1.15rem var(--font-code); letter-spacing: 0.3em; color: var(--ink); }
      button { min-height: 40px; }
      .actions { display: flex; gap: 8px; }
      .result { margin-left: auto; align-self: center; }
      .result b { font: 600 1.15rem var(--font-code); letter-spacing: 0.3em; }
      written-text { --strip: 4rem; --candidates: 14rem; --token-spacing: 0.3em; }
      @media (max-width: 560px) { .result { margin-left: 0; } }
    `,
  ];

  constructor() {
    super({
      ...defaultSettings,
      prompt: 'CBABAC',
      do_sample: false,
      max_new_tokens: letterCount,
      pace: slowPace,
    });
  }

  override render(): TemplateResult {
    const { prompt } = this.settings;
    return html`
      <form class="card" @submit=${this.#onSubmit}>
        <label>Six letters, of A, B and C
          <input type="text" id="letters" autocomplete="off" autocapitalize="characters" spellcheck="false" .value=${prompt} @input=${this.#onInput} /></label>
        <div class="actions">
          <button type="submit" class="primary" id="sort" ?disabled=${prompt.length !== letterCount}>Sort</button>
          <button type="button" id="shuffle" @click=${this.#onShuffle}>Other letters</button>
        </div>
        ${this.#result()}
      </form>
      ${this.written()}`;
  }

  #result(): TemplateResult | typeof nothing {
    const { tokens } = this.session;
    if (this.phase !== 'idle' || this.session.ending === undefined || tokens.length !== 2 * letterCount) return nothing;
    const written = (from: number): string =>
      tokens
        .slice(from, from + letterCount)
        .map((token) => token.text)
        .join('');
    const right = written(letterCount) === sorted(written(0));
    return html`<p class="result" role="status">It wrote <b>${written(letterCount)}</b> ${right ? '✓ sorted' : '✗ not sorted'}</p>`;
  }

  #onInput(event: Event): void {
    const input = event.target as HTMLInputElement;
    input.value = lettersOf(input.value);
    this.settings = { ...this.settings, prompt: input.value };
  }

  #onSubmit(event: Event): void {
    event.preventDefault();
    this.act('write');
  }

  #onShuffle(): void {
    this.settings = { ...this.settings, prompt: shuffled() };
    this.act('write');
  }
}

customElements.define('sort-chapter', SortChapter);

export const sort = bundledChapter({
  id: 'sort',
  name: 'Sort letters',
  heading: 'Watch a model sort six letters',
  lede: 'The same kind of model as the one that writes stories, trained for one thing only: after six letters it writes them again in order. Head 3 of layer 1 gives about two thirds of its weight to letters like the one that is written next.',
  folder: 'gpt-nano-sort',
  files: ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'],
  load: LoadedModel.load,
  view: (model) => html`<sort-chapter .model=${model}></sort-chapter>`,
});
