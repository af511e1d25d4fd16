// The figure of chapter 12: operations and path length as counted, times as measured on this device, memory, the
// device.

import type { Complexity, LayerKind, ModelInfo } from 'clearformer';
import { type Bar, decimals } from 'clearformer/elements';
import { css, html, type TemplateResult } from 'lit';
import { firstModel } from '../../book/book.js';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { grouped } from '../../book/grouped.js';
import { instructionsOf } from '../../book/instructions.js';
import { filled } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { isAbove, upperPart } from '../../book/upper_part.js';
import type { words } from '../../words/en/cost.js';
import { costCode } from './code.js';
import { kinds, neighbourhood, type Sizes, sizesOf, works } from './counting.js';
import './plot.js';
import { cacheBytesOf, type DtypeCost, device, inDtypes, withCache } from './running.js';
import { saidOf, type Times, timesOf } from './time_view.js';
import { lengths } from './timing.js';

const views = ['work', 'time', 'path', 'cache', 'dtypes', 'device'] as const;
export type View = (typeof views)[number];
const writtenTokens = 48;

interface Data {
  readonly view: View;
  readonly counted: readonly Complexity[];
  readonly times?: Times;
  readonly cache?: Awaited<ReturnType<typeof withCache>>;
  readonly cacheBytes?: number;
  readonly dtypes?: readonly DtypeCost[];
  readonly device?: ModelInfo;
}

class FigureCost extends MeasuredFigure<Data, typeof words> {
  static override styles = [
    figureStyles,
    css`
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
      th { text-align: left; font-weight: 400; color: var(--cf-muted); padding: 5px 14px 5px 0; vertical-align: top; }
      td { padding: 5px 14px 5px 0; }
      .guess { font: italic max(22px, var(--cf-min-font-size)) var(--cf-serif); padding: 80px 0; text-align: center; }
      .seg > span { display: none; } /* The name of the choice of views is for screen readers. */
      .sizes { display: inline-flex; flex-wrap: wrap; gap: inherit; }
      :host(.narrow) .controls { gap: 6px 16px; margin-bottom: 8px; }
      :host(.narrow) .slider input { width: 96px; }
      h3 { font: 600 max(17px, var(--cf-min-font-size)) var(--cf-serif); margin: calc(22px * var(--wall)) 0 calc(6px * var(--wall)); }
    `,
  ];
  #turn = 0;

  get #sizes(): Sizes {
    return sizesOf((key) => this.value(key));
  }

  #view(): View {
    return this.oneOf('view', views);
  }

  protected override key(): string {
    const text = ['cache', 'dtypes'].includes(this.#view()) ? this.book.text : '';
    return [
      this.#view(),
      this.value('n'),
      this.value('d'),
      this.value('k'),
      this.value('beside'),
      text,
      this.#turn,
    ].join('\n');
  }

  protected override updated(): void {
    this.classList.toggle('large', this.inClass);
    this.classList.toggle('narrow', this.narrow);
  }

  protected override nearest(): Sizes {
    return this.#sizes;
  }

  protected override async compute(signal: AbortSignal): Promise<Data> {
    const { n, d, k } = this.#sizes;
    const view = this.#view();
    const counted = await works(n, d, k);
    if (view === 'time') {
      const request = { d, k, beside: this.#beside, labels: this.words.labels };
      return { view, counted, times: await timesOf(request, signal) };
    }
    if (view === 'cache') {
      const cacheBytes = await cacheBytesOf(firstModel, signal);
      return { view, counted, cacheBytes, cache: await withCache(this.book, writtenTokens, signal) };
    }
    if (view === 'dtypes') return { view, counted, dtypes: await inDtypes(this.book, signal) };
    if (view === 'device') return { view, counted, device: await device(this.book) };
    return { view, counted };
  }

  get #beside(): boolean {
    return this.value('beside') === 'onnxruntime';
  }

  protected override valuesOf({ counted, cache, times, dtypes }: Data): Record<string, string> {
    const [attention, recurrent] = counted;
    const q8 = dtypes?.find(({ dtype }) => dtype === 'q8');
    const fp32 = dtypes?.find(({ dtype }) => dtype === 'fp32');
    const { n, d, k } = this.#sizes;
    const work = (attention?.multiply_adds ?? 0) / (recurrent?.multiply_adds ?? 1);
    const gain = cache ? cache.without.milliseconds / cache.kept.milliseconds : Number.NaN;
    const path = counted[2]?.maximum_path_length;
    const last = times?.series[0]?.points.at(-1);
    return {
      n: String(n),
      d: String(d),
      pairs: grouped(n ** 2),
      attention: millions(attention),
      recurrent: millions(recurrent),
      [work < 1 ? 'ratio' : 'times']: decimals(work, 2),
      [n === 2 ? 'once' : 'handed']: grouped(n - 1),
      layers: grouped(Math.ceil((n - 1) / (k - 1))),
      [path === 1 ? 'onePath' : 'path']: String(path ?? ''),
      ...(cache && (gain > 1.05 ? { faster: decimals(gain, 1) } : { slower: decimals(1 / gain, 1) })),
      ...(last && { longest: String(last.n), ms: decimals(last.milliseconds, 2) }),
      ...(q8 && fp32 && { smaller: decimals(fp32.bytes / q8.bytes, 1) }),
    };
  }

  protected override draw(data: Data): TemplateResult {
    const { labels } = this.words;
    return html`<div class="controls">
        ${this.choice({ key: 'view', name: labels.what, options: views.map((view) => [view, labels[view]] as const), chosen: data.view })}
        ${['work', 'path', 'time'].includes(data.view) ? html`<span class="sizes">${data.view === 'time' ? '' : this.#slider('n', 4, 1024)}${this.#slider('d', 8, 512)}${this.#slider('k', 3, 15)}</span>` : ''}
        ${['time', 'cache', 'dtypes'].includes(data.view) ? html`<button type="button" class="chip" @click=${this.#again}>${labels.again}</button>` : ''}
        ${this.#besideButton(data.times?.offered)}
      </div>
      ${this.#body(data)}`;
  }

  #body(data: Data): TemplateResult {
    const { labels } = this.words;
    switch (data.view) {
      case 'work':
        return html`<h3>${labels.multiplications}</h3>
          ${this.#bars(
            data,
            'multiply_adds / 1e6',
            ({ multiply_adds }) => multiply_adds / 1e6,
            ({ work }) => work,
          )}
          <h3>${labels.waiting}</h3>
          ${this.#bars(
            data,
            'sequential_operations',
            ({ sequential_operations }) => sequential_operations,
            ({ sequential }) => sequential,
          )}`;
      case 'path':
        return html`<h3>${labels.pathLength}</h3>
          ${this.#bars(
            data,
            'maximum_path_length',
            ({ maximum_path_length }) => maximum_path_length,
            ({ path_length }) => path_length,
          )}
          <p class="verdict">${labels.pathNote}</p>`;
      case 'time':
        if (!this.revealed) return html`<p class="guess">${labels.guess}</p>`;
        return this.#time(data.times);
      case 'cache':
        return this.#cache(data);
      case 'dtypes':
        return this.#dtypes(data.dtypes ?? []);
      default:
        return this.#device(data.device);
    }
  }

  #time(times: Times | undefined): TemplateResult {
    const { labels } = this.words;
    const peer = times?.series.some(({ name }) => name === labels.onnxruntime) ? ' session.run({ q, k, v });' : '';
    const source = `median ms of scaled_dot_product_attention(q, k, v);${peer} n × tanh(matmul(h, W)); conv1d(x, W)`;
    const said = times ? saidOf(times, labels, this.inClass) : '';
    return html`<cost-plot source=${source} .series=${times?.series ?? []} .lengths=${lengths} .labels=${labels} .minFont=${this.minFont} .mostHeight=${this.#plotHeight}></cost-plot>
      ${times?.note ? html`<p class="verdict beside">${times.note}</p>` : ''}
      ${said ? html`<p class="verdict">${said}</p>` : ''}`;
  }

  /** CSS pixels, with room for controls and notes. */
  get #plotHeight(): number {
    if (this.inClass) return Math.min(520, this.stageHeight - 220);
    return isAbove() ? Math.max(160, upperPart() - 150) : 460;
  }

  /** Shows or hides onnxruntime-web; not offered by a page without its files. */
  #besideButton(offered: number | undefined): TemplateResult | '' {
    if (offered === undefined) return '';
    const megabytes = decimals(offered / 1e6, 1);
    const toggle = (): void => this.choose({ beside: this.#beside ? undefined : 'onnxruntime' });
    return html`<button type="button" class="chip" aria-pressed=${this.#beside} @click=${toggle}>${filled(this.words.labels.beside, { megabytes })}</button>`;
  }

  #bars(data: Data, field: string, of: (one: Complexity) => number, note: (one: Complexity) => string): TemplateResult {
    const { n, d, k } = this.#sizes;
    const r = neighbourhood(n, k);
    const sizes = `{ sequence_length: ${n}, d_model: ${d}, kernel_size: ${k}, neighbourhood: ${r} }`;
    const labels: Readonly<Partial<Record<LayerKind, string>>> = this.words.labels;
    const items: Bar[] = data.counted.map((one, i) => ({
      label: filled(labels[kinds[i] ?? 'self_attention'] ?? '', { r }),
      value: of(one),
      note: note(one),
    }));
    return html`<cf-bars readonly format="number" label=${field} source="complexity(kind, ${sizes}).${field}" .items=${items}></cf-bars>`;
  }

  #cache({ cache, cacheBytes = 0 }: Data): TemplateResult {
    const { labels } = this.words;
    const items: Bar[] = [
      { label: labels.cacheKept ?? '', value: (cache?.kept.milliseconds ?? 0) / writtenTokens },
      { label: labels.cacheWithout ?? '', value: (cache?.without.milliseconds ?? 0) / writtenTokens },
    ];
    return html`<h3>${labels.perToken}</h3>
      <cf-bars readonly format="number" label=${labels.perToken} source="median ms of generate(inputs, { max_new_tokens: ${writtenTokens}, use_cache }) / ${writtenTokens}" .items=${items}></cf-bars>
      <p class="verdict">${filled(labels.cacheBytes ?? '', { bytes: grouped(cacheBytes) })}</p>`;
  }

  #dtypes(rows: readonly DtypeCost[]): TemplateResult {
    const { labels } = this.words;
    const bytes: Bar[] = rows.map(({ dtype, bytes: size }) => ({ label: dtype, value: size / 1000 }));
    const times: Bar[] = rows.map(({ dtype, milliseconds }) => ({ label: dtype, value: milliseconds }));
    const differences: Bar[] = rows.map(({ dtype, difference, sameToken }) => ({
      label: dtype,
      value: difference,
      note: sameToken ? labels.sameToken : labels.otherToken,
    }));
    return html`<h3>${labels.bytes}</h3><cf-bars readonly format="number" digits="0" label=${labels.bytes} source="from_pretrained(folder, { dtype }).info().weightsBytes / 1000" .items=${bytes}></cf-bars>
      <h3>${labels.pass}</h3><cf-bars readonly format="number" label=${labels.pass} source="median ms of model(inputs), by dtype" .items=${times}></cf-bars>
      <h3>${labels.difference}</h3><cf-bars readonly format="number" digits="4" label=${labels.difference} source="max |logits[0, -1] − logits of fp32|, by dtype" .items=${differences}></cf-bars>`;
  }

  #device(info: ModelInfo | undefined): TemplateResult {
    const { labels } = this.words;
    if (!info) return html``;
    const kb = (bytes: number): string => `${grouped(Math.round(bytes / 1000))} kB`;
    const rows: [string | undefined, string | TemplateResult][] = [
      [labels.simd, instructionsOf(info)],
      [labels.threads, html`${info.threads.used}: <span lang="en">${info.threads.reason}</span>`],
      [labels.worker, info.worker ? (labels.yes ?? '') : (labels.no ?? '')],
      [labels.wasm, kb(info.wasmBytes)],
      [labels.heap, kb(info.heapBytes)],
      [labels.weights, kb(info.weightsBytes)],
      [labels.version, info.version],
    ];
    return html`<table>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</table>
      <p class="verdict"><a target="_blank" href="./bench.html?lang=${this.book.language}">${labels.benchmark}</a></p>`;
  }

  #slider(key: 'n' | 'd' | 'k', low: number, high: number): TemplateResult {
    const steps = key === 'k' ? [3, 5, 7, 9, 11, 13, 15] : powers(low, high);
    const at = Math.max(
      0,
      steps.findIndex((step) => step >= this.#sizes[key]),
    );
    const set = (event: Event): void =>
      this.slide({ [key]: String(steps[(event.target as HTMLInputElement).valueAsNumber]) });
    return html`<label class="slider"><i class="serif">${key}</i><input type="range" min="0" max=${steps.length - 1} .valueAsNumber=${at} aria-label="${this.words.labels[`${key}Name`]}" aria-valuetext=${this.#sizes[key]} @input=${set} /><span class="number">${this.#sizes[key]}</span></label>`;
  }

  #again = (): void => {
    this.#turn++;
    this.requestUpdate();
  };

  override code(): FigureCode {
    return costCode(this.#view(), this.#sizes, this.book.text, writtenTokens);
  }
}

function millions(one: Complexity | undefined): string {
  return decimals((one?.multiply_adds ?? 0) / 1e6, 2);
}

/** 1, 2, 4, … between two powers of two. */
function powers(low: number, high: number): number[] {
  const steps: number[] = [];
  for (let step = low; step <= high; step *= 2) steps.push(step);
  return steps;
}

customElements.define('figure-cost', FigureCost);
