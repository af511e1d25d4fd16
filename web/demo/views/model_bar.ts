// Which model runs, its shape, which WASM build runs it and how large everything is; how far another one is loaded.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { Stack } from '../state/attention_maps.js';
import { amount, bytes } from '../state/format.js';
import type { Loaded, ModelHost } from '../state/model_host.js';
import './error_note.js';
import { shared } from './styles.js';

export class ModelBar extends LitElement {
  static override properties: PropertyDeclarations = {
    host: { attribute: false },
    revision: { attribute: false },
  };
  declare host: ModelHost;
  declare revision: number;

  static override styles = [
    shared,
    css`
      .row { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 22px; }
      .name { font-weight: 650; }
      .facts { display: flex; flex-wrap: wrap; gap: 2px 18px; color: var(--muted); font-size: 0.87rem; flex: 1 1 300px; margin: 0; }
      .facts b { color: var(--ink); font-weight: 600; }
      .loading { display: grid; grid-template-columns: auto minmax(80px, 1fr) auto auto; gap: 12px; align-items: center; margin-top: 12px; font-size: 0.9rem; }
      progress { width: 100%; accent-color: var(--accent); }
      error-note { margin-top: 14px; }
      @media (max-width: 560px) { .loading { grid-template-columns: 1fr auto; } }
    `,
  ];

  constructor() {
    super();
    this.revision = 0;
  }

  override render(): TemplateResult {
    const { current, failure } = this.host;
    return html`<section class="card" aria-label="The model">
      <div class="row">
        ${current ? this.#facts(current) : html`<p class="hint facts">${this.host.pending ? 'The model is on its way.' : 'No model is loaded.'}</p>`}
      </div>
      ${this.host.pending ? this.#progress(this.host.pending) : nothing}
      ${
        failure
          ? html`<error-note .error=${failure.error} subject=${`Loading ${failure.label}`} @dismiss=${() => this.host.dismiss()}
            consequence=${current ? `Still loaded: ${current.label}.` : ''}></error-note>`
          : nothing
      }
    </section>`;
  }

  #facts({ label, model, speed }: Loaded): TemplateResult {
    const { cfg } = model;
    const info = model.info();
    const stack = ({ n_layers, n_heads }: Stack): TemplateResult =>
      html`<b>${n_layers}</b> layers × <b>${n_heads}</b> heads`;
    const { encoder, vision, positional_embedding_type } = cfg as {
      encoder?: Stack;
      vision?: Stack;
      positional_embedding_type?: string;
    };
    const bounded = cfg.d_vocab > 0 && positional_embedding_type !== 'relative_positional_bias';
    return html`<span class="name">${label}</span>
      <p class="facts number">
        ${encoder ? html`<span>encoder ${stack(encoder)}</span><span>decoder ${stack(cfg)}</span>` : nothing}
        ${vision ? html`<span>text ${stack(cfg)}</span><span>image ${stack(vision)}</span>` : nothing}
        ${encoder || vision ? nothing : html`<span>${stack(cfg)}</span>`}
        <span>width <b>${amount(cfg.d_model)}</b></span>
        ${cfg.d_vocab > 0 ? html`<span>knows <b>${amount(cfg.d_vocab)}</b> tokens</span>` : nothing}
        ${bounded ? html`<span>reads up to <b>${amount(cfg.n_ctx)}</b></span>` : nothing}
        <span>weights <b>${bytes(info.weightsBytes)}</b></span>
        <span>WASM build <b>${info.simd}</b>, ${bytes(info.wasmBytes)}</span>
        ${speed === undefined ? nothing : html`<span>writes up to <b>${amount(speed)}</b> tokens/s here</span>`}
        <span>loaded in <b>${amount(Math.round(this.host.milliseconds))}</b> ms</span>
      </p>`;
  }

  #progress(label: string): TemplateResult {
    const { progress } = this.host;
    const known = progress !== undefined && progress.total > 0;
    return html`<div class="loading">
      <span>Loading ${label}${progress ? html` <span class="hint">${progress.file}</span>` : nothing}</span>
      ${
        known
          ? html`<progress aria-label="Loaded so far" max=${progress.total} value=${progress.loaded}></progress>`
          : html`<progress aria-label="Loading"></progress>`
      }
      <span class="number hint">${progress ? `${bytes(progress.loaded)}${known ? ` of ${bytes(progress.total)}` : ''}` : ''}</span>
      <button @click=${() => this.host.cancel()}>Cancel</button>
    </div>`;
  }
}

customElements.define('model-bar', ModelBar);
