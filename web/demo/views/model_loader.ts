// A place to load one's own checkpoint: by its name on the Hub, or from a folder or files of this device.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { ModelHost } from '../state/model_host.js';
import './file_pick.js';
import { shared } from './styles.js';

const buttons = [
  { id: 'folder', label: 'Choose a folder', folder: true },
  { id: 'files', label: 'Choose files', folder: false },
];

export class ModelLoader extends LitElement {
  static override properties: PropertyDeclarations = {
    host: { attribute: false },
  };
  declare host: ModelHost;

  static override styles = [
    shared,
    css`
      .panel { display: grid; grid-template-columns: 1fr 1fr; gap: 18px; }
      form { display: flex; gap: 8px; margin-top: 6px; }
      form input { flex: 1; min-width: 0; }
      .hint { margin-top: 8px; }
      @media (max-width: 720px) { .panel { grid-template-columns: 1fr; } }
    `,
  ];

  override render(): TemplateResult {
    return html`<div class="panel">
      <file-pick heading="From this device" .buttons=${buttons}
        hint="Drop a model folder here: config.json, model.safetensors (or its shards and index), and the tokenizer's or processor's files. Nothing is uploaded."
        @files=${(event: CustomEvent<File[]>) => this.#loadFiles(event.detail)}></file-pick>
      <div>
        <h3 id="hub-title">From the Hugging Face Hub</h3>
        <form @submit=${this.#onHub}>
          <input type="text" id="hub-id" aria-labelledby="hub-title" placeholder="owner/name" autocomplete="off" spellcheck="false" required />
          <button type="submit">Load</button>
        </form>
        <p class="hint">Any checkpoint in safetensors format of an architecture the library has: BERT and its kin, GPT-2, Llama, Qwen, Gemma, Mistral, Phi, T5, BART, Marian, ViT, DeiT, CLIP, Whisper. It is fetched straight into this tab.</p>
      </div>
    </div>`;
  }

  #onHub(event: Event): void {
    event.preventDefault();
    const id = this.renderRoot.querySelector<HTMLInputElement>('#hub-id')?.value.trim() ?? '';
    if (id !== '') void this.host.load(id, id);
  }

  #loadFiles(files: File[]): void {
    const [folder, inside] = files[0]?.webkitRelativePath.split('/') ?? [];
    void this.host.load(files, folder && inside ? folder : 'your files');
  }
}

customElements.define('model-loader', ModelLoader);
