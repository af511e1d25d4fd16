// An input for local files: a button, and a drop target.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { figureStyles } from '../../book/figure_styles.js';
import { droppedFiles } from './dropped_files.js';

class FilePick extends LitElement {
  static override properties: PropertyDeclarations = {
    heading: {},
    hint: {},
    buttons: { attribute: false },
    accept: {},
    over: { state: true },
  };
  declare heading: string;
  declare hint: string;
  /** Buttons: the label of each, and whether it picks a folder. */
  declare buttons: readonly { id: string; label: string; folder: boolean }[];
  declare accept: string;
  declare private over: boolean;

  static override styles = [
    figureStyles,
    css`
      .drop { border: 1.5px dashed var(--cf-line-strong); border-radius: 10px; padding: 14px; text-align: center; }
      .drop.over { border-color: var(--cf-accent); background: var(--cf-accent-soft); }
      .pick { display: flex; flex-wrap: wrap; gap: 8px; justify-content: center; margin-top: 10px; }
      .hint { margin-top: 8px; }
      input { display: none; }
    `,
  ];

  constructor() {
    super();
    this.heading = '';
    this.hint = '';
    this.buttons = [];
    this.accept = '';
    this.over = false;
  }

  override render(): TemplateResult {
    return html`<div class="drop ${this.over ? 'over' : ''}" @dragover=${this.#onDragOver} @dragleave=${() => {
      this.over = false;
    }} @drop=${this.#onDrop}>
      <p><b>${this.heading}</b></p>
      ${this.hint === '' ? '' : html`<p class="hint muted">${this.hint}</p>`}
      <div class="pick">${this.buttons.map(({ id, label, folder }) => this.#picker(id, label, folder))}</div>
    </div>`;
  }

  #picker(id: string, label: string, folder: boolean): TemplateResult {
    const open = (): void => this.renderRoot.querySelector<HTMLInputElement>(`#${id}`)?.click();
    return html`<button type="button" class="chip" @click=${open}>${label}</button>
      <input type="file" id=${id} multiple accept=${this.accept} ?webkitdirectory=${folder} tabindex="-1" aria-label=${label} @change=${this.#onFiles} />`;
  }

  #onFiles(event: Event): void {
    const input = event.target as HTMLInputElement;
    this.#give(Array.from(input.files ?? []));
    input.value = '';
  }

  #onDragOver(event: DragEvent): void {
    event.preventDefault();
    this.over = true;
  }

  async #onDrop(event: DragEvent): Promise<void> {
    event.preventDefault();
    this.over = false;
    if (event.dataTransfer) this.#give(await droppedFiles(event.dataTransfer));
  }

  /** None, too, as of an empty folder, which is what there is to say of it. */
  #give(files: File[]): void {
    this.dispatchEvent(new CustomEvent<File[]>('files', { detail: files }));
  }
}

customElements.define('file-pick', FilePick);
