// What chapters have in common in which a model writes a text: the session, its beginning and end, and another token taken.

import { html, LitElement, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import type { StorySettings } from '../state/settings.js';
import { type Phase, StorySession } from '../state/story_session.js';
import type { LoadedModel } from '../state/text_model.js';
import type { HeadChoice } from '../views/head_overview.js';
import type { StoryAction } from '../views/story_controls.js';
import '../views/written_text.js';
import type { Taken, WrittenText } from '../views/written_text.js';

export abstract class WritingChapter extends LitElement {
  static override properties: PropertyDeclarations = {
    model: { attribute: false },
    session: { state: true },
    phase: { state: true },
    settings: { state: true },
  };
  declare model: LoadedModel;
  declare protected session: StorySession;
  declare protected phase: Phase;
  declare protected settings: StorySettings;
  /** The head that is shown first. */
  protected readonly head: HeadChoice = { layer: 2, head: 4 };

  constructor(settings: StorySettings) {
    super();
    this.phase = 'idle';
    this.settings = settings;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    void this.session.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('model')) return;
    if (this.hasUpdated) void this.session.stop();
    this.session = new StorySession(this.model);
    this.session.addEventListener('change', this.#onSession);
    this.act('write');
  }

  protected written(): TemplateResult {
    return html`<written-text .session=${this.session} .head=${this.head}
      @token-take=${({ detail: { position, token_id } }: CustomEvent<Taken>) =>
        void this.session.branch(position, token_id, this.settings)}></written-text>`;
  }

  protected act(action: StoryAction): void {
    const { session, settings } = this;
    if (action === 'pause') session.pause();
    else if (action === 'resume') session.resume();
    else if (action === 'stop') void session.stop();
    else if (action === 'step' && session.phase === 'paused') session.step();
    else {
      this.renderRoot.querySelector<WrittenText>('written-text')?.letGo();
      void session.start(settings, action === 'step');
    }
  }

  #onSession = (event: Event): void => {
    if (event.target === this.session) this.phase = this.session.phase;
  };
}
