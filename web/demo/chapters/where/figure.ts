// The figure of chapter 3: sinusoids as clocks, learned position embeddings, rotary positions, position biases.

import type { Cell } from 'clearformer/elements';
import { spoken, two } from 'clearformer/elements';
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { firstModel } from '../../book/book.js';
import { OwnWidth } from '../../book/controllers.js';
import { Figure, type FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { grouped } from '../../book/grouped.js';
import { filled } from '../../book/markup.js';
import type { words } from '../../words/en/where.js';
import { type Biases, biasesOf, biasTokens } from './biases.js';
import './clocks.js';
import { codeOf } from './code.js';
import { type Learned, learnedOf, tableModels } from './learned.js';
import { type Asked, askedOf, columnChoices, type Places, places, placesOf } from './places.js';
import { stepPanel } from './step_panel.js';
import { whereStyles } from './styles.js';
import { biasView, learnedView } from './tables_view.js';
import { type Turned, turnedOf } from './turned.js';
import { turnedView } from './turned_view.js';

const views = ['sinusoids', 'tables', 'rotary', 'bias'] as const;
export type View = (typeof views)[number];

export type WhereData =
  | { readonly view: 'sinusoids'; readonly places: Places }
  | { readonly view: 'tables'; readonly learned: Learned }
  | { readonly view: 'rotary'; readonly turned: Turned }
  | { readonly view: 'bias'; readonly biases: Biases; readonly tokens: readonly string[]; readonly of: number };

export class WhereFigure extends Figure<WhereData, typeof words> {
  static override styles = [figureStyles, whereStyles];
  readonly #box = new OwnWidth(this);
  /** The cell of a table under the pointer. */
  pointed: Cell | undefined;
  #tokens: readonly string[] = [];
  /** The sentence that the tokens belong to. */
  #named: string | undefined;

  get view(): View {
    return this.oneOf('v', views);
  }

  /** The available width in pixels. */
  get room(): number {
    return Math.min(this.inClass ? this.wall(1360) : 860, this.#box.width || 360);
  }

  /** The cell width of a square of `count` tokens, with two squares and the tokens' labels side by side. */
  cell(count: number): number {
    return Math.max(
      10,
      Math.min(
        this.inClass ? this.wall(60) : 30,
        Math.floor(((this.room < 700 ? this.room : this.room / 2) - (this.inClass ? this.wall(100) : 80)) / count),
      ),
    );
  }

  get asked(): Asked {
    return askedOf((key) => this.value(key));
  }

  protected override key(): string {
    const view = this.view;
    const mine = {
      sinusoids: () => [...Object.values(this.asked)],
      tables: () => [this.value('table')],
      rotary: () => ['l', 'h', 'q', 'ko', 'qa', 'ka'].map((key) => this.value(key)),
      bias: () => [this.value('bh')],
    }[view]();
    return [view, this.book.modelName, this.book.text, ...mine].join('\n');
  }

  protected override async compute(): Promise<WhereData> {
    const { view } = this;
    if (view === 'tables') {
      const model = this.oneOf('table', tableModels);
      return { view, learned: await learnedOf(this.book, model) };
    }
    if (view === 'rotary') return { view, turned: await turnedOf(this.book, this.#turnedAsked()) };
    if (view === 'bias') {
      const { tokens, of } = await this.book.sentence(firstModel, biasTokens);
      return {
        view,
        biases: await biasesOf(this.number('bh'), tokens.length),
        tokens: tokens.map(({ label }) => label),
        of,
      };
    }
    this.#name();
    return { view, places: await placesOf(this.asked) };
  }

  #turnedAsked() {
    const place = (key: string): number | undefined => (this.value(key) === '' ? undefined : this.number(key));
    return {
      layer: this.number('l'),
      head: this.number('h'),
      key: this.number('ko'),
      queryPlace: place('qa'),
      keyPlace: place('ka'),
    };
  }

  /** Loads the positions' labels, the tokens of the sentence. The clocks are shown before the model is loaded. */
  #name(): void {
    const { text } = this.book;
    if (this.#named === text) return;
    this.#named = text;
    this.book.sentence(firstModel, places).then(
      ({ tokens }) => {
        if (this.book.text !== text) return;
        this.#tokens = tokens.map(({ label }) => label);
        this.requestUpdate();
      },
      () => {
        this.#named = undefined; // no labels; the next update tries again
      },
    );
  }

  protected override nearest(data: WhereData): Record<string, number> {
    if (data.view === 'rotary') {
      const { layer: l, head: h, key: ko, queryPlace: qa, keyPlace: ka, sentence } = data.turned;
      return { l, h, q: sentence.focus, ko, qa, ka };
    }
    if (data.view === 'bias') return { bh: data.biases.head };
    if (data.view === 'tables') return {};
    const { i, delta, d, pair } = data.places;
    return { i, delta, d, pair };
  }

  protected override valuesOf(data: WhereData): Record<string, string> {
    if (data.view === 'rotary') {
      const { turned } = data;
      return {
        model: turned.model,
        product: two(Number(turned.product.numbers.item())),
        distance: spoken(turned.queryPlace - turned.keyPlace),
      };
    }
    if (data.view !== 'sinusoids') return {};
    const { places: all } = data;
    const { omegas, twins, distinct, d } = all;
    const turn = (j: number): string => {
      const tokens = (2 * Math.PI) / (omegas[j] ?? Number.NaN);
      return tokens >= 1000 && tokens < 1e9 ? grouped(Number(tokens.toPrecision(3))) : spoken(tokens);
    };
    return {
      ...(omegas.length > 0 && { first: turn(0), last: turn(omegas.length - 1) }),
      ...(twins.length > 0 ? { twins: twins.join(', ') } : { alone: '' }),
      d: String(d),
      i: String(all.i),
      delta: String(all.delta),
      distinct: grouped(distinct.count),
      [distinct.count === distinct.of ? 'allDiffer' : 'fewer']: grouped(distinct.count),
      counted: grouped(distinct.of),
      ...(typeof all.stepped !== 'string' && {
        ...(!all.misprint && { rounding: spoken(all.stepped.most) }),
        difference: two(all.stepped.difference),
      }),
    };
  }

  protected override conditions(value: (key: string) => string): Record<string, string> {
    if (Number(value('d')) === 1 || value('sines') === '1') return { noStep: '' };
    return { hasStep: '', ...(value('misprint') === '1' && { isMisprint: '' }) };
  }

  protected override draw(data: WhereData): TemplateResult {
    const { labels } = this.words;
    const shown = {
      sinusoids: () => this.#sinusoids((data as Extract<WhereData, { view: 'sinusoids' }>).places),
      tables: () => learnedView(this, (data as Extract<WhereData, { view: 'tables' }>).learned),
      rotary: () => turnedView(this, (data as Extract<WhereData, { view: 'rotary' }>).turned),
      bias: () => {
        const { biases, tokens, of } = data as Extract<WhereData, { view: 'bias' }>;
        return biasView(this, biases, tokens, of);
      },
    }[data.view]();
    return html`<div class="where ${this.inClass ? 'large' : ''}">
      <span class="seg views" role="group" aria-label=${labels.ways}>${views.map((view) => html`<button type="button" aria-pressed=${view === data.view} @click=${() => this.choose({ v: view })}>${labels[view]}</button>`)}</span>
      ${shown}
    </div>`;
  }

  #sinusoids(all: Places): TemplateResult {
    const { labels } = this.words;
    const { d } = all;
    const { sines, layout, misprint } = this.asked; // of the address: the numbers may still be computed
    const flag = (key: string, on: boolean, label: string): TemplateResult =>
      html`<label class="switch"><input type="checkbox" role="switch" .checked=${live(on)} @change=${() => this.choose({ [key]: on ? '0' : '1' })} />${label}</label>`;
    return html`<div class="controls">
        <span class="seg" role="group" aria-label=${labels.columns}><span>${labels.columns}</span>${columnChoices.map((count) => html`<button type="button" aria-pressed=${count === d} @click=${() => this.choose({ d: String(count) })}>${count}</button>`)}</span>
        ${flag('sines', sines, labels.onlySines)} ${flag('misprint', misprint, labels.misprint)}
        <label class="switch"><input type="checkbox" role="switch" .checked=${live(layout === 'halves')} @change=${() => this.choose({ layout: layout === 'halves' ? 'interleaved' : 'halves' })} />${labels.halves}</label>
      </div>
      <where-clocks .places=${all} .labels=${labels} .minFont=${this.minFont} ?secret=${!this.revealed} @place-move=${this.#moved} @pair-choose=${(event: CustomEvent<{ pair: number }>) => this.choose({ pair: String(event.detail.pair) })}></where-clocks>
      <div class="controls rulers">${this.#rulers(all)}</div>
      ${stepPanel(this, all)}
      ${!this.inClass && (this.value('count') === '1' || d === 1) ? html`<p class="verdict">${filled(labels.distinctOf, { distinct: this.values.distinct ?? '', counted: this.values.counted ?? '' })}</p>` : nothing}`;
  }

  #rulers({ i, delta }: Places): TemplateResult {
    const { labels } = this.words;
    const named = (at: number): string => this.#tokens[at] ?? '';
    const ruler = (
      symbol: string,
      key: 'i' | 'delta',
      hue: string,
      value: number,
      most: number,
      note: string,
    ): TemplateResult =>
      html`<label class="slider ${hue}"><i>${symbol}</i><input type="range" min="0" max=${most} .value=${String(value)} aria-label=${labels[key]} aria-valuetext="${value} ${note}" @input=${(event: Event) => this.#moveTo({ [key]: Number((event.target as HTMLInputElement).value) })} /><b class="number">${value}</b> <span class="muted serif">${note}</span></label>`;
    return html`${ruler('i', 'i', '', i, places - 1 - delta, named(i))} ${ruler('δ', 'delta', 'a', delta, places - 1 - i, named(i + delta) === '' ? '' : `${labels.to} ${named(i + delta)}`)}`;
  }

  #moved = (event: CustomEvent<{ i?: number; delta?: number }>): void => this.#moveTo(event.detail);

  #moveTo({ i, delta }: { i?: number; delta?: number }): void {
    this.slide({ ...(i !== undefined && { i: String(i) }), ...(delta !== undefined && { delta: String(delta) }) });
    const now = this.asked;
    this.say(filled(this.words.labels.movedTo, { i: now.i, delta: now.delta }));
  }

  /** A choice among a few, counted from 1 in the labels and from 0 in the address. */
  choice(label: string, key: string, value: number, count: number): TemplateResult {
    return html`<label class="slider"><span>${label}</span><select aria-label=${label} @change=${(event: Event) => this.choose({ [key]: (event.target as HTMLSelectElement).value })}>${Array.from({ length: count }, (_, at) => html`<option value=${at} .selected=${at === value}>${at + 1}</option>`)}</select></label>`;
  }

  readonly point = ({ detail }: CustomEvent<Cell | null>): void => {
    this.pointed = detail ?? undefined;
    this.requestUpdate();
  };

  readonly chooseCell = ({ detail: { row, column } }: CustomEvent<Cell>): void =>
    this.choose({ at: `${row}.${column}` });

  override get blocks(): readonly number[] {
    return this.data?.view === 'rotary' ? [this.data.turned.layer + 1] : [0];
  }

  override code(): FigureCode {
    return codeOf(this.view, this.asked, this.data);
  }
}

customElements.define('figure-where', WhereFigure);
