// Chapter: a model recognises an image, patch by patch: a digit that is drawn, or a file.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { ImageModel, type Seen } from '../state/image-model.js';
import { Attempt } from '../views/attempt.js';
import '../views/digit-pad.js';
import type { DigitPad } from '../views/digit-pad.js';
import '../views/file-pick.js';
import '../views/image-reading.js';
import { shared } from '../views/styles.js';
import { bundledChapter } from './chapter.js';

/** The sample that the chapter begins with. */
const kFirst = 5;
const kButtons = [{ id: 'image', label: 'Choose an image', folder: false }];

@customElement('image-chapter')
export class ImageChapter extends LitElement {
  @property({ attribute: false }) model!: ImageModel;
  /** Offers to draw a digit instead of choosing a file. */
  @property({ type: Boolean }) draws = false;
  @state() private seen: Seen | undefined;
  private attempt = new Attempt(this, 'Looking');

  static override styles = [shared, css`:host { display: grid; gap: var(--gap); }`];

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('model')) return;
    this.seen = undefined;
    this.attempt.reset();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('model')) void this.renderRoot.querySelector<DigitPad>('digit-pad')?.take(kFirst);
  }

  override render(): TemplateResult {
    return html`
      ${this.draws ? this.pad() : this.pick()}
      ${this.attempt.note()}
      ${this.seen ? html`<image-reading .seen=${this.seen}></image-reading>` : nothing}`;
  }

  private pad(): TemplateResult {
    return html`<digit-pad class="card" @digit=${(event: CustomEvent<HTMLCanvasElement>) => void this.see(event.detail)}></digit-pad>`;
  }

  private pick(): TemplateResult {
    return html`<file-pick class="card" heading="Drop an image here" accept="image/*" .buttons=${kButtons}
      @files=${(event: CustomEvent<File[]>) => void this.see(event.detail[0] as File)}></file-pick>`;
  }

  private see(image: HTMLCanvasElement | File): Promise<void> {
    return this.attempt.run(async (signal) => {
      const seen = await this.model.see(image, signal);
      if (!signal.aborted) this.seen = seen;
    });
  }
}

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
