// Chapter: the model writes a story. The text, what each token could have been, and what it looks at.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { type ColourScale, colourScale, type Spread } from '../state/colour-scale.js';
import { amount, visible } from '../state/format.js';
import type { Cell } from '../state/map-geometry.js';
import { kDefaultSettings, type StorySettings } from '../state/settings.js';
import { type Ending, type Phase, StorySession, type StoryToken } from '../state/story-session.js';
import type { LoadedModel } from '../state/text-model.js';
import { theme } from '../state/theme.js';
import '../views/attention-panel.js';
import '../views/candidate-list.js';
import '../views/error-note.js';
import type { HeadChoice } from '../views/head-overview.js';
import '../views/story-controls.js';
import type { StoryAction } from '../views/story-controls.js';
import { shared } from '../views/styles.js';
import '../views/token-strip.js';
import { storyStyles } from './story-styles.js';

const kEndings: Record<Ending, string> = {
  length: 'done',
  'end-token': 'ended by the model',
  context: 'as long as it can read',
  stopped: 'stopped',
  error: 'broke off',
};

/** Milliseconds. */
const kRestBetweenDrawings = 100;

@customElement('story-chapter')
export class StoryChapter extends LitElement {
  @property({ attribute: false }) model!: LoadedModel;
  @state() private session!: StorySession;
  @state() private revision = 0;
  @state() private settings: StorySettings = { ...kDefaultSettings };
  @state() private scale: ColourScale = colourScale(theme.current, 'root');
  @state() private chosen: HeadChoice = { layer: 2, head: 4 };
  @state() private pinned: number | undefined;
  @state() private hovered: number | undefined;
  @state() private cell: Cell | undefined;
  private drawing = false;
  private drawnPhase: Phase = 'idle';

  static override styles = [shared, storyStyles];

  override connectedCallback(): void {
    super.connectedCallback();
    theme.addEventListener('change', this.onTheme);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    theme.removeEventListener('change', this.onTheme);
    void this.session.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('model')) return;
    if (this.hasUpdated) void this.session.stop();
    this.session = new StorySession(this.model);
    this.session.addEventListener('change', this.onSession);
    this.chosen = {
      layer: Math.min(this.chosen.layer, this.model.layers - 1),
      head: Math.min(this.chosen.head, this.model.heads - 1),
    };
    this.act('write');
  }

  override render(): TemplateResult {
    const { session, revision, scale } = this;
    const growing = session.phase !== 'idle';
    return html`
      <story-controls class="card" .settings=${this.settings} .phase=${session.phase} .context=${this.model.context}
        @settings-change=${this.onSettings} @story-action=${(event: CustomEvent<StoryAction>) => this.act(event.detail)}></story-controls>
      <div class="columns">
        <div class="column">${this.text(growing)} ${this.candidates()}</div>
        <attention-panel .store=${session.attention} .revision=${revision} .chosen=${this.chosen} .scale=${scale}
          .texts=${session.tokens.map((token) => token.text)} .query=${this.query} .cell=${this.cell} ?growing=${growing}
          @head-pick=${(event: CustomEvent<HeadChoice>) => {
            this.chosen = event.detail;
          }}
          @cell-hover=${(event: CustomEvent<Cell | undefined>) => {
            this.cell = event.detail;
          }}
          @spread-change=${(event: CustomEvent<Spread>) => {
            this.scale = colourScale(theme.current, event.detail);
          }}
          @token-pick=${this.onPick}></attention-panel>
      </div>`;
  }

  /** The token in focus: pointed at, else kept, else the newest. */
  private get focusIndex(): number {
    return this.hovered ?? this.pinned ?? this.session.tokens.length - 1;
  }

  private get following(): boolean {
    return this.hovered === undefined && this.pinned === undefined;
  }

  /** The token whose attention is shown; the newest token has none until it is read. */
  private get query(): number | undefined {
    const last = this.session.attention.rows - 1;
    const wanted = this.following ? last : this.focusIndex;
    return wanted >= 0 && wanted <= last ? wanted : undefined;
  }

  private text(growing: boolean): TemplateResult {
    const { session, query } = this;
    const shown = this.cell?.query ?? query;
    const { layer, head } = this.chosen;
    return html`<section class="card text" aria-labelledby="text-title" data-run=${session.runs} data-phase=${session.phase}>
      <div class="title"><h2 id="text-title">The text</h2><span class="hint number" id="speed">${this.speed()}</span></div>
      <token-strip .tokens=${session.tokens} .revision=${this.revision} .scale=${this.scale} .pinned=${this.pinned}
        .weights=${shown === undefined ? [] : session.attention.row(layer, head, shown)} .query=${this.cell?.query ?? (this.following ? query : this.focusIndex)}
        .key=${this.cell?.key} ?writing=${growing}
        @token-hover=${this.onHover} @token-pick=${this.onPickInText}></token-strip>
      ${session.error === undefined ? nothing : html`<error-note .error=${session.error} subject="Writing" @dismiss=${this.onDismiss}></error-note>`}
      <p class="hint caption">${this.caption(shown)}</p>
    </section>`;
  }

  private speed(): string {
    const { timing, phase, ending } = this.session;
    const state = phase === 'idle' && ending ? `${kEndings[ending]} · ` : phase === 'paused' ? 'paused · ' : '';
    if (timing.tokens === 0) return state.replace(' · ', '');
    return `${state}${amount(timing.tokens)} tokens, ${amount((timing.tokens / timing.milliseconds) * 1000)} tokens/s`;
  }

  private caption(shown: number | undefined): TemplateResult {
    const { tokens } = this.session;
    const { layer, head } = this.chosen;
    const focus = tokens[this.focusIndex];
    if (shown === undefined && focus)
      return html`${this.name(focus)} has not been read yet: a token attends only once it is read.`;
    const token = shown === undefined ? undefined : tokens[shown];
    if (!token) return html`&nbsp;`;
    const last = this.following && !this.cell && shown === tokens.length - 2 ? ', the last token read,' : '';
    const letGo =
      this.pinned === undefined ? nothing : html` <button class="plain" @click=${this.letGo}>let go</button>`;
    return html`Shaded: what ${this.name(token)}${last} attends to in layer ${layer + 1}, head ${head + 1}.${letGo}`;
  }

  private name(token: StoryToken): TemplateResult {
    return html`<span class="name">${visible(token.text)}</span>`;
  }

  private candidates(): TemplateResult {
    const at = this.focusIndex;
    const token = this.session.tokens[at];
    return html`<section class="card candidates" aria-labelledby="candidates-title">
      <h2 id="candidates-title">What it could have written</h2>
      ${token === undefined ? nothing : this.heading(token, at)}
      <candidate-list .distribution=${token?.distribution} .textOf=${(id: number) => this.textAt(at, id)}
        @candidate-take=${(event: CustomEvent<number>) => this.take(at, event.detail)}></candidate-list>
    </section>`;
  }

  private heading(token: StoryToken, at: number): TemplateResult {
    const place = html`<span class="number">token ${at + 1}</span>`;
    if (at === 0)
      return html`<p class="hint">${place}, ${this.name(token)}: the text begins here, nothing comes before it.</p>`;
    if (token.origin === 'prompt') {
      return html`<p class="hint">${place}: you gave ${this.name(token)}. The model would have expected this:</p>`;
    }
    if (token.origin === 'reader') return html`<p class="hint">${place}: you put ${this.name(token)} here.</p>`;
    const how = this.session.settings?.do_sample ? 'one was drawn' : 'the likeliest was taken';
    return html`<p class="hint">Every token got a probability, ${how}: ${this.name(token)}. Take another with ↳ to write on from there.</p>`;
  }

  private textAt(position: number, token_id: number): string {
    return this.model.piece([...this.session.tokens.slice(0, position).map((token) => token.id), token_id]).text;
  }

  private take(position: number, token_id: number): void {
    this.letGo();
    void this.session.branch(position, token_id, this.settings);
  }

  private act(action: StoryAction): void {
    const { session, settings } = this;
    if (action === 'pause') session.pause();
    else if (action === 'resume') session.resume();
    else if (action === 'stop') void session.stop();
    else if (action === 'step' && session.phase === 'paused') session.step();
    else {
      this.letGo();
      void session.start(settings, action === 'step');
    }
  }

  private letGo(): void {
    this.pinned = undefined;
    this.hovered = undefined;
    this.cell = undefined;
  }

  private onHover(event: CustomEvent<number | undefined>): void {
    this.hovered = event.detail;
    if (event.detail !== undefined) this.cell = undefined;
  }

  private onPickInText(event: CustomEvent<number | undefined>): void {
    this.cell = undefined;
    this.onPick(event);
  }

  private onPick(event: CustomEvent<number | undefined>): void {
    this.pinned = event.detail;
  }

  private onDismiss(): void {
    this.session.error = undefined;
    this.requestUpdate();
  }

  private onSettings(event: CustomEvent<StorySettings>): void {
    if (event.detail.pace !== this.settings.pace) this.session.setPace(event.detail.pace);
    this.settings = event.detail;
  }

  private onTheme = (): void => {
    this.scale = colourScale(theme.current, this.scale.spread);
  };

  /** At full speed the page is drawn now and then, so that drawing does not hold the model up; a new phase at once. */
  private onSession = (event: Event): void => {
    const { session } = this;
    if (event.target !== session || this.drawing) return;
    this.drawing = true;
    const draw = (): void => {
      this.drawing = false;
      this.drawnPhase = session.phase;
      this.revision++;
    };
    const rest = this.settings.pace === 0 && session.phase === this.drawnPhase ? kRestBetweenDrawings : 0;
    setTimeout(() => requestAnimationFrame(draw), rest);
  };
}
