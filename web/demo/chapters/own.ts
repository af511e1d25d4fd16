// Chapter: a model of the reader's own, from this device or from the Hub, with the form that fits it.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { bytes } from '../state/format.js';
import { ImageModel } from '../state/image_model.js';
import { ModelHost } from '../state/model_host.js';
import { OwnModel, pipelineWords } from '../state/own_model.js';
import { LoadedModel } from '../state/text_model.js';
import { Translator } from '../state/translator.js';
import '../views/model_bar.js';
import '../views/model_loader.js';
import { shared } from '../views/styles.js';
import '../views/task_form.js';
import type { Chapter } from './chapter.js';
import './digit.js';
import './story.js';
import './translate.js';

export class OwnChapter extends LitElement {
  static override properties: PropertyDeclarations = {
    host: { attribute: false },
    revision: { attribute: false },
    loaded: { attribute: false },
  };
  declare host: ModelHost;
  /** Changes whenever the host does. */
  declare revision: number;
  declare loaded: OwnModel | undefined;

  static override styles = [
    shared,
    css`
      :host { display: grid; gap: var(--gap); }
      .kind { font-size: 1.05rem; margin: 4px 0 8px; }
      ul { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0; padding: 0; list-style: none; font-size: 0.87rem; }
      .unread { color: var(--muted); }
      details { margin-top: 8px; font-size: 0.87rem; }
      summary { cursor: pointer; width: fit-content; min-height: 24px; }
      details code { overflow-wrap: anywhere; }
    `,
  ];

  constructor() {
    super();
    this.revision = 0;
  }

  override render(): TemplateResult {
    return html`
      <model-loader class="card" .host=${this.host}></model-loader>
      <model-bar .host=${this.host} .revision=${this.revision}></model-bar>
      ${this.loaded ? html`${this.#facts(this.loaded)} ${this.#form(this.loaded)}` : nothing}`;
  }

  #facts({ pipeline, inspection, files }: OwnModel): TemplateResult {
    const { architectures, model_type, kind, unexpected_tensors: unexpected, other_formats } = inspection;
    const [architecture] = architectures;
    const isOtherFormat = (name: string): boolean => other_formats.includes(name);
    return html`<section class="card" aria-labelledby="kind-title" id="facts">
      <h2 id="kind-title">What it is</h2>
      <p class="kind">${architecture ? html`<code>${architecture}</code>` : `a model of type ${model_type}`}, ${kind}: <b>${pipelineWords[pipeline]}</b></p>
      <ul class="number">${files.map(({ name, bytes: size }) => html`<li class=${isOtherFormat(name) ? 'unread' : ''}>${name} ${bytes(size)}${isOtherFormat(name) ? ', not read: another format' : ''}</li>`)}</ul>
      ${
        unexpected.length === 0
          ? html`<p class="hint">Every tensor that the model needs is there, and none is left over.</p>`
          : html`<details><summary>${unexpected.length} tensors have no use in this architecture and were left out</summary><code>${unexpected.join(', ')}</code></details>`
      }
    </section>`;
  }

  #form({ part }: OwnModel): TemplateResult {
    if (part instanceof LoadedModel) return html`<story-chapter .model=${part}></story-chapter>`;
    if (part instanceof Translator) return html`<translate-chapter .model=${part}></translate-chapter>`;
    if (part instanceof ImageModel) return html`<image-chapter .model=${part}></image-chapter>`;
    return html`<task-form .open=${part}></task-form>`;
  }
}

customElements.define('own-chapter', OwnChapter);

const host = new ModelHost(OwnModel.load);

export const own: Chapter = {
  id: 'own',
  name: 'Your own model',
  heading: 'Look into a model of your own',
  lede: 'Take any supported folder of the Hugging Face Hub as it is: the page finds out what kind of model it holds and offers what fits.',
  host,
  placesBar: true,
  open: () => {},
  view: (revision) => html`<own-chapter .host=${host} .revision=${revision} .loaded=${host.current}></own-chapter>`,
};
