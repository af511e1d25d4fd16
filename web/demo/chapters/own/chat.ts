// The chat with the reader's own model: messages, the answer as it is written, and what the context still holds.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { KeptFocus } from '../../book/controllers.js';
import { errorText } from '../../book/error_text.js';
import { fieldKey } from '../../book/field_keys.js';
import { figureStyles } from '../../book/figure_styles.js';
import { grouped } from '../../book/grouped.js';
import { filled } from '../../book/markup.js';
import type { words as english } from '../../words/en/own.js';
import type { ShellWords } from '../../words/en/shell.js';
import { chatStyles } from './chat_styles.js';
import type { Conversation, Sampling, Turn } from './conversation.js';

type Setting = readonly [keyof Sampling, 'temperature' | 'topP' | 'topK' | 'mostTokens', { max: number; step: number }];
const settings: readonly Setting[] = [
  ['temperature', 'temperature', { max: 5, step: 0.1 }],
  ['top_p', 'topP', { max: 1, step: 0.05 }],
  ['top_k', 'topK', { max: 1000, step: 1 }],
  ['max_new_tokens', 'mostTokens', { max: 100_000, step: 1 }],
];
/** Values below which a setting is invalid; the others begin at 0. */
const least: Partial<Record<keyof Sampling, number>> = { max_new_tokens: 1, top_p: 0.05 };
const cuts = { stopped: 'cutStopped', length: 'cutLength', context: 'cutContext' } as const;

class OwnChat extends LitElement {
  static override properties: PropertyDeclarations = {
    conversation: { attribute: false },
    labels: { attribute: false },
    shell: { attribute: false },
    draft: { state: true },
  };
  declare conversation: Conversation;
  declare labels: typeof english.labels;
  declare shell: ShellWords;
  declare private draft: string;
  #listened: Conversation | undefined;

  static override styles = [figureStyles, css`:host { margin-top: 12px; }`, chatStyles];

  constructor() {
    super();
    new KeptFocus(this, 'form textarea');
    this.draft = '';
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#listen(undefined);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.conversation) this.#listen(this.conversation);
  }

  protected override willUpdate(): void {
    this.#listen(this.conversation);
  }

  #listen(conversation: Conversation | undefined): void {
    if (this.#listened === conversation) return;
    this.#listened?.removeEventListener('change', this.#changed);
    conversation?.addEventListener('change', this.#changed);
    this.#listened = conversation;
  }

  #changed = (): void => {
    const field = this.renderRoot.querySelector('form');
    const { bottom = 0 } = field?.getBoundingClientRect() ?? {};
    const seen = bottom <= innerHeight && bottom > 0;
    this.requestUpdate();
    // The field stays where it can be seen while the answer grows above it.
    if (seen) void this.updateComplete.then(() => field?.scrollIntoView({ block: 'nearest' }));
  };

  protected override render(): TemplateResult {
    const { labels, conversation } = this;
    const { turns, busy } = conversation;
    return html`${this.#settings()}
      <div class="log" role="log" aria-label=${labels.conversation} aria-busy=${busy}>
        ${turns.map((turn, i) => this.#turn(turn, i === turns.length - 1))}
      </div>
      ${this.#obstacle()}
      <form @submit=${this.#submit}>
        <label>${labels.message}<textarea rows="3" aria-describedby="hint" .value=${this.draft} @input=${(
          event: Event,
        ) => {
          this.draft = (event.target as HTMLTextAreaElement).value;
        }} @keydown=${this.#onKey}></textarea></label>
        <p id="hint" class="muted hint">${labels.sendHint}</p>
        <div class="row">
          <button class="primary" ?disabled=${!busy && !this.#sendable}>${busy ? labels.stop : labels.send}</button>
          ${turns.length > 0 ? html`<button type="button" class="chip" @click=${() => void conversation.clear()}>${labels.newChat}</button>` : nothing}
        </div>
      </form>
      ${this.#use()}`;
  }

  #turn({ role, content, cut, leftOut }: Turn, last: boolean): TemplateResult {
    const { labels, conversation } = this;
    const { busy } = conversation;
    const goesOn = last && !busy && cut !== 'context';
    const empty = content === '' ? (last && busy ? labels.writing : labels.noAnswer) : undefined;
    return html`<article class=${`${role}${leftOut ? ' out' : ''}`}>
      <p class="who">${role === 'user' ? labels.you : labels.answer}</p>
      <p class="said">${empty === undefined ? content : html`<span class="muted">${empty}</span>`}</p>
      ${leftOut ? html`<p class="note">${labels.leftOut}</p>` : nothing}
      ${cut === undefined ? nothing : html`<p class="note">${labels[cuts[cut]]} ${goesOn ? html`<button type="button" class="plain" @click=${this.#answer}>${labels.goOn}</button>` : nothing}</p>`}
    </article>`;
  }

  /** Why there is no answer, and what the reader can do. */
  #obstacle(): TemplateResult | typeof nothing {
    const { labels, conversation, shell } = this;
    const { failure, tooLong, hasOlder, busy, waits } = conversation;
    if (tooLong !== undefined) {
      const told = filled(labels.tooLong, { n: grouped(tooLong), of: grouped(conversation.context) });
      const [why, label] = hasOlder ? [labels.leaveOutWhy, labels.leaveOut] : [labels.takeBackWhy, labels.takeBack];
      return html`<div class="failed" role="alert"><p><b>${told}</b></p><p>${why}</p>
        <p><button type="button" class="chip" @click=${hasOlder ? this.#leaveOut : this.#takeBack}>${label}</button></p></div>`;
    }
    const again = html`<p><button type="button" class="chip" @click=${this.#answer}>${shell.retry}</button></p>`;
    if (failure === undefined) return waits && !busy ? again : nothing;
    const { title, message, advice, code } = errorText(failure, shell);
    return html`<div class="failed" role="alert"><p><b>${title}</b></p><p>${message}</p>${advice ? html`<p>${advice}</p>` : nothing}${code ? html`<p><code>${code}</code></p>` : nothing}${again}</div>`;
  }

  /** How much of the context is used, in words and as a bar. */
  #use(): TemplateResult | typeof nothing {
    const { labels, conversation } = this;
    const { used, reused, context } = conversation;
    if (used === 0) return nothing;
    const bounded = Number.isFinite(context);
    const text = filled(bounded ? labels.contextUse : labels.tokensUse, { used: grouped(used), of: grouped(context) });
    const kept = reused > 1 ? filled(labels.reused, { n: grouped(reused) }) : '';
    return html`<p class="use" role="status" aria-busy=${conversation.busy}>${text} ${kept}</p>
      ${bounded ? html`<meter aria-label=${text} max=${context} high=${0.9 * context} .value=${used}></meter>` : nothing}`;
  }

  #settings(): TemplateResult {
    const { labels, conversation } = this;
    return html`<details><summary>${labels.settings}</summary>
      <label>${labels.system}<textarea rows="2" .value=${conversation.system} @input=${(event: Event) => {
        conversation.system = (event.target as HTMLTextAreaElement).value;
      }}></textarea></label>
      <div class="settings">${settings.map(
        ([name, label, { max, step }]) =>
          html`<label>${labels[label]}<input type="number" min=${least[name] ?? 0} max=${max} step=${step} .value=${String(conversation.sampling[name])} @change=${(
            event: Event,
          ) => this.#set(name, event.target as HTMLInputElement)} /></label>`,
      )}</div></details>`;
  }

  /** An invalid number is replaced by the one in use. */
  #set(name: keyof Sampling, field: HTMLInputElement): void {
    const { sampling } = this.conversation;
    if (field.validity.valid && field.value !== '') sampling[name] = field.valueAsNumber;
    field.value = String(sampling[name]);
  }

  get #sendable(): boolean {
    const { waits } = this.conversation;
    return this.draft.trim() !== '' && !waits;
  }

  #onKey(event: KeyboardEvent): void {
    const key = fieldKey(event);
    if (key === 'leave' && this.conversation.busy) this.conversation.stop();
    if (key !== 'confirm') return;
    event.preventDefault();
    if (!this.conversation.busy) this.#send();
  }

  #submit = (event: Event): void => {
    event.preventDefault();
    if (this.conversation.busy) this.conversation.stop();
    else this.#send();
  };

  #send(): void {
    if (!this.#sendable) return;
    const text = this.draft.trim();
    this.draft = '';
    void this.conversation.send(text);
  }

  #answer = (): void => void this.conversation.answer();
  #leaveOut = (): void => void this.conversation.leaveOut();
  #takeBack = (): void => {
    this.draft = this.conversation.takeBack();
    this.renderRoot.querySelector<HTMLTextAreaElement>('form textarea')?.focus();
  };
}

customElements.define('own-chat', OwnChat);
