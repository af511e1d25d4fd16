// Chapter: the model writes a story. The text, what each token could have been, and what it looks at.

import { css, html, type TemplateResult } from 'lit';
import { defaultSettings, type StorySettings } from '../state/settings.js';
import { LoadedModel } from '../state/text_model.js';
import '../views/story_controls.js';
import type { StoryAction } from '../views/story_controls.js';
import { shared } from '../views/styles.js';
import { bundledChapter } from './chapter.js';
import { WritingChapter } from './writing_chapter.js';

export class StoryChapter extends WritingChapter {
  static override styles = [shared, css`:host { display: grid; gap: var(--gap); }`];

  constructor() {
    super({ ...defaultSettings });
  }

  override render(): TemplateResult {
    return html`
      <story-controls class="card" .settings=${this.settings} .phase=${this.phase} .context=${this.model.context}
        @settings-change=${this.#onSettings} @story-action=${(event: CustomEvent<StoryAction>) => this.act(event.detail)}></story-controls>
      ${this.written()}`;
  }

  #onSettings(event: CustomEvent<StorySettings>): void {
    if (event.detail.pace !== this.settings.pace) this.session.setPace(event.detail.pace);
    this.settings = event.detail;
  }
}

customElements.define('story-chapter', StoryChapter);

export const story = bundledChapter({
  id: 'story',
  name: 'Write a story',
  heading: 'Watch a language model write',
  lede: 'A complete transformer runs in this page. Point at any token to see what else it could have been, and what it looks at.',
  folder: 'stories260K',
  files: ['config.json', 'generation_config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'],
  load: LoadedModel.load,
  view: (model) => html`<story-chapter .model=${model}></story-chapter>`,
});
