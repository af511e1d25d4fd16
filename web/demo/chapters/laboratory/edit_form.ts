// The form that adds an edit: a hook, its head and position, and the operation.

import type { PreTrainedModel } from 'clearformer';
import { html, type TemplateResult } from 'lit';
import type { EditSpec } from '../../book/edits.js';
import type { FigureLaboratory } from './figure.js';

const operations = ['zero', 'mean', 'scale', 'add', 'replace'] as const;

export function editForm(figure: FigureLaboratory, model: PreTrainedModel): TemplateResult {
  const { labels } = figure.words;
  return html`<form class="row" @submit=${(event: Event) => add(event, figure)}>
    <label>${labels.hookName} <input name="hook" type="text" list="hooks" value="blocks.0.attn.hook_z" required /></label>
    <datalist id="hooks">${model.hooks().map(({ name }) => html`<option value=${name}></option>`)}</datalist>
    <label>${labels.head} <input class="short" name="head" type="number" step="1" /></label>
    <label>${labels.pos} <input class="short" name="pos" type="number" step="1" /></label>
    <label>${labels.op} <select name="op">${operations.map((op) => html`<option value=${op}>${op}</option>`)}</select></label>
    <label>${labels.value} <input class="short" name="value" type="number" step="any" /></label>
    <button class="chip">${labels.add}</button>
  </form>`;
}

function add(event: Event, figure: FigureLaboratory): void {
  event.preventDefault();
  const data = new FormData(event.target as HTMLFormElement);
  const number = (name: string): number | undefined => {
    const text = String(data.get(name) ?? '').trim();
    return text === '' ? undefined : Number(text);
  };
  const op = String(data.get('op')) as EditSpec['op'];
  const [head, pos] = [number('head'), number('pos')];
  const value = op === 'zero' ? undefined : (number('value') ?? (op === 'mean' ? undefined : 1));
  const spec: EditSpec = {
    hook: String(data.get('hook')).trim(),
    op,
    ...(head !== undefined && { head }),
    ...(pos !== undefined && { pos }),
    ...(value !== undefined && { value }),
  };
  figure.book.addEdit(spec);
}
