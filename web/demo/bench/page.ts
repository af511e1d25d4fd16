// The benchmark page: the works of `npm run bench` in the visitor's browser.

import type { ModelInfo } from 'clearformer';
import { decimals } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { figureStyles } from '../book/figure_styles.js';
import { instructionsOf } from '../book/instructions.js';
import { languageFor } from '../book/language.js';
import { filled } from '../book/markup.js';
import { theme } from '../book/theme.js';
import { onnxruntimeBytes } from '../chapters/cost/onnxruntime.js';
import type { BenchWords } from '../words/en/bench.js';
import { ownDevice } from './host.js';
import { measureWorks, type Row } from './measuring.js';
import { type ModelChoice, modelChoices, worksOf } from './works.js';

const words = { en: () => import('../words/en/bench.js'), de: () => import('../words/de/bench.js') };
const address = new URLSearchParams(location.search);
/** `?rounds=1` takes less time, for a first impression. */
const rounds = Math.min(5, Math.max(1, Number.parseInt(address.get('rounds') ?? '', 10) || 5));
const pace = { rounds, budget: 12 * rounds };

class BenchPage extends LitElement {
  static override properties: PropertyDeclarations = {
    words: { state: true },
    rows: { state: true },
    device: { state: true },
    model: { state: true },
    beside: { state: true },
    offered: { state: true },
    running: { state: true },
    failure: { state: true },
  };
  declare words: BenchWords | undefined;
  declare rows: readonly Row[];
  declare device: ModelInfo | undefined;
  declare model: ModelChoice;
  declare beside: boolean;
  /** Bytes of onnxruntime-web to load; undefined if this copy of the page has none. */
  declare offered: number | undefined;
  declare running: AbortController | undefined;
  declare failure: string;

  static override styles = [
    figureStyles,
    css`
      :host { max-width: 860px; margin: 0 auto; padding: 32px 24px 64px; }
      h1 { font: 600 40px / 1.1 var(--cf-serif); letter-spacing: -0.02em; margin: 18px 0 12px; }
      p { font: 17px / 1.5 var(--cf-serif); max-width: 66ch; margin: 0 0 14px; }
      a { color: var(--cf-accent); }
      .scroll { overflow-x: auto; }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; margin: 18px 0; }
      th { text-align: left; font-weight: 400; color: var(--cf-muted); vertical-align: bottom; }
      th, td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--cf-line); }
      td.number, th.number { text-align: right; }
      tr.ours td { font-weight: 600; }
      .verdict { font: 14px / 1.5 var(--cf-sans); }
    `,
  ];

  constructor() {
    super();
    this.rows = [];
    this.model = modelChoices.find((choice) => choice === address.get('model')) ?? 'minilm';
    this.beside = false;
    this.failure = '';
    void this.#prepare();
  }

  async #prepare(): Promise<void> {
    const language = languageFor(address.get('lang') ?? undefined);
    document.documentElement.lang = language;
    this.words = (await words[language]()).words;
    document.title = `${this.words.title} · clearformer`;
    this.offered = await onnxruntimeBytes();
  }

  readonly #measure = async (): Promise<void> => {
    const running = new AbortController();
    Object.assign(this, { running, rows: [], failure: '' });
    try {
      this.device ??= await ownDevice();
      const variant = this.device.relaxed ? 'relaxed' : 'simd128';
      const works = worksOf({ model: this.model, beside: this.beside, variant });
      const tell = (rows: readonly Row[]): void => {
        this.rows = [...this.rows, ...rows];
      };
      await measureWorks(works, pace, tell, running.signal);
    } catch (error) {
      if (!running.signal.aborted) this.failure = error instanceof Error ? error.message : String(error);
    } finally {
      this.running = undefined;
    }
  };

  #controls({ models, ...own }: BenchWords): TemplateResult {
    const choose = (model: ModelChoice) => (): void => {
      this.model = model;
    };
    const toggle = (): void => {
      this.beside = !this.beside;
    };
    const off = this.running !== undefined;
    const megabytes = decimals((this.offered ?? 0) / 1e6, 1);
    return html`<div class="controls">
      <fieldset class="seg"><legend>${own.model}</legend>${modelChoices.map((choice) => html`<button type="button" ?disabled=${off} aria-pressed=${this.model === choice} @click=${choose(choice)}>${models[choice]}</button>`)}</fieldset>
      ${this.offered === undefined ? nothing : html`<label class="switch"><input type="checkbox" ?disabled=${off} .checked=${this.beside} @change=${toggle} />${filled(own.beside, { megabytes })}</label>`}
      ${off ? html`<button type="button" class="chip" @click=${() => this.running?.abort()}>${own.stop}</button>` : html`<button type="button" class="primary" @click=${this.#measure}>${own.measure}</button>`}
    </div>
    <p class="verdict">${own.sizes[this.model]}</p>`;
  }

  #row(own: BenchWords, { work, name, ours, dtype, milliseconds, unavailable, cosine }: Row): TemplateResult {
    const peer = this.rows.find((row) => row.work === work && !row.ours && row.milliseconds !== undefined);
    const ratio =
      ours && milliseconds && peer?.milliseconds ? `${decimals(peer.milliseconds / milliseconds, 2)} ×` : '';
    const time = milliseconds === undefined ? own.absent : decimals(milliseconds, milliseconds < 10 ? 2 : 1);
    return html`<tr class=${ours ? 'ours' : ''}>
      <td>${own.works[work.name]}, ${work.dtype}</td>
      <td title=${unavailable ?? ''}>${ours ? `clearformer ${dtype}` : name}</td>
      <td class="number">${time}</td>
      ${this.beside ? html`<td class="number">${ratio}</td>` : nothing}
      <td class="number">${cosine === undefined ? '' : decimals(cosine, 4)}</td>
    </tr>`;
  }

  #table(own: BenchWords): TemplateResult | typeof nothing {
    if (this.rows.length === 0) return nothing;
    return html`<div class="scroll"><table>
      <thead><tr><th scope="col">${own.work}</th><th scope="col">${own.who}</th><th scope="col" class="number">ms</th>${this.beside ? html`<th scope="col" class="number">${own.ratio}</th>` : nothing}<th scope="col" class="number">${own.cosine}</th></tr></thead>
      <tbody>${this.rows.map((row) => this.#row(own, row))}</tbody>
    </table></div>`;
  }

  protected override render(): TemplateResult | typeof nothing {
    const own = this.words;
    if (!own) return nothing;
    const { device } = this;
    const values = {
      simd: device ? instructionsOf(device) : '',
      cores: String(navigator.hardwareConcurrency),
      version: device?.version ?? '',
    };
    return html`<main>
      <a href="./#/cost?view=device&lang=${document.documentElement.lang}">${own.back}</a>
      <h1>${own.title}</h1>
      <p>${own.lead}</p>
      ${this.#controls(own)}
      <p class="verdict" role="status">${this.running ? own.running : ''}</p>
      ${this.failure ? html`<div class="failed" role="alert"><b>${own.failed}</b><span>${this.failure}</span></div>` : nothing}
      ${this.#table(own)}
      ${device && this.rows.length > 0 ? html`<p class="verdict">${filled(own.device, values)} ${navigator.userAgent}</p>` : nothing}
      <p class="verdict">${own.note}</p>
      ${this.offered === undefined ? html`<p class="verdict">${own.besideAbsent}</p>` : nothing}
    </main>`;
  }
}

theme.restore();
customElements.define('bench-page', BenchPage);
