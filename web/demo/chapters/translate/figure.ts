// Chapter 9's figure: source and target; below them the step's view, and the candidates for the token of the step.

import { type Numbers, percent } from 'clearformer/elements';
import { html, nothing, type TemplateResult } from 'lit';
import { fieldKey } from '../../book/field_keys.js';
import { Figure, type FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { within } from '../../book/within.js';
import type { words } from '../../words/en/translate.js';
import { codeOf } from './code.js';
import './faces.js';
import { panelOf } from './panels.js';
import { type Empty, rowsOf, type Told, tell, weightsOf } from './reading.js';
import { translateStyles } from './translate_styles.js';

const views = ['faces', 'read', 'write', 'cross', 'map', 'beams'] as const;
export type View = (typeof views)[number];

export interface Shown {
  readonly told: Told | Empty;
  /** The other search, greedy or beam, for comparison; and the translation without a forced prefix. */
  readonly other: Told | Empty;
  readonly free: Told | Empty;
}

export class FigureTranslate extends Figure<Shown, typeof words> {
  static override styles = [figureStyles, translateStyles];

  protected override key(): string {
    return ['t', 'f', 'b', 's', 'l', 'h', 'edit'].map((key) => this.value(key)).join('\n');
  }

  protected override async compute(): Promise<Shown> {
    const chosen = {
      text: this.value('t'),
      forced: this.value('f'),
      beams: this.value('b') === '4' ? 4 : 1,
      step: this.number('s'),
    };
    const told = await tell(this.book, chosen);
    const other = await tell(this.book, { ...chosen, beams: chosen.beams === 4 ? 1 : 4 });
    const free = await tell(this.book, { ...chosen, forced: 'none' });
    this.spineInputs = told.kind === 'told' ? told.inputs : undefined;
    if (told.kind === 'told') this.say(told.sentence);
    return { told, other, free };
  }

  override get blocks(): readonly number[] {
    return this.view === 'read' ? [1, 2, 3] : [];
  }

  get view(): View {
    return this.oneOf('v', views);
  }

  /** The chosen decoder block and head, clamped to the model's. */
  chosenHead({ pass }: Told): { layer: number; head: number } {
    const layers = Object.keys(pass.cache).filter((name) => name.endsWith('cross_attn.hook_pattern')).length;
    const layer = within(this.number('l'), layers);
    const heads = pass.cache[`decoder.${layer}.cross_attn.hook_pattern`]?.dims[1] ?? 1;
    return { layer, head: within(this.number('h'), heads) };
  }

  protected override nearest({ told }: Shown): Record<string, number | string> {
    if (told.kind === 'empty') return {};
    const { layer: l, head: h } = this.chosenHead(told);
    const f = this.value('f') === 'none' ? 'none' : told.forced.join('.');
    return { s: told.step, l, h, f };
  }

  protected override valuesOf({ told, free }: Shown): Record<string, string> {
    if (told.kind === 'empty') return {};
    const { layer, head } = this.chosenHead(told);
    const weights = weightsOf(told.pass, `decoder.${layer}.cross_attn.hook_pattern`, head).slice(told.step).data;
    const top = weights.indexOf(Math.max(...weights));
    const q = rowsOf(told.pass, `decoder.${layer}.cross_attn.hook_q`, head);
    return {
      sentence: told.sentence,
      free: free.kind === 'told' ? free.sentence : '',
      reads: String(told.source.length),
      token: told.target[told.step]?.label ?? '',
      share: percent(told.candidates.find(({ piece }) => piece.id === told.ids[told.step + 1])?.probability ?? 0),
      most: told.source[top]?.label ?? '',
      mostShare: percent(weights[top] ?? 0),
      dims: String(q.dims[1] ?? 0),
    };
  }

  /** The head of which the map says which word belongs to which. */
  protected override conditions(value: (key: string) => string): Record<string, string> {
    return value('l') === '2' && value('h') === '3' ? { isMap: '' } : {};
  }

  protected override draw(shown: Shown): TemplateResult {
    return html`<div class="view-${this.view} ${this.inClass ? 'large' : ''}">${this.#field()}${shown.told.kind === 'empty' ? html`<p class="told" role="alert">${this.words.labels.empty}</p>` : this.#told(shown, shown.told)}</div>`;
  }

  #field(): TemplateResult {
    const { labels } = this.words;
    return html`<form class="given" @submit=${this.#submit}>
      <textarea name="t" rows="1" aria-label=${labels.field} lang="en" .value=${this.value('t')} @keydown=${this.#keys}></textarea>
      <button class="primary">${labels.translate}</button>
      ${this.value('f') !== '' && this.value('f') !== 'none' ? html`<button type="button" class="plain" @click=${() => this.choose({ f: 'none', s: '0' })}>${labels.unforced}</button>` : nothing}
    </form>`;
  }

  #keys = (event: KeyboardEvent): void => {
    if (fieldKey(event) === 'confirm') this.#submit(event);
  };

  #submit = (event: Event): void => {
    event.preventDefault();
    const text = this.renderRoot.querySelector('textarea')?.value ?? '';
    this.choose({ t: text, f: 'none', s: undefined, q: undefined });
  };

  #told(shown: Shown, told: Told): TemplateResult {
    const { labels } = this.words;
    const { layer, head } = this.chosenHead(told);
    const hook = `decoder.${layer}.cross_attn.hook_pattern`;
    const full = this.view === 'cross' || this.view === 'beams';
    return html`${told.of > told.source.length ? html`<p class="told note">${filled(this.shell.cut, { read: told.source.length, of: told.of })}</p>` : nothing}
      ${told.unknown.length > 0 ? html`<p class="told" role="status">${filled(labels.unknown, { words: told.unknown.join(', ') })}</p>` : nothing}
      ${this.#faces(told, hook, head, weightsOf(told.pass, hook, head))}
      ${this.#stepper(told)}
      <div class="parts ${full ? 'full' : ''}">
        <div class="panel">${panelOf(this, shown, told)}</div>
        ${full ? nothing : this.#odds(told)}
      </div>`;
  }

  /** While a class guesses, the token of the step and all that follow are hidden. */
  #faces(told: Told, hook: string, head: number, weights: Numbers): TemplateResult {
    const { labels } = this.words;
    const [, columns = 0] = weights.dims;
    const shown = this.revealed ? told.target.length : told.step;
    const data = Array.prototype.slice.call(weights.data, 0, shown * columns);
    return html`<text-faces .numbers=${{ dims: [shown, columns], data }} source="${hook}[0, ${head}]" .reads=${told.source} .writes=${told.target.slice(0, shown)} .step=${told.step}
      .labels=${{ reads: labels.reads, writes: labels.writes }} @step-select=${(event: CustomEvent<{ index: number }>) => this.choose({ s: String(event.detail.index) })}></text-faces>`;
  }

  #stepper(told: Told): TemplateResult {
    const { labels } = this.words;
    const last = told.target.length - 1;
    const now = filled(labels.stepOf, { n: told.step + 1, of: last + 1 });
    return html`<div class="steps-row">
      <button type="button" class="plain" aria-label=${labels.before} ?disabled=${told.step === 0} @click=${() => this.choose({ s: String(told.step - 1) })}>←</button>
      <input type="range" min="0" max=${last} .value=${String(told.step)} aria-label=${labels.step} aria-valuetext=${now} @input=${(event: Event) => this.slide({ s: (event.target as HTMLInputElement).value })} />
      <button type="button" class="plain" aria-label=${labels.after} ?disabled=${told.step >= last} @click=${() => this.choose({ s: String(told.step + 1) })}>→</button>
      <span class="readout">${now}</span>
    </div>`;
  }

  #odds(told: Told): TemplateResult {
    const { labels } = this.words;
    if (!this.revealed) return html`<p class="so-far">?</p>`;
    const chosen = told.ids[told.step + 1];
    const items = told.candidates.map(({ piece, probability }) => ({
      label: piece.label,
      value: probability,
      selected: piece.id === chosen,
      note: piece.id === chosen && told.step < told.forced.length ? labels.forcedNote : undefined,
    }));
    return html`<div>
      <p class="readout">${labels.odds}</p>
      <cf-bars source="softmax(logits[0, ${told.step}])" label=${labels.odds} .items=${items} max="1" @bar-select=${(event: CustomEvent<{ index: number }>) => this.#force(told, event.detail.index)}></cf-bars>
    </div>`;
  }

  /** Keeps the target up to the step, then forces the chosen token; the model continues from there. */
  #force(told: Told, index: number): void {
    const id = told.candidates[index]?.piece.id;
    if (id === undefined) return;
    this.choose({ f: [...told.ids.slice(1, told.step + 1), id].join('.'), s: String(told.step) });
  }

  override code(): FigureCode {
    return codeOf(this);
  }
}

customElements.define('figure-translate', FigureTranslate);
