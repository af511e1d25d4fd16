// The home screen: the sentence, the model as tiles, and the next token's probabilities, to continue the text with.

import { css, html, nothing, type TemplateResult } from 'lit';
import { chapterIds } from '../../book/chapter.js';
import { chapters } from '../../book/chapters.js';
import { cachedTl, inputsOf } from '../../book/code_parts.js';
import { fieldKey } from '../../book/field_keys.js';
import { Figure, type FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled, markup } from '../../book/markup.js';
import { plainSettings } from '../../book/plain_settings.js';
import type { words } from '../../words/en/next.js';
import { type Guess, type Reading, read } from './reading.js';
import './tiles.js';

class FigureNext extends Figure<Reading, typeof words> {
  static override styles = [
    figureStyles,
    css`
      .screen { display: grid; grid-template-columns: minmax(340px, 30fr) minmax(0, 52fr); gap: 64px; align-items: center; min-height: calc(100vh - 60px); }
      h1 { font: 600 46px/1.08 var(--cf-serif); letter-spacing: -0.022em; margin: 0 0 18px; text-wrap: balance; }
      .lead { font: max(19px, var(--cf-min-font-size)) / 1.58 var(--cf-serif); max-width: 62ch; text-wrap: pretty; }
      .text { font: 31px/1.35 var(--cf-serif); margin: 26px 0 30px; letter-spacing: -0.01em; overflow-wrap: anywhere; white-space: pre-wrap; max-height: 45vh; overflow: auto; }
      .text .given { border: 0; background: none; padding: 0; font: inherit; letter-spacing: inherit; cursor: text; text-align: left; white-space: pre-wrap; }
      .text .given:hover { background: var(--cf-sunken); }
      .text .new { background: var(--cf-accent-soft); border-radius: 5px; padding: 1px 3px; cursor: pointer; border: 0; font: inherit; letter-spacing: inherit; white-space: pre-wrap; }
      .gap { display: inline-block; min-width: 1.3em; margin-left: 0.18em; border-bottom: 2px solid var(--cf-accent); }
      .row { display: flex; gap: 10px; align-items: center; flex-wrap: wrap; }
      .row .primary { padding: 11px 22px; text-decoration: none; font: 550 max(16px, var(--cf-min-font-size)) var(--cf-sans); }
      .links { font: max(14px, var(--cf-min-font-size)) / 1.7 var(--cf-sans); color: var(--cf-muted); margin-top: 36px; }
      .links a { color: inherit; text-underline-offset: 3px; }
      textarea { width: 100%; font: 26px/1.35 var(--cf-serif); margin: 20px 0 8px; min-height: 110px; }
      .legend { color: var(--cf-muted); font-size: max(14px, var(--cf-min-font-size)); margin: 14px 0 16px; }
      .plus { color: #d24b69; } .minus { color: #3a7fc4; }
      .toc { columns: 3; column-gap: 48px; margin: 0; padding: 40px 0 20px; list-style: none; font: max(17px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); border-top: 1px solid var(--cf-line); }
      .toc li { display: grid; grid-template-columns: 34px 1fr; padding: 7px 0; break-inside: avoid; }
      .toc i { font: max(14px, var(--cf-min-font-size)) / max(24px, 1.71 * var(--cf-min-font-size)) var(--cf-sans); color: var(--cf-muted); font-variant-numeric: tabular-nums; }
      .toc a { color: inherit; text-underline-offset: 4px; text-decoration-thickness: 1px; }
      .toc span { color: var(--cf-muted); font: max(14px, var(--cf-min-font-size)) / 1.4 var(--cf-sans); display: block; } :host(.large) .text { font-size: calc(38px * var(--wall)); margin: calc(30px * var(--wall)) 0 calc(34px * var(--wall)); }
      :host(.large) .screen { grid-template-columns: minmax(0, 32fr) minmax(0, 52fr); gap: calc(48px * var(--wall)); min-height: calc(100vh - var(--bar) - 16px); }
      :host(.large) .links, :host(.large) .toc { display: none; }
      @media (max-width: 900px) {
        .screen { display: block; }
        h1 { font-size: 36px; margin-top: 28px; } .text { font-size: 26px; margin: 18px 0 20px; } .lead { font-size: 18px; }
        .toc { columns: 1; }
        .picture { margin-top: 28px; }
      }
    `,
  ];
  #editing = false;
  #shown = '';
  #writing: AbortController | undefined;

  protected override key(): string {
    return [this.book.modelName, this.book.text, this.value('w')].join('\n');
  }

  protected override compute(): Promise<Reading> {
    return read(this.book, this.value('w'));
  }

  protected override valuesOf({ guesses: [best] }: Reading): Record<string, string> {
    return { token: best?.piece.label ?? '' };
  }

  protected override updated(): void {
    this.classList.toggle('large', this.inClass);
    const text = this.renderRoot.querySelector('.text');
    const shown = text?.textContent ?? '';
    if (text && shown !== this.#shown) text.scrollTop = text.scrollHeight; // of a long text the end is what goes on
    this.#shown = shown;
  }

  protected override nearest({ appended }: Reading): Record<string, string> {
    return { w: appended.join('.') };
  }

  protected override draw(reading: Reading): TemplateResult {
    const { labels } = this.words;
    return this.#screen(
      html`${this.#editing ? this.#field() : this.#text(reading)}
          <div class="row">
            <a class="primary" href=${this.book.address.href('vectors')}>${filled(labels.why ?? '', this.values)}</a>
            <button type="button" class="plain" ?disabled=${reading.full} @click=${this.#write}>${this.#writing ? labels.stop : labels.writeOn}</button>
            ${reading.written.length > 0 ? html`<button type="button" class="plain" @click=${() => this.choose({ w: undefined })}>${labels.takeBack}</button>` : nothing}
          </div>
          ${reading.sentence.of > reading.sentence.tokens.length ? html`<p class="verdict">${filled(this.shell.cut, { read: reading.sentence.tokens.length, of: reading.sentence.of })}</p>` : nothing}
          ${reading.full ? html`<p class="verdict">${filled(labels.full ?? '', { n: reading.ids.length })}</p>` : nothing}`,
      html`<model-tiles .reading=${reading} .labels=${labels} .still=${this.value('w') !== ''} .minFont=${this.minFont}></model-tiles>
          <p class="legend">${labels.tiles} <span class="plus">■</span> ${labels.above} <span class="minus">■</span> ${labels.below} ${labels.lines}</p>
          <cf-bars source="softmax(logits[0, -1])" label=${labels.odds} .items=${reading.guesses.slice(0, this.inClass ? 6 : undefined).map(asItem)} max="1" @bar-select=${(event: CustomEvent<{ index: number }>) => this.#append(reading, event.detail.index)}></cf-bars>`,
    );
  }

  protected override around(state: TemplateResult): TemplateResult {
    return this.words ? this.#screen(nothing, state) : state;
  }

  /** The title, the lead and the contents, with what the model says of the sentence. */
  #screen(text: TemplateResult | typeof nothing, picture: TemplateResult): TemplateResult {
    const { title, lead, labels } = this.words;
    const { address } = this.book;
    return html`<div class="screen">
        <div>
          <h1>${title}</h1>
          <p class="lead">${markup(lead, this.values, address)}</p>
          ${text}
          <p class="links">${markup(labels.links ?? '', this.values, address)}</p>
        </div>
        <div class="picture">${picture}</div>
      </div>
      <ol class="toc" start="0">${chapters.map(({ id }) => html`<li><i>${chapterIds.indexOf(id)}</i><div><a href=${address.href(id)}>${this.shell.chapters[id].title}</a><span>${this.shell.chapters[id].about}</span></div></li>`)}</ol>`;
  }

  #text({ sentence, written, appended }: Reading): TemplateResult {
    const { labels } = this.words;
    return html`<p class="text"><button type="button" class="given" title=${this.shell.changeSentence} @click=${this.#edit}><span lang=${this.book.textLanguage}>${
      sentence.tokens
        .filter(({ special }) => !special)
        .map(({ text }) => text)
        .join('')
        .trimStart() || '∅'
    }</span><span class="sr-only">${this.shell.changeSentence}</span></button>${written.map(
      ({ text }, i) =>
        html`<button type="button" class="new" title=${labels.backTo} @click=${() => this.choose({ w: appended.slice(0, i).join('.') || undefined })}><span lang=${this.book.textLanguage}>${text}</span><span class="sr-only">${labels.backTo}</span></button>`,
    )}<span class="gap" aria-hidden="true">&nbsp;</span></p>`;
  }

  #field(): TemplateResult {
    return html`<form @submit=${this.#submit}>
      <textarea lang=${this.book.textLanguage} aria-label=${this.shell.sentenceField} .value=${this.book.text} @keydown=${this.#fieldKeys}></textarea>
      <p class="row"><button class="primary">${this.shell.readIt}</button><button type="button" class="plain" @click=${this.#leave}>${this.shell.cancel}</button></p>
    </form>`;
  }

  #edit = async (): Promise<void> => {
    this.#editing = true;
    this.requestUpdate();
    await this.updateComplete;
    this.renderRoot.querySelector('textarea')?.select();
  };

  /** Closes the field; the focus goes back to its button. */
  #leave = async (): Promise<void> => {
    this.#editing = false;
    this.requestUpdate();
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('.given')?.focus();
  };

  #fieldKeys = (event: KeyboardEvent): void => {
    const key = fieldKey(event);
    if (key === 'leave') void this.#leave();
    if (key === 'confirm') this.#submit(event);
  };

  #submit = (event: Event): void => {
    event.preventDefault();
    const text = this.renderRoot.querySelector('textarea')?.value ?? '';
    void this.#leave();
    this.choose({ t: text, w: undefined, q: undefined });
  };

  #append({ guesses, appended }: Reading, index: number): void {
    const id = guesses[index]?.piece.id;
    if (id !== undefined) this.choose({ w: [...appended, id].join('.') });
  }

  /** Appends the most probable token repeatedly, until stopped or for twenty tokens. */
  #write = async (): Promise<void> => {
    if (this.#writing) {
      this.#writing.abort();
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    this.#writing = controller;
    this.requestUpdate();
    try {
      await this.#writeOn(signal);
    } catch (error) {
      if (!signal.aborted) this.failure = error;
    } finally {
      this.#writing = undefined;
      this.requestUpdate();
    }
  };

  /** Ends, too, when the sentence, the model or what is written becomes another one; one step back takes all back. */
  async #writeOn(signal: AbortSignal): Promise<void> {
    let shown = this.key();
    const written = [...(this.data?.appended ?? [])];
    const { writer, model } = await this.book.shelf.model(this.book.modelName);
    const sentence = await this.book.sentence();
    if (!writer) return;
    const input_ids = [[...sentence.ids, ...written]];
    const max_new_tokens = Math.min(20, model.cfg.n_ctx - sentence.ids.length - written.length);
    let add = this.choose;
    for await (const { token_id } of writer.generate_stream(
      { input_ids },
      { ...plainSettings(writer), max_new_tokens, do_sample: false, signal },
    )) {
      if (signal.aborted || this.key() !== shown) return;
      written.push(token_id);
      add.call(this, { w: written.join('.') });
      add = this.slide;
      shown = this.key();
      await this.settled();
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#writing?.abort();
  }

  override code(): FigureCode {
    const { book, data } = this;
    const inputs = inputsOf(data?.written.length ? data.ids : [], book.text, data?.sentence.inputs, data?.sentence.of);
    return {
      js: `${inputs.js}const [logits, cache] = await model.run_with_cache(inputs, { names_filter: 'blocks.*.hook_resid_post' });\nconst odds = await softmax(logits.slice(0, -1));\nconst lens = await logitLens(model, inputs, { pos: -1 });`,
      cpp: `${inputs.cpp}Trace trace;\ntrace.capture("blocks.*.hook_resid_post");\nauto outputs = model->forward(inputs, &trace);\noutputs.at("logits");`,
      tl: `${cachedTl(inputs.tl)}\nlogits[0, -1].softmax(-1).topk(8)`,
    };
  }
}

const asItem = ({ piece, probability }: Guess): { label: string; value: number } => ({
  label: piece.label,
  value: probability,
});

customElements.define('figure-next', FigureNext);
