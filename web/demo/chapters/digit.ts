// Chapter: a model recognises an image, patch by patch: a digit that is drawn, or a file.

import {
  css,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import { ImageModel, type Seen } from '../state/image_model.js';
import { Attempt } from '../views/attempt.js';
import '../views/digit_pad.js';
import type { DigitPad } from '../views/digit_pad.js';
import '../views/file_pick.js';
import '../views/image_reading.js';
import { shared } from '../views/styles.js';
import { bundledChapter } from './chapter.js';

/** The sample that the chapter begins with. */
const firstSample = 5;
const buttons = [{ id: 'image', label: 'Choose an image', folder: false }];

export class ImageChapter extends LitElement {
  static override properties: PropertyDeclarations = {
    model: { attribute: false },
    draws: { type: Boolean },
    seen: { state: true },
  };
  declare model: ImageModel;
  /** Offers to draw a digit instead of choosing a file. */
  declare draws: boolean;
  declare private seen: Seen | undefined;
  #attempt = new Attempt(this, 'Looking');

  static override styles = [shared, css`:host { display: grid; gap: var(--gap); }`];

  constructor() {
    super();
    this.draws = false;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('model')) return;
    this.seen = undefined;
    this.#attempt.reset();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('model')) void this.renderRoot.querySelector<DigitPad>('digit-pad')?.take(firstSample);
  }

  override render(): TemplateResult {
    return html`
      ${this.draws ? this.#pad() : this.#pick()}
      ${this.#attempt.note()}
      ${this.seen ? html`<image-reading .seen=${this.seen}></image-reading>` : nothing}`;
  }

  #pad(): TemplateResult {
    return html`<digit-pad class="card" @digit=${(event: CustomEvent<HTMLCanvasElement>) => void this.#see(event.detail)}></digit-pad>`;
  }

  #pick(): TemplateResult {
    return html`<file-pick class="card" heading="Drop an image here" accept="image/*" .buttons=${buttons}
      @files=${(event: CustomEvent<File[]>) => void this.#see(event.detail[0] as File)}></file-pick>`;
  }

  #see(image: HTMLCanvasElement | File): Promise<void> {
    return this.#attempt.run(async (signal) => {
      const seen = await this.model.see(image, signal);
      if (!signal.aborted) this.seen = seen;
    });
  }
}

customElements.define('image-chapter', ImageChapter);

export const digit = bundledChapter({
  id: 'digit',
  name: 'See a digit',
  heading: 'Watch a model see',
  lede: 'The same layers read images: a digit of 28 × 28 pixels becomes 49 patches, and every patch attends to every other. What you draw is centred and scaled as the digits were that it learned from.',
  folder: 'vit-mnist',
  files: ['config.json', 'model.safetensors', 'preprocessor_config.json'],
  load: ImageModel.load,
  view: (model) => html`<image-chapter .model=${model} draws></image-chapter>`,
});
