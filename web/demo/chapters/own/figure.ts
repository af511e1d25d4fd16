// The figure of chapter 14: the model's source, its inspection, its memory use, its loading, and its form.

import type { Inspection } from 'clearformer';
import { type Bar, decimals } from 'clearformer/elements';
import { css, html, nothing, type TemplateResult } from 'lit';
import type { Changes } from '../../book/address.js';
import type { ChapterId } from '../../book/chapter.js';
import { errorText } from '../../book/error_text.js';
import { Figure, type FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { grouped } from '../../book/grouped.js';
import { filled } from '../../book/markup.js';
import type { words } from '../../words/en/own.js';
import { isPlanned } from '../block/plan.js';
import './chat.js';
import './file_pick.js';
import type { OpenForm } from './forms.js';
import { type Dtype, dtypes, opening } from './opening.js';
import './task_form.js';

/** The chapters that run on the reader's own model, by its pipeline. */
const runsIn: Readonly<Record<string, readonly ChapterId[]>> = {
  'text-generation': ['next', 'head', 'heads', 'block', 'saying', 'laboratory'],
  translation: ['laboratory'],
  summarization: ['laboratory'],
  'fill-mask': ['laboratory'],
  'image-classification': ['seeing'],
};

/** Chapter 7 draws the blocks of most models, not of all. */
function chaptersFor({ task, model }: OpenForm): readonly ChapterId[] {
  const hooks = new Set<string>(model.hooks().map(({ name }) => name));
  return (runsIn[task] ?? []).filter((id) => id !== 'block' || isPlanned(hooks, 'blocks.0'));
}

/** The parameter that gives a chapter the own model: the one of images is no choice for the chapters of texts. */
const choiceOf = (id: ChapterId): Changes => (id === 'seeing' ? { of: 'own' } : { m: 'own' });

class FigureOwn extends Figure<number, typeof words> {
  static override styles = [
    figureStyles,
    css`
      form.hub { display: flex; gap: 8px; margin: 14px 0; }
      form.hub input { flex: 1; min-width: 0; }
      table { border-collapse: collapse; margin: 12px 0; }
      th { text-align: left; font-weight: 400; color: var(--cf-muted); padding: 3px 18px 3px 0; vertical-align: top; }
      td { padding: 3px 0; overflow-wrap: anywhere; }
      .row { display: flex; gap: 8px 14px; flex-wrap: wrap; align-items: center; margin: 12px 0; }
      progress { width: min(420px, 60%); accent-color: var(--cf-accent); }
      h3 { font: 600 max(17px, var(--cf-min-font-size)) var(--cf-serif); margin: 20px 0 6px; }
      ul { margin: 4px 0; padding-left: 20px; }
      .names { max-height: 130px; overflow: auto; }
      .continue { margin: 18px 0; }
      .continue summary { cursor: pointer; padding: 4px 0; }
    `,
  ];

  protected override key(): string {
    return String(opening.revision);
  }

  protected override async compute(): Promise<number> {
    const reads = opening.form?.task === 'text-generation' || opening.form?.task === 'fill-mask';
    this.spineInputs = reads ? (await this.book.sentence('own')).inputs : undefined;
    return opening.revision;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    opening.addEventListener('change', this.#changed);
    this.book.address.addEventListener('change', this.#follow);
    this.#follow();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    opening.removeEventListener('change', this.#changed);
    this.book.address.removeEventListener('change', this.#follow);
    opening.leave();
  }

  /** Back, or a link, may name another model. */
  #follow = (): void => {
    const { address } = this.book;
    if (address.chapter === 'own') opening.follow(address.get('id') || undefined);
  };

  #changed = (): void => this.requestUpdate();

  protected override updated(): void {
    this.classList.toggle('large', this.inClass);
  }

  protected override draw(): TemplateResult {
    const { labels } = this.words;
    const { inspection, busy, form, failure } = opening;
    return html`<file-pick heading=${labels.drop} hint=${labels.dropHint} .buttons=${[
      { id: 'folder', label: labels.folder, folder: true },
      { id: 'files', label: labels.files, folder: false },
    ]} @files=${this.#onFiles}></file-pick>
      <form class="hub" @submit=${this.#onHub}>
        <input name="id" type="text" aria-label=${labels.hub} placeholder=${labels.hub} .value=${this.book.address.get('id') ?? ''} autocomplete="off" spellcheck="false" required />
        <button class="chip">${labels.look}</button>
      </form>
      ${failure === undefined ? nothing : this.#failed(failure)}
      ${busy ? this.#busy() : nothing}
      ${inspection ? this.#facts(inspection) : nothing}
      ${form ? this.#loaded() : nothing}`;
  }

  #busy(): TemplateResult {
    const { labels } = this.words;
    const { busy, loading, label } = opening;
    const known = loading !== undefined && loading.total > 0;
    const text = busy === 'inspecting' ? labels.inspecting : labels.loading;
    return html`<div class="row"><span><span role="status">${text} ${label}</span> ${known ? `${megabytes(loading.loaded)} / ${megabytes(loading.total)}` : ''}</span>
      ${known ? html`<progress aria-label=${labels.loading} max=${loading.total} .value=${loading.loaded}></progress>` : nothing}
      <button type="button" class="plain" @click=${() => opening.cancel()}>${this.shell.cancel}</button></div>`;
  }

  #facts(inspection: Inspection): TemplateResult {
    const { labels } = this.words;
    const { architectures, model_type, kind, pipeline, cfg, parameters, tokenizer, problems } = inspection;
    const unused = inspection.unexpected_tensors;
    const rows: [string, string | undefined | null][] = [
      [labels.architecture, architectures.join(', ') || model_type],
      [labels.kind, kind],
      [labels.task, pipeline],
      [labels.size, cfg ? sizesOf(cfg, labels) : undefined],
      [labels.parameters, typeof parameters === 'number' ? grouped(parameters) : undefined],
      [labels.tokenizer, tokenizer?.kind],
    ];
    return html`<h3>${opening.label}</h3>
      <table>${rows.filter(([, value]) => value).map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</table>
      ${problems.length > 0 ? html`<p><b>${labels.problems}</b></p><ul class="names">${problems.map(({ message, severity }) => html`<li class=${severity === 'error' ? 'wrong' : ''}>${message}</li>`)}</ul>` : html`<p class="verdict">${labels.sound}</p>`}
      ${unused.length > 0 ? html`<details><summary>${filled(unused.length === 1 ? labels.unusedOne : labels.unused, { n: unused.length })}</summary><code>${unused.join(', ')}</code></details>` : nothing}
      ${this.#memory(inspection)}`;
  }

  #memory({ memory, fits }: Inspection): TemplateResult | typeof nothing {
    const { labels } = this.words;
    if (!memory || opening.obstacle !== undefined) return nothing;
    const items: Bar[] = dtypes.map((dtype) => ({
      label: dtype,
      value: memory[dtype] / 1e6,
      selected: dtype === opening.dtype,
    }));
    const choose = (event: CustomEvent<{ index: number }>): void => {
      opening.dtype = dtypes[event.detail.index] as Dtype;
      opening.revision++;
      this.requestUpdate();
    };
    return html`<h3>${labels.memory}</h3>
      <cf-bars format="number" digits="1" label=${labels.memory} source="inspect(folder).memory / 1e6" .items=${items} @bar-select=${choose}></cf-bars>
      <p class="verdict">${fits === null ? labels.noneFits : filled(labels.fits, { dtype: fits })}</p>
      <div class="row"><button type="button" class="primary" ?disabled=${opening.busy !== undefined} @click=${() => void opening.load(this.book.shelf)}>${filled(labels.load, { dtype: opening.dtype, size: megabytes(memory[opening.dtype]) })}</button></div>`;
  }

  #loaded(): TemplateResult | typeof nothing {
    const { labels } = this.words;
    const { form } = opening;
    if (!form) return nothing;
    const chapters = chaptersFor(form);
    const fields = html`<task-form .open=${form} .labels=${labels} .shell=${this.shell}></task-form>`;
    const continues = form.task === 'text-generation' ? html`<p class="muted">${labels.noTemplate}</p>` : nothing;
    const { conversation } = opening;
    const name = opening.loaded === opening.label ? '' : ` (${opening.loaded})`;
    return html`<h3>${conversation ? labels.chat : labels.runs}${name}</h3>${
      conversation
        ? html`<own-chat .conversation=${conversation} .labels=${labels} .shell=${this.shell}></own-chat>
          <details class="continue"><summary>${labels.continueText}</summary>${fields}</details>`
        : [continues, fields]
    }
      ${chapters.length === 0 ? nothing : html`<p class="row">${labels.chapters} ${chapters.map((id) => html`<a class="chip" href=${this.book.address.href(id, choiceOf(id))}>${this.shell.chapters[id].title}</a>`)}</p>`}`;
  }

  #failed(failure: unknown): TemplateResult {
    const { title, message, advice, code } = errorText(failure, this.shell);
    return html`<div class="failed" role="alert"><p><b>${opening.label}: ${title}</b></p><p>${message}</p>${advice ? html`<p>${advice}</p>` : nothing}${code ? html`<p><code>${code}</code></p>` : nothing}</div>`;
  }

  #onFiles = ({ detail }: CustomEvent<File[]>): void => {
    const [folder, inside] = detail[0]?.webkitRelativePath.split('/') ?? [];
    void opening.inspect(detail, folder && inside ? folder : this.words.labels.yourFiles);
    this.choose({ id: undefined });
  };

  #onHub = (event: Event): void => {
    event.preventDefault();
    const id = String(new FormData(event.target as HTMLFormElement).get('id') ?? '').trim();
    if (id === '') return;
    void opening.inspect(id, id, id);
    this.choose({ id });
  };

  override code(): FigureCode {
    const source = JSON.stringify(this.book.address.get('id') ?? 'folder');
    const task = opening.inspection?.pipeline ?? 'text-generation';
    return {
      js: `const found = await inspect(${source});\nconst pipe = await pipeline('${task}', ${source}, { dtype: '${opening.dtype}' });`,
      cpp: `const auto model = from_pretrained(${source});`,
    };
  }
}

/** Models of images have no words; biases by distance have no last position. */
function sizesOf(cfg: NonNullable<Inspection['cfg']>, labels: typeof words.labels): string {
  const { n_layers: layers, d_model: d, n_heads: heads, d_vocab, n_ctx, positional_embedding_type } = cfg;
  const endless = positional_embedding_type === 'relative_positional_bias' && n_ctx === 2 ** 20;
  return [
    filled(labels.sizes, { layers, d, heads }),
    ...(d_vocab > 0 ? [filled(labels.sizeWords, { words: d_vocab })] : []),
    ...(endless ? [] : [filled(labels.sizeContext, { context: n_ctx })]),
  ].join(', ');
}

const megabytes = (count: number): string => `${decimals(count / 1e6, 1)} MB`;

customElements.define('figure-own', FigureOwn);
