// A place for files of this device: a button, and a surface to drop them on.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { droppedFiles } from '../state/dropped-files.js';
import { shared } from './styles.js';

@customElement('file-pick')
export class FilePick extends LitElement {
  @property() heading = '';
  @property() hint = '';
  /** Buttons: what each says, and whether it asks for a folder. */
  @property({ attribute: false }) buttons: readonly { id: string; label: string; folder: boolean }[] = [];
  @property() accept = '';
  @state() private over = false;

  static override styles = [
    shared,
    css`
      .drop { border: 1.5px dashed var(--line-strong); border-radius: 10px; padding: 14px; text-align: center; }
      .drop.over { border-color: var(--focus); background: var(--focus-soft); }
      .pick { display: flex; flex-wrap: wrap; gap: 8px; justify-content: center; margin-top: 10px; }
      .hint { margin-top: 8px; }
      input { display: none; }
    `,
  ];

  override render(): TemplateResult {
    return html`<div class="drop ${this.over ? 'over' : ''}" @dragover=${this.onDragOver} @dragleave=${() => {
      this.over = false;
    }} @drop=${this.onDrop}>
      <h3>${this.heading}</h3>
      ${this.hint === '' ? '' : html`<p class="hint">${this.hint}</p>`}
      <div class="pick">${this.buttons.map(({ id, label, folder }) => this.picker(id, label, folder))}</div>
    </div>`;
  }

  private picker(id: string, label: string, folder: boolean): TemplateResult {
    const open = (): void => this.renderRoot.querySelector<HTMLInputElement>(`#${id}`)?.click();
    return html`<button type="button" @click=${open}>${label}</button>
      <input type="file" id=${id} multiple accept=${this.accept} ?webkitdirectory=${folder} tabindex="-1" aria-label=${label} @change=${this.onFiles} />`;
  }

  private onFiles(event: Event): void {
    const input = event.target as HTMLInputElement;
    this.give(Array.from(input.files ?? []));
    input.value = '';
  }

  private onDragOver(event: DragEvent): void {
    event.preventDefault();
    this.over = true;
  }

  private async onDrop(event: DragEvent): Promise<void> {
    event.preventDefault();
    this.over = false;
    if (event.dataTransfer) this.give(await droppedFiles(event.dataTransfer));
  }

  private give(files: File[]): void {
    if (files.length > 0) this.dispatchEvent(new CustomEvent<File[]>('files', { detail: files }));
  }
}
