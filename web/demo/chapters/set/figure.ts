// The figure of chapter 2: tokens to permute, their outputs before and after, and a meter of the difference.

import { decimals, four, spoken } from 'clearformer/elements';
import { css, html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { Figure, type FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { vars } from '../../book/vars.js';
import type { words } from '../../words/en/set.js';
import {
  fittingLetters,
  type Guess,
  type Letters,
  lettersMoved,
  mostTokens,
  type Story,
  storyMoved,
} from './reading.js';
import './rows.js';
import { seen } from './rows.js';

/** The meter shows three decimals. */
const three = (value: number): string => decimals(value, 3);
const square = (side: number): { width: number; height: number } => ({ width: side, height: side });

type SetData =
  | { readonly view: 'letters'; readonly moved: Letters }
  | { readonly view: 'story'; readonly moved: Story };

class FigureSet extends Figure<SetData, typeof words> {
  static override styles = [
    figureStyles,
    css`
      .field input { width: 11em; font: max(17px, var(--cf-min-font-size)) var(--cf-serif); letter-spacing: 0.08em; }
      .all { container-type: inline-size; }
      .body { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 30px; align-items: start; }
      .meter { display: flex; align-items: center; gap: 16px; margin: 14px 0 6px; }
      .track { flex: 1; height: 12px; border-radius: 2px; background: var(--cf-sunken); max-width: 420px; }
      .track > div { height: 100%; width: calc(var(--share) * 100%); min-width: 2px; border-radius: 2px; background: var(--cf-k); } @media (prefers-reduced-motion: no-preference) { .track > div { transition: width 0.25s; } } .off .track > div { background: var(--cf-wrong); }
      .meter b { font: 600 26px var(--cf-serif); font-variant-numeric: tabular-nums; } .off b { color: var(--cf-wrong); }
      .answers { display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr)); gap: 10px 34px; margin-top: 8px; } h3 { font: 600 max(14px, var(--cf-min-font-size)) var(--cf-sans); margin: 0 0 4px; }
      .large .meter b { font-size: calc(38px * var(--wall)); } .large .controls { display: inline-flex; margin: 0 calc(30px * var(--wall)) 12px 0; }
      .large .both { display: grid; grid-template-columns: minmax(0, 54fr) minmax(0, 46fr); gap: 0 calc(44px * var(--wall)); align-items: start; } .large .answers { grid-template-columns: minmax(0, 1fr); margin: 0; gap: 18px; } .large .both .track { max-width: calc(260px * var(--wall)); }
      @container (max-width: 520px) { .body { grid-template-columns: minmax(0, 1fr); gap: 14px; } }
      @media (max-width: 900px) {
        .all { display: flex; flex-direction: column; } .body { display: contents; } .weights { order: 1; margin-top: 10px; } .controls { gap: 4px 14px; margin-bottom: 6px; font-size: 14px; } .field input { width: 8em; }
        .meter { margin: 6px 0 2px; position: sticky; bottom: 0; background: var(--cf-paper); } .meter b { font-size: 19px; }
      }
    `,
  ];

  get #view(): 'letters' | 'story' {
    return this.value('v') === 'story' ? 'story' : 'letters';
  }

  get #text(): string {
    if (this.#view === 'story') return this.book.text;
    return fittingLetters(this.value('letters')) || (this.chapter.defaults.letters ?? '');
  }

  protected override key(): string {
    return [this.#view, this.#text, ...['o', 'pos', 'mask'].map((key) => this.value(key))].join('\n');
  }

  protected override async compute(): Promise<SetData> {
    const order = this.value('o');
    if (this.#view === 'story') return { view: 'story', moved: await storyMoved(this.book, this.#text, order) };
    const asked = { positions: this.value('pos') === '1', causal: this.value('mask') === '1' };
    return { view: 'letters', moved: await lettersMoved({ letters: this.#text, order, ...asked }) };
  }

  protected override valuesOf({ view, moved }: SetData): Record<string, string> {
    const moves = moved.difference > seen ? 'jumps' : 'rests';
    const common = { difference: three(moved.difference), exact: precise(moved.difference), [moves]: '' };
    if (view === 'story') {
      const [was = '', is = ''] = [moved.written[0]?.label, moved.guesses[0]?.label];
      return { ...common, read: moved.read, ...(was === is ? { same: is } : { was, is }) };
    }
    const { twins } = moved;
    return { ...common, ...(twins !== undefined && { twins: three(twins), ...(twins > seen && { differ: '' }) }) };
  }

  protected override conditions(value: (key: string) => string): Record<string, string> {
    if (value('v') === 'story') return {};
    const [placed, masked] = [value('pos') === '1', value('mask') === '1'];
    return {
      [placed || masked ? 'isOrdered' : 'isStill']: '',
      [placed ? 'isPlaced' : 'isUnplaced']: '',
      [masked ? 'isMasked' : 'isUnmasked']: '',
    };
  }

  protected override draw(data: SetData): TemplateResult {
    const { labels } = this.words;
    const { view, moved } = data;
    const choices = { letters: labels.letters, story: labels.story };
    return html`<div class="all ${this.inClass ? 'large' : ''}">
      <div class="controls">
        <span class="seg" role="group" aria-label=${labels.who}>${Object.entries(choices).map(([one, name]) => html`<button type="button" aria-pressed=${one === view} @click=${() => this.choose({ v: one, o: undefined })}>${name}</button>`)}</span>
        ${view === 'letters' ? this.#switches() : nothing}
      </div>
      <div class="controls">
        ${view === 'letters' ? html`<label class="field"><input type="text" aria-label=${labels.field} .value=${this.#text} @input=${this.#type} @change=${this.#typed} /></label>` : nothing}
        <button type="button" class="chip" @click=${() => this.#shuffle(moved.order.length)}>${labels.shuffle}</button>
        <button type="button" class="chip" @click=${() => this.#reorder(moved.order.toReversed())}>${labels.reverse}</button>
        <button type="button" class="chip" ?disabled=${moved.order.every((token, place) => token === place)} @click=${() => this.#reorder(moved.order.toSorted((a, b) => a - b))}>${labels.asItWas}</button>
      </div>
      ${moved.labels.length === 0 ? html`<p class="verdict">${labels.nothing}</p>` : this.#body(data)}
    </div>`;
  }

  #body(data: SetData): TemplateResult {
    const { labels } = this.words;
    const { view, moved } = data;
    const secret = !this.revealed;
    const answers = view === 'story' && !secret ? this.#answers(moved) : nothing;
    const rows = html`<div class="body">
        <set-rows .moved=${moved} .labels=${labels} ?secret=${secret} .minFont=${this.minFont} beside=${view === 'story' ? 620 : 480} @order=${this.#ordered}></set-rows>
        ${view === 'letters' && !secret ? this.#weights(moved) : nothing}
      </div>
      ${this.#meter(data, secret)}`;
    return html`${this.inClass && view === 'story' ? html`<div class="both"><div>${rows}</div>${answers}</div>` : html`${rows} ${answers}`}
      ${view === 'story' && moved.of > moved.labels.length ? html`<p class="verdict">${filled(labels.window, { n: mostTokens, of: moved.of })}</p>` : nothing}`;
  }

  #switches(): TemplateResult {
    const { labels } = this.words;
    const flag = (key: string, label: string): TemplateResult =>
      html`<label class="switch"><input type="checkbox" role="switch" .checked=${live(this.value(key) === '1')} @change=${() => this.choose({ [key]: this.value(key) === '1' ? '0' : '1' })} />${label}</label>`;
    return html`${flag('pos', labels.positions)} ${flag('mask', labels.mask)}`;
  }

  #weights({ weights, order, labels: tokens }: Letters): TemplateResult {
    const names = order.map((token) => tokens[token] ?? '');
    const size = this.inClass
      ? { width: Math.max(24, Math.min(48, Math.floor(320 / names.length))), height: 34 }
      : square(Math.max(18, Math.min(30, Math.floor(200 / names.length))));
    return html`<cf-matrix class="weights" .numbers=${weights.numbers} source=${weights.source} label="A" about=${this.words.labels.weights} hue="ink" scale="weights" .rowLabels=${names} .columnLabels=${names} .cellWidth=${size.width} .cellHeight=${size.height}></cf-matrix>`;
  }

  #meter({ view, moved }: SetData, secret: boolean): TemplateResult {
    const { labels } = this.words;
    const most = Math.max(...Array.from(moved.before.numbers.data, Math.abs));
    const share = secret ? 0 : Math.min(1, moved.difference / most);
    const off = !secret && moved.difference > seen;
    const note = view === 'story' ? labels.meterStory : labels.meter;
    return html`<div class="meter ${off ? 'off' : ''}"><span>${labels.largest}</span><div class="track"><div ${vars({ '--share': share })}></div></div><b data-difference=${moved.difference}>${secret ? '?' : three(moved.difference)}</b></div>
      <p class="verdict">${secret ? '' : filled(note, { exact: precise(moved.difference), most: four(most) })}</p>`;
  }

  #answers({ written, guesses, read }: Story): TemplateResult {
    const { labels } = this.words;
    const bars = (list: readonly Guess[], title: string, source: string): TemplateResult =>
      html`<div><h3>${title}</h3><cf-bars readonly source=${source} label=${title} max="1" .items=${list.map(({ label, probability }) => ({ label, value: probability }))}></cf-bars></div>`;
    return html`<div class="answers">${bars(written, labels.afterWritten, 'softmax(logits[0, -1]), as written')}${bars(guesses, filled(labels.afterMoved, { read }), 'softmax(logits[0, -1]), as moved')}</div>`;
  }

  /** Other characters vanish as they are typed; the caret stays where it is. An empty field changes nothing yet. */
  #type = ({ target }: Event): void => {
    const field = target as HTMLInputElement;
    const caret = fittingLetters(field.value.slice(0, field.selectionStart ?? 0)).length;
    field.value = fittingLetters(field.value);
    field.setSelectionRange(caret, caret);
    if (field.value !== '') this.slide({ letters: field.value });
  };

  #typed = ({ target }: Event): void => {
    (target as HTMLInputElement).value = this.#text;
  };

  #ordered = (event: CustomEvent<{ order: readonly number[]; first: boolean }>): void => {
    const { order, first } = event.detail;
    const changes = { o: order.join('.') };
    if (first) this.choose(changes);
    else this.slide(changes);
    void this.#tell();
  };

  async #tell(): Promise<void> {
    await this.settled();
    if (this.data) this.say(`${this.words.labels.largest} ${three(this.data.moved.difference)}`);
  }

  #reorder(order: readonly number[]): void {
    this.choose({ o: order.join('.') });
    void this.#tell();
  }

  #shuffle(count: number): void {
    const order = Array.from({ length: count }, (_, at) => at);
    for (let at = count - 1; at > 0; at--) {
      const [other = 0] = crypto.getRandomValues(new Uint32Array(1));
      const to = other % (at + 1);
      [order[at], order[to]] = [order[to] ?? 0, order[at] ?? 0];
    }
    this.#reorder(order);
  }

  override get blocks(): readonly number[] {
    return this.data?.view === 'story' ? [5] : [1];
  }

  override code(): FigureCode {
    const order = this.data?.moved.order.join(', ') ?? '';
    if (this.#view === 'story') {
      return {
        js: `const order = [${order}];\nconst moved = [ids[0], ...order.map((at) => ids[1 + at])];\nconst logits = await model.run_with_hooks({ input_ids: [moved] });\nconst odds = await softmax(logits.slice(0, -1));`,
        cpp: '// inputs.input_ids: the tokens in this order\nauto outputs = model->forward(inputs);\noutputs.at("logits");',
        tl: `model(tokens[:, [0] + [1 + at for at in [${order}]]])[0, -1].softmax(-1).topk(5)`,
      };
    }
    const mask = this.value('mask') === '1' ? ', { is_causal: true }' : '';
    return {
      js: `const attention = new nn.MultiheadAttention(48, 3);\nawait attention.load_state_dict(weights); // of gpt-nano-sort's first block\nconst order = [${order}];\nconst [output, attended] = await attention.forward(x, x, x${mask}); // x: rows in this order`,
      cpp: `const ConfigReader options(R"({"embed_dim": 48, "num_heads": 3})", "options");
const auto attention = Module::make("nn.MultiheadAttention", options, std::move(weights));
Module::Inputs inputs;
inputs.tensors = {{"query", x}, {"key", x}, {"value", x}};${mask && '\ninputs.masks["mask"] = Mask::causal();'}
Trace trace;
trace.capture("attn.hook_pattern");
const Tensor output = attention->forward(inputs, &trace);
trace.at("attn.hook_pattern");  // (1, head, query, key)`,
    };
  }
}

/** More digits than a meter shows, of rounding, too. */
const precise = (value: number): string => (value < 0.001 ? spoken(value) : decimals(value, 6));

customElements.define('figure-set', FigureSet);
