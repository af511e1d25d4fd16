// A text while a model writes it: its tokens, what each of them could have been, and what it looks at.

import {
  css,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import { amount, visible } from '../state/format.js';
import type { Ending, Phase, StorySession, StoryToken } from '../state/story_session.js';
import { AttentionFocus } from './attention_focus.js';
import './candidate_list.js';
import './error_note.js';
import type { HeadChoice } from './head_overview.js';
import { columns, shared } from './styles.js';
import './token_strip.js';

/** The reader takes another token at a place. */
export interface Taken {
  position: number;
  token_id: number;
}

const endingNames: Record<Ending, string> = {
  length: 'done',
  'end-token': 'ended by the model',
  context: 'as long as it can read',
  stopped: 'stopped',
  error: 'broke off',
};

/** Milliseconds. */
const restBetweenDrawings = 100;

export class WrittenText extends LitElement {
  static override properties: PropertyDeclarations = {
    session: { attribute: false },
    head: { attribute: false },
    revision: { state: true },
  };
  declare session: StorySession;
  /** The head that is shown first. */
  declare head: HeadChoice;
  declare private revision: number;
  #sight = new AttentionFocus(this);
  #drawing = false;
  #drawnPhase: Phase = 'idle';

  static override styles = [
    shared,
    columns,
    css`
      .title { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 2px 12px; align-items: baseline; }
      token-strip { margin: 10px 0 8px; min-height: var(--strip, 15.2rem); max-height: 25rem; }
      .candidates { min-height: var(--candidates, 24rem); }
      error-note { margin-bottom: 10px; }
      .caption { border-top: 1px solid var(--line); padding-top: 8px; min-height: 3.4em; }
      .caption button { min-height: 24px; font-size: inherit; color: var(--accent); }
      .name { font-family: var(--font-code); font-size: 0.92em; color: var(--ink); padding: 1px 4px; border-radius: 5px; background: var(--sunken); white-space: pre; }
      candidate-list { margin-top: 10px; }
      @media (max-width: 960px) { token-strip { min-height: min(8rem, var(--strip, 8rem)); max-height: 17rem; } }
    `,
  ];

  constructor() {
    super();
    this.head = { layer: 0, head: 0 };
    this.revision = 0;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('session')) return;
    changed.get('session')?.removeEventListener('change', this.#onSession);
    this.session.addEventListener('change', this.#onSession);
    if (!this.hasUpdated) this.#sight.chosen = this.head;
    this.#sight.fit(this.session.model);
  }

  /** Forgets what is kept in focus: another text begins. */
  letGo(): void {
    this.#sight.letGo();
  }

  override render(): TemplateResult {
    const { session, revision } = this;
    const query = this.#query;
    const growing = session.phase !== 'idle';
    const texts = session.tokens.map((token) => token.text);
    return html`<div class="columns">
      <div class="column">${this.#text(growing)} ${this.#candidates()}</div>
      ${this.#sight.panel({ maps: session.attention, revision, texts, query, growing })}
    </div>`;
  }

  /** The token in focus, else the newest. */
  get #focusIndex(): number {
    return this.#sight.token ?? this.session.tokens.length - 1;
  }

  get #following(): boolean {
    return this.#sight.token === undefined;
  }

  /** The token whose attention is shown; the newest token has none until it is read. */
  get #query(): number | undefined {
    const last = this.session.attention.rows - 1;
    const wanted = this.#following ? last : this.#focusIndex;
    return wanted >= 0 && wanted <= last ? wanted : undefined;
  }

  #text(growing: boolean): TemplateResult {
    const { session } = this;
    const [query, sight] = [this.#query, this.#sight];
    const shown = sight.cell?.query ?? query;
    const { layer, head } = sight.chosen;
    return html`<section class="card text" aria-labelledby="text-title" data-run=${session.runs} data-phase=${session.phase}>
      <div class="title"><h2 id="text-title">The text</h2><span class="hint number" id="speed">${this.#speed()}</span></div>
      <token-strip .tokens=${session.tokens} .revision=${this.revision} .scale=${sight.scale} .pinned=${sight.pinned}
        .weights=${shown === undefined ? [] : session.attention.row(layer, head, shown)}
        .query=${sight.cell?.query ?? (this.#following ? query : this.#focusIndex)} .key=${sight.cell?.key} ?writing=${growing}
        @token-hover=${sight.onTextHover} @token-pick=${sight.onTextPick}></token-strip>
      ${session.error === undefined ? nothing : html`<error-note .error=${session.error} subject="Writing" @dismiss=${this.#onDismiss}></error-note>`}
      <p class="hint caption">${this.#caption(shown)}</p>
    </section>`;
  }

  #speed(): string {
    const { timing, phase, ending } = this.session;
    const state = phase === 'idle' && ending ? `${endingNames[ending]} · ` : phase === 'paused' ? 'paused · ' : '';
    if (timing.tokens === 0) return state.replace(' · ', '');
    return `${state}${amount(timing.tokens)} tokens, ${amount((timing.tokens / timing.milliseconds) * 1000)} tokens/s`;
  }

  #caption(shown: number | undefined): TemplateResult {
    const { tokens } = this.session;
    const { chosen, cell, pinned, letGo } = this.#sight;
    const focus = tokens[this.#focusIndex];
    if (shown === undefined && focus)
      return html`${this.#name(focus)} has not been read yet: a token attends only once it is read.`;
    const token = shown === undefined ? undefined : tokens[shown];
    if (!token) return html`&nbsp;`;
    const last = this.#following && !cell && shown === tokens.length - 2 ? ', the last token read,' : '';
    const release = pinned === undefined ? nothing : html` <button class="plain" @click=${letGo}>let go</button>`;
    return html`Shaded: what ${this.#name(token)}${last} attends to in layer ${chosen.layer + 1}, head ${chosen.head + 1}.${release}`;
  }

  #name(token: StoryToken): TemplateResult {
    return html`<span class="name">${visible(token.text)}</span>`;
  }

  #candidates(): TemplateResult {
    const at = this.#focusIndex;
    const token = this.session.tokens[at];
    return html`<section class="card candidates" aria-labelledby="candidates-title">
      <h2 id="candidates-title">What it could have written</h2>
      ${token === undefined ? nothing : this.#heading(token, at)}
      <candidate-list .distribution=${token?.distribution} .textOf=${(id: number) => this.#textAt(at, id)}
        @candidate-take=${(event: CustomEvent<number>) => this.#take({ position: at, token_id: event.detail })}></candidate-list>
    </section>`;
  }

  #heading(token: StoryToken, at: number): TemplateResult {
    const place = html`<span class="number">token ${at + 1}</span>`;
    if (at === 0)
      return html`<p class="hint">${place}, ${this.#name(token)}: the text begins here, nothing comes before it.</p>`;
    if (token.origin === 'prompt') {
      return html`<p class="hint">${place}: you gave ${this.#name(token)}. The model would have expected this:</p>`;
    }
    if (token.origin === 'reader') return html`<p class="hint">${place}: you put ${this.#name(token)} here.</p>`;
    const how = this.session.settings?.do_sample ? 'one was drawn' : 'the likeliest was taken';
    return html`<p class="hint">Every token got a probability, ${how}: ${this.#name(token)}. Take another with ↳ to write on from there.</p>`;
  }

  #textAt(position: number, token_id: number): string {
    const { tokens, model } = this.session;
    return model.piece([...tokens.slice(0, position).map((token) => token.id), token_id]).text;
  }

  #take(taken: Taken): void {
    this.letGo();
    this.dispatchEvent(new CustomEvent<Taken>('token-take', { detail: taken }));
  }

  #onDismiss(): void {
    this.session.error = undefined;
    this.requestUpdate();
  }

  /** At full speed the page is drawn now and then, so that drawing does not hold the model up; a new phase at once. */
  #onSession = (event: Event): void => {
    const { session } = this;
    if (event.target !== session || this.#drawing) return;
    this.#drawing = true;
    const draw = (): void => {
      this.#drawing = false;
      this.#drawnPhase = session.phase;
      this.revision++;
    };
    const rest = session.settings?.pace === 0 && session.phase === this.#drawnPhase ? restBetweenDrawings : 0;
    setTimeout(() => requestAnimationFrame(draw), rest);
  };
}

customElements.define('written-text', WrittenText);
