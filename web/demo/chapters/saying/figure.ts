// The figure of chapter 8: the distribution of the next token before and after truncation, the wheel and a hundred
// samples, beams as a tree, the logit lens, and logit attribution.

import type { Drawn } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { within } from '../../book/within.js';
import type { words } from '../../words/en/saying.js';
import { type Beams, beams } from './beams.js';
import { beamsView } from './beams_view.js';
import { codeOf } from './code.js';
import { type Attribution, attribution, type Lens, lens } from './inside.js';
import { lensView, whoView } from './inside_view.js';
import {
  type Draws,
  draws,
  hundred,
  type Odds,
  oddsOf,
  type Prompt,
  promptOf,
  type Settings,
  settingsOf,
} from './odds.js';
import { columnOf, columnsOf, oddsView } from './odds_view.js';
import { sayingStyles } from './saying_styles.js';
import { summary } from './summary.js';
import { drawsView } from './wheel_view.js';

const views = ['odds', 'draws', 'beams', 'lens', 'who'] as const;
export type View = (typeof views)[number];

export interface Data {
  readonly view: View;
  readonly prompt: Prompt;
  readonly settings: Settings;
  readonly odds: Odds;
  readonly draws?: Draws;
  readonly beams?: Beams;
  readonly lens?: Lens;
  readonly attribution?: Attribution;
}

export class FigureSaying extends MeasuredFigure<Data, typeof words> {
  static override styles = [figureStyles, sayingStyles];

  get view(): View {
    return this.oneOf('view', views);
  }

  /** The tokens of the columns, which have the order of the logits, and may be a part of the vocabulary. */
  columns(): readonly Drawn[] {
    if (this.view !== 'odds' || !this.data) return [];
    const ids = Int32Array.from(columnsOf(this, this.data.odds));
    return [{ source: 'token_ids of the columns', numbers: { dims: [ids.length], data: ids } }];
  }

  get settings(): Settings {
    return settingsOf((key) => this.value(key));
  }

  get seed(): number {
    return within(this.number('seed'), Number.MAX_SAFE_INTEGER);
  }

  get beamWidth(): number {
    return Math.max(2, Math.min(5, Math.round(this.number('beams') || 3)));
  }

  protected override key(): string {
    const { temperature, top_k, top_p } = this.settings;
    return [
      this.book.modelName,
      this.book.text,
      this.value('w'),
      this.view,
      temperature,
      top_k,
      top_p,
      this.seed,
      this.beamWidth,
    ].join('\n');
  }

  protected override async compute(signal: AbortSignal): Promise<Data> {
    const { book, view, settings } = this;
    const prompt = await promptOf(book, this.value('w'));
    const odds = await oddsOf(book, prompt, settings);
    return {
      ...{ view, prompt, settings, odds },
      ...(view === 'draws' && { draws: await draws(prompt, settings, { count: hundred, seed: this.seed }) }),
      ...(view === 'beams' && { beams: await beams(prompt, this.beamWidth, signal) }),
      ...(view === 'lens' && { lens: await lens(prompt, signal) }),
      ...(view === 'who' && { attribution: await attribution(prompt, odds.logits.data, signal) }),
    };
  }

  protected override nearest({ view, prompt, settings, odds }: Data): Record<string, number | string> {
    const { temperature: temp, top_k: k, top_p: p } = settings;
    const column = view === 'odds' ? { id: columnOf(this, odds) } : {};
    return { w: prompt.appended.join('.'), temp, k, p, seed: this.seed, beams: this.beamWidth, ...column };
  }

  protected override valuesOf(data: Data): Record<string, string> {
    return summary(data);
  }

  protected override draw(data: Data): TemplateResult {
    const parts: Readonly<Record<View, () => TemplateResult>> = {
      odds: () => oddsView(this, data),
      draws: () => drawsView(this, data),
      beams: () => beamsView(this, data),
      lens: () => lensView(this, data),
      who: () => whoView(this, data),
    };
    return html`<div class="all ${this.inClass ? 'large' : ''}">${this.#text(data)}${this.#controls(data)}${parts[data.view]()}</div>`;
  }

  /** The end of the text, with the appended tokens, each of which can be removed. */
  #text({ prompt }: Data): TemplateResult {
    const { labels } = this.words;
    const { tokens, sentence, of } = prompt;
    const from = Math.max(0, sentence - 24);
    const given = tokens.slice(from, sentence).filter(({ special }) => !special);
    const kept = prompt.appended;
    if (this.inClass && kept.length === 0) return html``; // the bar shows it
    return html`<p class="text">${from > 0 ? '… ' : ''}<span lang=${this.book.textLanguage}>${given
      .map(({ text }) => text)
      .join('')
      .trimStart()}</span>${tokens
      .slice(sentence)
      .map(
        ({ text }, i) =>
          html`<button type="button" class="new" title=${labels.backTo} @click=${() => this.choose({ w: kept.slice(0, i).join('.') || undefined })}><span lang=${this.book.textLanguage}>${text}</span><span class="sr-only">${labels.backTo}</span></button>`,
      )}<span class="gap" aria-hidden="true">&nbsp;</span>${of > sentence ? html` <span class="cut">${filled(this.shell.cut, { read: sentence, of })}</span>` : ''}</p>`;
  }

  #controls({ settings }: Data): TemplateResult {
    const { labels } = this.words;
    const sampled = this.view === 'odds' || this.view === 'draws';
    return html`<div class="controls">
      ${this.choice({ key: 'view', name: labels.show, options: views.map((view) => [view, labels[view]] as const), chosen: this.view })}
      ${sampled ? html`${this.#slider('temp', labels.temperature, { least: 0.1, most: 3, step: 0.1 }, settings.temperature)}${this.#slider('k', labels.topK, { least: 0, most: 40, step: 1 }, settings.top_k)}${this.#slider('p', labels.topP, { least: 0.05, most: 1, step: 0.05 }, settings.top_p)}` : ''}
      ${this.view === 'beams' ? this.choice({ key: 'beams', name: labels.width, options: ['2', '3', '4', '5'].map((n) => [n, n] as const), chosen: String(this.beamWidth) }) : ''}
    </div>`;
  }

  #slider(
    key: string,
    name: string,
    { least, most, step }: { least: number; most: number; step: number },
    value: number,
  ): TemplateResult {
    const shown =
      key === 'k' && value === 0
        ? this.words.labels.all
        : key === 'p' && value === 1
          ? this.words.labels.all
          : String(value);
    const move = ({ target }: Event): void => this.slide({ [key]: (target as HTMLInputElement).value });
    return html`<span class="slider"><span aria-hidden="true">${name}</span><input type="range" aria-label=${name} aria-valuetext=${shown} min=${least} max=${most} step=${step} .value=${String(value)} @input=${move} /><span class="value" aria-hidden="true">${shown}</span></span>`;
  }

  /** Appends a token and computes the next distribution. */
  writeOn(id: number): void {
    this.choose({ w: [...(this.data?.prompt.appended ?? []), id].join('.') });
  }

  override code(): FigureCode {
    return codeOf(this);
  }
}

customElements.define('figure-saying', FigureSaying);
