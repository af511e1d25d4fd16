// The training of a figure: what the address asks for, when to draw again, and what is announced. Loaded when the view is
// opened.

import { two } from 'clearformer/elements';
import type { TemplateResult } from 'lit';
import type { FigureCode } from '../../../book/figure.js';
import { filled } from '../../../book/markup.js';
import { nearestOf, within } from '../../../book/within.js';
import type { TrainingWords } from '../../../words/en/training.js';
import type { FigureHeads } from '../figure.js';
import { trainingCode } from './code.js';
import { mostSteps, seeds } from './controls.js';
import { learningRates } from './recipe.js';
import { placesIn } from './run.js';
import { trainingStyles } from './styles.js';
import { type Aim, Trainer } from './trainer.js';
import { type Training, trainingView } from './view.js';

const catalogues = {
  en: () => import('../../../words/en/training.js'),
  de: () => import('../../../words/de/training.js'),
};

export class LiveTraining {
  readonly #trainer = new Trainer();
  readonly #figure: FigureHeads;
  #words: TrainingWords | undefined;
  /** The state last announced. */
  #told = '';

  constructor(figure: FigureHeads) {
    this.#figure = figure;
    const root = figure.renderRoot as ShadowRoot;
    if (trainingStyles.styleSheet) root.adoptedStyleSheets = [...root.adoptedStyleSheets, trainingStyles.styleSheet];
    this.#trainer.addEventListener('change', this.#changed);
  }

  /** Trains towards the state of the address. In class mode nothing is trained while the class guesses. */
  async aim(): Promise<Training> {
    const figure = this.#figure;
    const { words } = await catalogues[figure.book.language]();
    this.#words = words;
    const layers = figure.value('layers') === '1' ? 1 : 2;
    const aim: Aim = {
      settings: {
        layers,
        lr: nearestOf(figure.number('lr'), learningRates, 0.004),
        seed: Math.max(seeds.least, within(figure.number('seed'), seeds.most + 1)),
      },
      steps: figure.revealed ? within(figure.number('n'), mostSteps + 1) : 0,
      off: placesIn(figure.value('off')).filter(({ layer }) => layer < layers),
    };
    this.#trainer.aim(aim);
    return { trainer: this.#trainer, aim, words };
  }

  view(training: Training): TemplateResult {
    return trainingView(this.#figure, training);
  }

  code(training: Training): FigureCode {
    return trainingCode(training.aim);
  }

  /** Stops after the step under way; the model is kept. */
  stop(): void {
    this.#trainer.stop();
  }

  done(): Promise<void> {
    return this.#trainer.done();
  }

  dispose(): Promise<void> {
    this.#trainer.removeEventListener('change', this.#changed);
    return this.#trainer.dispose();
  }

  #changed = (): void => {
    const { run, training } = this.#trainer;
    const last = run?.points.at(-1);
    const state = `${JSON.stringify(run?.settings)} ${run?.step}`;
    this.#figure.requestUpdate();
    if (training || !run || !last || !run.opened || !this.#words || state === this.#told) return;
    this.#told = state;
    if (run.step === 0) return;
    const values = { step: run.step, second: two(last.losses[1]), best: two(Math.max(...last.induction)) };
    this.#figure.say(filled(this.#words.finished, values));
  };
}
