// The controls of training: train or pause, one step, begin anew, and the settings.

import { html, type TemplateResult } from 'lit';
import { filled } from '../../../book/markup.js';
import type { FigureHeads } from '../figure.js';
import { learningRates } from './recipe.js';
import type { Training } from './view.js';

/** The steps of a training, after which it goes on by further steps. */
export const whole = 250;
const more = 100;
/** More than a link may ask for: they would take minutes. */
export const mostSteps = 10_000;
export const seeds = { least: 1, most: 999 };

export function controls(figure: FigureHeads, training: Training): TemplateResult {
  const { trainer, words, aim } = training;
  const step = trainer.run?.step ?? 0;
  const layers = [1, 2].map((count) => [String(count), String(count)] as const);
  const rates = learningRates.map((rate) => [String(rate), String(rate)] as const);
  return html`<div class="top"><div class="acts">
      <button type="button" class="primary" @click=${() => trainOrPause(figure, training)}>${trainer.training ? words.pause : step > 0 ? words.trainOn : words.train}</button>
      <button type="button" class="chip" ?disabled=${trainer.training} @click=${() => figure.slide({ n: String(step + 1) })}>${words.oneStep}</button>
      <button type="button" class="chip" ?disabled=${aim.steps === 0} @click=${() => figure.choose({ n: '0' })}>${words.reset}</button>
      <span class="readout">${filled(words.count, { step, of: Math.max(aim.steps, whole) })}</span>
    </div>
    <div class="settings">${figure.choice({ key: 'layers', name: words.layers, options: layers, chosen: String(aim.settings.layers) })}
    <span class="rate">${figure.choice({ key: 'lr', name: words.lr, options: rates, chosen: String(aim.settings.lr) })}</span>
    <label class="slider seed">${words.seed} <input type="number" min=${seeds.least} max=${seeds.most} .value=${String(aim.settings.seed)} @change=${(event: Event) => seed(figure, event)} /></label></div>
  </div>`;
}

function trainOrPause(figure: FigureHeads, { trainer, aim }: Training): void {
  if (trainer.training && trainer.run) figure.slide({ n: String(trainer.run.reached) });
  else figure.choose({ n: String(aim.steps < whole ? whole : aim.steps + more) });
}

function seed(figure: FigureHeads, { target }: Event): void {
  const field = target as HTMLInputElement;
  const value = Math.round(field.valueAsNumber);
  if (value >= seeds.least && value <= seeds.most) figure.choose({ seed: String(value) });
  else field.value = figure.value('seed');
}
