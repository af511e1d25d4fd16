// A figure whose layout depends on its width, with choices rendered as buttons or, if narrow, as select elements.

import { html, type TemplateResult } from 'lit';
import type { ChapterWords } from './chapter.js';
import { OwnWidth } from './controllers.js';
import { Figure } from './figure.js';

/** Below this width choices are select elements and the parts of a figure are stacked. */
const narrowBelow = 700;

interface Choice {
  /** The parameter of the address that it sets. */
  readonly key: string;
  readonly name: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly chosen: string;
  /** Parameters that are of the option chosen before. */
  readonly clears?: readonly string[];
}

export abstract class MeasuredFigure<Data, Words extends ChapterWords> extends Figure<Data, Words> {
  readonly #box = new OwnWidth(this);

  /** The figure's width in CSS pixels; 0 until it is known. */
  get width(): number {
    return this.#box.width;
  }

  get narrow(): boolean {
    return this.width < narrowBelow;
  }

  /** A choice of one option. */
  choice({ key, name, options, chosen, clears = [] }: Choice): TemplateResult {
    const cleared = Object.fromEntries(clears.map((one) => [one, undefined]));
    const choose = (value: string): void => this.choose({ ...cleared, [key]: value });
    if (this.narrow) {
      const pick = ({ target }: Event): void => choose((target as HTMLSelectElement).value);
      return html`<select aria-label=${name} @change=${pick}>${options.map(([value, text]) => html`<option value=${value} .selected=${value === chosen}>${/^\d+$/.test(text) ? `${name} ${text}` : text}</option>`)}</select>`;
    }
    return html`<div class="seg" role="group" aria-label=${name}><span>${name}</span>${options.map(([value, text]) => html`<button type="button" aria-pressed=${value === chosen} @click=${() => choose(value)}>${text}</button>`)}</div>`;
  }
}
