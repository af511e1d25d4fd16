// What the reader sets and starts: the prompt, how the next token is chosen, and write, pause, one token, stop.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { type BoundedName, type StorySettings, settingBounds, withinBounds } from '../state/settings.js';
import type { Phase } from '../state/story_session.js';
import { shared } from './styles.js';

export type StoryAction = 'write' | 'pause' | 'resume' | 'step' | 'stop';

const paces: readonly [number, string][] = [
  [2, 'slow'],
  [8, 'to read along'],
  [25, 'fast'],
  [0, 'full speed'],
];

export class StoryControls extends LitElement {
  static override properties: PropertyDeclarations = {
    settings: { attribute: false },
    phase: { attribute: false },
    context: { attribute: false },
  };
  declare settings: StorySettings;
  declare phase: Phase;
  /** Most tokens the model reads. */
  declare context: number;
  /** On narrow screens the settings are folded away behind a line that states them. */
  readonly #roomy = matchMedia('(min-width: 700px)').matches;

  static override styles = [
    shared,
    css`
      .top { display: flex; flex-wrap: wrap; gap: 10px; align-items: end; }
      .prompt { flex: 1 1 320px; display: grid; gap: 3px; }
      .prompt input { width: 100%; min-height: 40px; font: 1.08rem var(--font-text); }
      .actions { display: flex; flex-wrap: wrap; gap: 8px; }
      .actions button { min-height: 40px; }
      .primary { min-width: 96px; }
      details { margin-top: 10px; }
      summary { width: fit-content; color: var(--muted); font-size: 0.87rem; cursor: pointer; border-radius: 4px; min-height: 24px; }
      .fields { display: flex; flex-wrap: wrap; gap: 10px 18px; margin-top: 10px; align-items: end; }
      .label { font-size: 0.8rem; color: var(--muted); display: flex; justify-content: space-between; gap: 8px; }
      .field { display: grid; gap: 3px; }
      .field output { color: var(--ink); }
      input[type='number'] { width: 76px; }
      input[type='range'] { width: 112px; height: 34px; margin: 0; }
      .seed { display: flex; gap: 6px; }
      .seed input[type='number'] { width: 96px; }
      .seed button { padding: 0 10px; }
      fieldset { border: 0; padding: 0; margin: 0; min-width: 0; display: contents; }
      .dim { opacity: 0.45; }
      @media (max-width: 560px) {
        .fields { gap: 10px 14px; }
        .actions { width: 100%; }
        .actions .primary { flex: 1; }
        .field { flex: 1 1 40%; }
        .field input[type='range'] { width: 100%; }
        .segments { display: flex; }
        .segments button { flex: 1; padding: 0 4px; white-space: nowrap; }
      }
    `,
  ];

  constructor() {
    super();
    this.phase = 'idle';
    this.context = 0;
  }

  override render(): TemplateResult {
    return html`<form novalidate @submit=${this.#onSubmit}>
      <div class="top">
        <label class="prompt"><span class="label">The text begins with</span>
          <input type="text" id="prompt" autocomplete="off" .value=${this.settings.prompt} @input=${this.#onPrompt} /></label>
        ${this.#actions()}
      </div>
      ${this.#roomy ? this.#fields() : html`<details><summary>${this.#summary()}</summary>${this.#fields()}</details>`}
    </form>`;
  }

  #fields(): TemplateResult {
    return html`<div class="fields">
      ${this.#choice()} ${this.#sampling()} ${this.#number('max_new_tokens', 'Tokens', this.context || undefined)} ${this.#pace()}
    </div>`;
  }

  #summary(): string {
    const { do_sample, temperature, top_k, top_p, seed } = this.settings;
    if (!do_sample) return 'Settings: always the likeliest token';
    const limits = `${top_k === 0 ? '' : `, top-k ${top_k}`}${top_p === 1 ? '' : `, top-p ${top_p.toFixed(2)}`}`;
    return `Settings: by chance, temperature ${temperature.toFixed(2)}${limits}, seed ${seed}`;
  }

  #actions(): TemplateResult {
    const busy = this.phase !== 'idle';
    const send = (action: StoryAction) => (): void => this.#act(action);
    return html`<div class="actions">
      ${
        busy
          ? html`<button type="button" class="primary" id="stop" @click=${send('stop')}>Stop</button>`
          : html`<button type="submit" class="primary" id="write">Write</button>`
      }
      ${
        this.phase === 'paused'
          ? html`<button type="button" id="resume" @click=${send('resume')}>Go on</button>`
          : html`<button type="button" id="pause" ?disabled=${!busy} @click=${send('pause')}>Pause</button>`
      }
      <button type="button" id="step" ?disabled=${this.phase === 'running'} @click=${send('step')}>One token</button>
    </div>`;
  }

  #choice(): TemplateResult {
    const button = (do_sample: boolean, name: string): TemplateResult => html`<button
      type="button" aria-pressed=${this.settings.do_sample === do_sample ? 'true' : 'false'} @click=${() => this.#set({ do_sample })}
    >${name}</button>`;
    return html`<div class="field"><span class="label" id="choice">Next token</span>
      <div class="segments" role="group" aria-labelledby="choice">${button(true, 'by chance')}${button(false, 'the likeliest')}</div></div>`;
  }

  #sampling(): TemplateResult {
    const off = !this.settings.do_sample;
    return html`<fieldset ?disabled=${off}>
      <legend class="sr-only">How it is drawn</legend>
      ${this.#slider('temperature', 'Temperature')} ${this.#number('top_k', 'Top-k')} ${this.#slider('top_p', 'Top-p')}
      <div class="field ${off ? 'dim' : ''}"><label class="label" for="seed">Seed</label>
        <div class="seed">${this.#input('seed')}
          <button type="button" aria-label="A new seed" title="A new seed" @click=${this.#newSeed}>⚄</button></div></div>
    </fieldset>`;
  }

  #slider(name: 'temperature' | 'top_p', label: string): TemplateResult {
    const { min, max, step } = settingBounds[name];
    const value = this.settings[name];
    return html`<label class="field ${this.settings.do_sample ? '' : 'dim'}">
      <span class="label">${label} <output class="number">${value.toFixed(2)}</output></span>
      <input type="range" id=${name} min=${min} max=${max} step=${step} .value=${`${value}`} @input=${this.#onNumber} /></label>`;
  }

  #number(name: BoundedName, label: string, most?: number): TemplateResult {
    const off = name === 'top_k' && !this.settings.do_sample;
    return html`<label class="field ${off ? 'dim' : ''}"><span class="label">${label}</span>${this.#input(name, most)}</label>`;
  }

  #input(name: BoundedName, most?: number): TemplateResult {
    const { min, max, step } = settingBounds[name];
    return html`<input type="number" inputmode="numeric" id=${name} min=${min} max=${most ?? max} step=${step}
      .value=${`${this.settings[name]}`} @change=${this.#onNumber} />`;
  }

  #pace(): TemplateResult {
    return html`<label class="field"><span class="label">Pace</span>
      <select id="pace" @change=${(event: Event) => this.#set({ pace: Number((event.target as HTMLSelectElement).value) })}>
        ${paces.map(([pace, name]) => html`<option value=${pace} ?selected=${pace === this.settings.pace}>${pace ? `${name} (${pace}/s)` : name}</option>`)}
      </select></label>`;
  }

  #onPrompt(event: Event): void {
    this.#set({ prompt: (event.target as HTMLInputElement).value });
  }

  #onNumber(event: Event): void {
    const input = event.target as HTMLInputElement;
    const name = input.id as BoundedName;
    const value = withinBounds(name, Math.min(input.valueAsNumber, Number(input.max)), this.settings[name]);
    input.value = `${value}`;
    this.#set({ [name]: value });
  }

  #newSeed(): void {
    this.#set({ seed: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0 });
  }

  #onSubmit(event: Event): void {
    event.preventDefault();
    if (this.phase === 'idle') this.#act('write');
  }

  #set(change: Partial<StorySettings>): void {
    this.dispatchEvent(new CustomEvent('settings-change', { detail: { ...this.settings, ...change } }));
  }

  #act(action: StoryAction): void {
    this.dispatchEvent(new CustomEvent<StoryAction>('story-action', { detail: action }));
  }
}

customElements.define('story-controls', StoryControls);
