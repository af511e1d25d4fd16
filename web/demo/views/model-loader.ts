// A place to load one's own checkpoint: by its name on the Hub, or from a folder or files of this device.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { droppedFiles } from '../state/dropped-files.js';
import type { ModelHost } from '../state/model-host.js';
import { shared } from './styles.js';

@customElement('model-loader')
export class ModelLoader extends LitElement {
  @property({ attribute: false }) host!: ModelHost;
  @state() private over = false;

  static override styles = [
    shared,
    css`
      .panel { display: grid; grid-template-columns: 1fr 1fr; gap: 18px; }
      form { display: flex; gap: 8px; margin-top: 6px; }
      form input { flex: 1; min-width: 0; }
      .drop { border: 1.5px dashed var(--line-strong); border-radius: 10px; padding: 14px; text-align: center; }
      .drop.over { border-color: var(--focus); background: var(--focus-soft); }
      .pick { display: flex; flex-wrap: wrap; gap: 8px; justify-content: center; margin-top: 10px; }
      .hint { margin-top: 8px; }
      input[type='file'] { display: none; }
      @media (max-width: 720px) { .panel { grid-template-columns: 1fr; } }
    `,
  ];

  override render(): TemplateResult {
    return html`<div class="panel">
      <div>
        <h3 id="hub-title">From the Hugging Face Hub</h3>
        <form @submit=${this.onHub}>
          <input type="text" id="hub-id" aria-labelledby="hub-title" placeholder="owner/name" autocomplete="off" spellcheck="false" required />
          <button type="submit">Load</button>
        </form>
        <p class="hint">Any checkpoint of the Llama family in safetensors format. It is fetched straight into this tab; the bundled model needs no network.</p>
      </div>
      <div class="drop ${this.over ? 'over' : ''}" @dragover=${this.onDragOver} @dragleave=${() => {
        this.over = false;
      }} @drop=${this.onDrop}>
        <h3>From this device</h3>
        <p class="hint">Drop a model folder here: config.json, model.safetensors (or its shards and index) and tokenizer.json. Nothing is uploaded.</p>
        <div class="pick">${this.picker('Choose a folder', 'folder', true)} ${this.picker('Choose files', 'files', false)}</div>
      </div>
    </div>`;
  }

  private picker(label: string, id: string, folder: boolean): TemplateResult {
    const open = (): void => this.renderRoot.querySelector<HTMLInputElement>(`#${id}`)?.click();
    return html`<button type="button" @click=${open}>${label}</button>
      <input type="file" id=${id} multiple ?webkitdirectory=${folder} tabindex="-1" aria-label=${label} @change=${this.onFiles} />`;
  }

  private onHub(event: Event): void {
    event.preventDefault();
    const id = this.renderRoot.querySelector<HTMLInputElement>('#hub-id')?.value.trim() ?? '';
    if (id !== '') void this.host.load(id, id);
  }

  private onFiles(event: Event): void {
    const input = event.target as HTMLInputElement;
    this.loadFiles(Array.from(input.files ?? []));
    input.value = '';
  }

  private onDragOver(event: DragEvent): void {
    event.preventDefault();
    this.over = true;
  }

  private async onDrop(event: DragEvent): Promise<void> {
    event.preventDefault();
    this.over = false;
    if (event.dataTransfer) this.loadFiles(await droppedFiles(event.dataTransfer));
  }

  private loadFiles(files: File[]): void {
    const folder = files[0]?.webkitRelativePath.split('/')[0];
    if (files.length > 0) void this.host.load(files, folder || 'your files');
  }
}
