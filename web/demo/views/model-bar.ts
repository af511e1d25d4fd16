// Which model runs, its shape, which WASM build runs it and how large everything is; loading another one.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { amount, bytes } from '../state/format.js';
import type { ModelHost } from '../state/model-host.js';
import type { LoadedModel } from '../state/text-model.js';
import './error-note.js';
import './model-loader.js';
import { shared } from './styles.js';

@customElement('model-bar')
export class ModelBar extends LitElement {
  @property({ attribute: false }) host!: ModelHost;
  @property({ attribute: false }) revision = 0;
  @state() private open = false;

  static override styles = [
    shared,
    css`
      .row { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 22px; }
      .name { font-weight: 650; }
      .facts { display: flex; flex-wrap: wrap; gap: 2px 18px; color: var(--muted); font-size: 0.87rem; flex: 1 1 300px; margin: 0; }
      .facts b { color: var(--ink); font-weight: 600; }
      .loading { display: grid; grid-template-columns: auto minmax(80px, 1fr) auto auto; gap: 12px; align-items: center; margin-top: 12px; font-size: 0.9rem; }
      progress { width: 100%; accent-color: var(--accent); }
      model-loader, error-note { margin-top: 14px; }
      @media (max-width: 560px) { .loading { grid-template-columns: 1fr auto; } }
    `,
  ];

  override render(): TemplateResult {
    const { current, failure } = this.host;
    return html`<section class="card" aria-label="The model">
      <div class="row">
        ${current ? this.facts(current) : html`<p class="hint facts">${this.host.pending ? 'The model is on its way.' : 'No model is loaded.'}</p>`}
        <button aria-expanded=${this.open ? 'true' : 'false'} id="other-model" @click=${() => {
          this.open = !this.open;
        }}>Load another model</button>
      </div>
      ${this.host.pending ? this.progress(this.host.pending) : nothing}
      ${
        failure
          ? html`<error-note .error=${failure.error} subject=${`Loading ${failure.label}`} @dismiss=${() => this.host.dismiss()}
            consequence=${current ? `${current.label} is still loaded and works on.` : ''}></error-note>`
          : nothing
      }
      ${this.open ? html`<model-loader .host=${this.host}></model-loader>` : nothing}
    </section>`;
  }

  private facts(current: LoadedModel): TemplateResult {
    const { cfg } = current.model;
    const info = current.model.info();
    return html`<span class="name">${current.label}</span>
      <p class="facts number">
        <span><b>${cfg.n_layers}</b> layers × <b>${cfg.n_heads}</b> heads</span>
        <span>width <b>${amount(cfg.d_model)}</b></span>
        <span>knows <b>${amount(cfg.d_vocab)}</b> tokens</span>
        <span>reads up to <b>${amount(cfg.n_ctx)}</b></span>
        <span>weights <b>${bytes(info.weightsBytes)}</b></span>
        <span>WASM build <b>${info.simd}</b>, ${bytes(info.wasmBytes)}</span>
        ${this.host.speed === undefined ? nothing : html`<span>writes up to <b>${amount(this.host.speed)}</b> tokens/s here</span>`}
        <span>loaded in <b>${amount(Math.round(this.host.milliseconds))}</b> ms</span>
      </p>`;
  }

  private progress(label: string): TemplateResult {
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
