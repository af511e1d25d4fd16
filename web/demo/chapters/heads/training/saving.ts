// The trained model as files: save_pretrained's, one download each.

import { html, type TemplateResult } from 'lit';
import { download } from '../../../book/download.js';
import { grouped } from '../../../book/grouped.js';
import { filled } from '../../../book/markup.js';
import type { FigureHeads } from '../figure.js';
import type { Training } from './view.js';

const names = ['model.safetensors', 'config.json'];

export function saved(figure: FigureHeads, training: Training): TemplateResult {
  const { words, trainer } = training;
  const button = (file: string): TemplateResult =>
    html`<button type="button" class="chip" ?disabled=${trainer.training} @click=${() => void save(figure, training, file)}>${file}</button>`;
  return html`<p class="readout acts"><span>${words.save}</span> ${names.map(button)}</p>`;
}

async function save(figure: FigureHeads, { words, trainer }: Training, file: string): Promise<void> {
  const bytes = await trainer.file(file);
  if (!bytes) return; // the failure is shown
  download(file, new Blob([bytes]));
  figure.say(filled(words.saved, { file, bytes: grouped(bytes.length) }));
}
