// The form that adds an edit: a hook, its head and position, and the operation.

import type { PreTrainedModel } from 'clearformer';
import { html, type TemplateResult } from 'lit';
import type { EditSpec } from '../../book/edits.js';
import { filled } from '../../book/markup.js';
import type { FigureLaboratory } from './figure.js';

const operations = ['zero', 'mean', 'scale', 'add', 'replace'] as const;

export function editForm(figure: FigureLaboratory, model: PreTrainedModel): TemplateResult {
  const { labels } = figure.words;
  return html`<form class="row edit" @submit=${(event: Event) => add(event, figure, model)}>
    <label>${labels.hookName} <input name="hook" type="text" list="hooks" value="blocks.0.attn.hook_z" required @input=${valid} /></label>
    <datalist id="hooks">${model.hooks().map(({ name }) => html`<option value=${name}></option>`)}</datalist>
    <label>${labels.head} <input class="short" name="head" type="number" step="1" /></label>
    <label>${labels.pos} <input class="short" name="pos" type="number" step="1" /></label>
    <label>${labels.op} <select name="op">${operations.map((op) => html`<option value=${op}>${op}</option>`)}</select></label>
    <label>${labels.value} <input class="short" name="value" type="number" step="any" /></label>
    <button class="chip">${labels.add}</button>
  </form>`;
}

/** Whether the field names hooks of the model; says so there if not, so that the bench stays. */
export function isHook(field: HTMLInputElement, model: PreTrainedModel, otherwise: string): boolean {
  const name = field.value.trim();
  const pattern = new RegExp(`^${name.replace(/[^\w*]/g, '\\$&').replaceAll('*', '.*')}$`);
  if (model.hooks().some((hook) => pattern.test(hook.name))) return true;
  field.setCustomValidity(filled(otherwise, { hook: name }));
  return field.reportValidity();
}

/** What is typed next may be right. */
export const valid = ({ target }: Event): void => (target as HTMLInputElement).setCustomValidity('');

function add(event: Event, figure: FigureLaboratory, model: PreTrainedModel): void {
  event.preventDefault();
  const field = (event.target as HTMLFormElement).elements.namedItem('hook') as HTMLInputElement;
  if (!isHook(field, model, figure.words.labels.noHook)) return;
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
