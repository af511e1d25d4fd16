// Training live: loss and head scores by step, the attention maps of all heads as they form, and afterwards the loss
// without each head. Loaded when the view is opened.

import { decimals, two } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { errorText } from '../../../book/error_text.js';
import { filled } from '../../../book/markup.js';
import type { TrainingWords } from '../../../words/en/training.js';
import type { FigureHeads } from '../figure.js';
import { hueOf } from '../maps_view.js';
import { controls, whole } from './controls.js';
import './curves.js';
import { half, heads, vocabulary } from './recipe.js';
import { type Place, type Point, placeOf, placesIn, type Run } from './run.js';
import { saved } from './saving.js';
import type { Aim, Trainer } from './trainer.js';

interface CellEvent extends CustomEvent<{ row: number; column: number } | null> {}

export interface Training {
  readonly trainer: Trainer;
  readonly aim: Aim;
  readonly words: TrainingWords;
}

/** The loss of a token that every token of the vocabulary is as likely to be. */
const guess = Math.log(vocabulary);

export function trainingView(figure: FigureHeads, training: Training): TemplateResult {
  const { trainer, words } = training;
  const { run, failure } = trainer;
  if (failure !== undefined) return failed(figure, training);
  if (!run) return html`<p class="waiting" role="status">${words.waiting}</p>`;
  return html`<div class="training">
    ${controls(figure, training)}
    <div>${losses(figure, training, run)}</div>
    <div class="right">${maps(figure, training, run)}<p class="said">${figure.note || '\u00A0'}</p></div>
    <div class="rest">${scores(figure, training, run)}<div class="lower">${opened(figure, training, run)}</div></div>
  </div>`;
}

function failed(figure: FigureHeads, { trainer, aim, words }: Training): TemplateResult {
  const { title, advice, message } = errorText(trainer.failure, figure.shell);
  return html`<div class="failed" role="alert"><p><b>${words.failed}: ${title}</b></p><p>${message}</p>${advice ? html`<p>${advice}</p>` : ''}
    <p><button type="button" class="plain" @click=${() => trainer.aim(aim)}>${figure.shell.retry}</button></p></div>`;
}

const stepsOf = ({ points }: Run): number[] => points.map(({ step }) => step);
const endOf = ({ aim }: Training): number => Math.max(whole, aim.steps);

function losses(figure: FigureHeads, training: Training, run: Run): TemplateResult {
  const { words } = training;
  const last = run.points.at(-1);
  const [first = 0, second = 0] = last?.losses ?? [];
  const series = [
    { name: words.first, hue: 'first', values: run.points.map(({ losses }) => losses[0]) },
    { name: words.second, hue: 'second', values: run.points.map(({ losses }) => losses[1]) },
  ];
  const label = filled(words.lossPlot, {
    ...{ step: last?.step ?? 0, first: two(first), second: two(second), guess: two(guess) },
  });
  return html`<p class="caption">${filled(words.loss, { half })}</p>
    <ul class="legend"><li class="first"><i></i>${words.first} <b>${two(first)}</b></li><li class="second"><i></i>${words.second} <b>${two(second)}</b></li><li class="guess"><i></i>${words.guess} <b>${two(guess)}</b></li></ul>
    <training-curves source="−log_softmax(logits)[labels], mean of each half: step, first, second" .steps=${stepsOf(run)} .series=${series} .beside=${guess} .most=${5} .end=${endOf(training)}
      .height=${figure.inClass ? figure.stageHeight - Math.max(332, figure.wall(400)) : figure.narrow ? 140 : 210} .label=${label} .axis=${words.steps} .minFont=${figure.minFont}></training-curves>`;
}

function scores(figure: FigureHeads, training: Training, run: Run): TemplateResult {
  const { words } = training;
  const chart = (kind: 'previous' | 'induction', hook: string): TemplateResult => {
    const series = run.maps.map((_, at) => ({
      name: headName(words, at),
      hue: hueOf(at),
      values: run.points.map((point) => point[kind][at] ?? 0),
    }));
    const last = run.points.at(-1);
    const told = series.map(({ name, values }) => `${name}: ${two(values.at(-1) ?? 0)}`).join(', ');
    const label = filled(words.scorePlot, { name: words[kind], step: last?.step ?? 0, scores: told });
    return html`<div><p class="caption">${words[kind]}</p>
      <training-curves source="headScores(cache, input_ids).${hook}: step, head by head" .steps=${stepsOf(run)} .series=${series} .most=${1} .end=${endOf(training)}
        .height=${150} .label=${label} .axis=${words.steps} .minFont=${figure.minFont}></training-curves></div>`;
  };
  return html`<div class="pair">${chart('previous', 'previous_token')}${chart('induction', 'induction')}</div>`;
}

const headName = (words: TrainingWords, at: number): string => {
  const { layer, head } = placeOf(at);
  return filled(words.head, { layer: layer + 1, head: head + 1 });
};

const ahead = (row: number, column: number): boolean => column > row;
const most = 7.5;

function maps(figure: FigureHeads, training: Training, run: Run): TemplateResult {
  const shown = run.opened?.maps ?? run.maps;
  const last = run.points.at(-1);
  const room = figure.inClass
    ? figure.stageHeight / 2 - Math.max(116, figure.wall(140))
    : figure.width > 0
      ? (figure.width - 18) / 2 - 18
      : 400;
  const cell = Math.max(3, Math.min(most, room / (2 * half)));
  return html`<div class="every-head">${shown.map((_, at) => oneMap(figure, training, { run, at, cell, last }))}</div>`;
}

interface Shown {
  readonly run: Run;
  readonly at: number;
  readonly cell: number;
  readonly last: Point | undefined;
}

function oneMap(figure: FigureHeads, training: Training, { run, at, cell, last }: Shown): TemplateResult {
  const { words, trainer } = training;
  const { layer, head } = placeOf(at);
  const place = { layer: layer + 1, head: head + 1 };
  const row = run.rows[0] ?? [];
  const names = row.map((token, i) => filled(words.token, { at: i + 1, token }));
  const off = isOff(figure, { layer, head });
  const silent = run.opened?.off ?? [];
  const edits =
    silent.length > 0 ? `, { edits: ${silent.map(({ layer: l, head: h }) => `L${l}H${h}:0`).join(',')} }` : '';
  const map = (run.opened?.maps ?? run.maps)[at];
  const habit = { previous: two(last?.previous[at] ?? 0), induction: two(last?.induction[at] ?? 0) };
  return html`<div class="head ${hueOf(at)} ${off && run.opened ? 'off' : ''}">
    <div class="name-row"><span>${headName(words, at)}</span>
      <label class="switch" title=${words.switchTitle}><input type="checkbox" aria-label=${filled(words.switchName, place)} ?disabled=${trainer.training} .checked=${live(!off)} @change=${() => toggle(figure, { layer, head })} /></label></div>
    <span class="habit">${figure.inClass ? '' : html`<span>${filled(words.before, habit)}</span> `}<span>${filled(words.after, habit)}</span></span>
    <cf-matrix caption="none" quiet="both" scale="weights" label=${filled(words.mapName, { ...place, half })} source="blocks.${layer}.attn.hook_pattern[0, ${head}]${edits}"
      .numbers=${map} .rowLabels=${names} .columnLabels=${names} .cellWidth=${cell} .cellHeight=${cell} .masked=${ahead}
      @cell-point=${(event: CellEvent) => tell(figure, training, { ...place, map, cell: event.detail })}></cf-matrix>
  </div>`;
}

interface Told {
  readonly layer: number;
  readonly head: number;
  readonly map: Run['maps'][number] | undefined;
  readonly cell: CellEvent['detail'];
}

function tell(figure: FigureHeads, { words }: Training, { layer, head, map, cell }: Told): void {
  if (cell === null || !map) {
    figure.note = '';
    return;
  }
  const weight = decimals(map.slice(cell.row, cell.column).item(), 2);
  figure.note = filled(words.reads, { layer, head, query: cell.row + 1, key: cell.column + 1, weight });
}

/** Whether the address silences a head. */
const isOff = (figure: FigureHeads, { layer, head }: Place): boolean =>
  placesIn(figure.value('off')).some((one) => one.layer === layer && one.head === head);

/** Silences a head, or restores it. */
function toggle(figure: FigureHeads, place: Place): void {
  const off = placesIn(figure.value('off'));
  const next = isOff(figure, place)
    ? off.filter(({ layer, head }) => layer !== place.layer || head !== place.head)
    : [...off, place];
  figure.choose({ off: next.map(({ layer, head }) => `${layer}.${head}`).join(',') });
}

/** The loss without each head, and with those that are silent. */
function opened(figure: FigureHeads, training: Training, run: Run): TemplateResult {
  const { words, trainer } = training;
  const look = run.opened;
  const was = run.points.at(-1)?.losses ?? [0, 0];
  const save = saved(figure, training);
  if (!look) return html`<div class="told"><p class="readout">${words.notYet}</p>${save}</div>`;
  const rows = Array.from({ length: run.settings.layers }, (_, layer) => filled(words.row, { layer: layer + 1 }));
  const select = ({ detail }: CellEvent): void => {
    if (detail && !trainer.training) toggle(figure, { layer: detail.row, head: detail.column });
  };
  const names = look.off.map(({ layer, head }) => `${layer + 1}·${head + 1}`).join(', ');
  const costs = { heads: names, now: two(look.losses[1]), first: two(look.losses[0]), was: two(was[1]) };
  const columns = Array.from({ length: heads }, (_, head) => filled(words.column, { head: head + 1 }));
  return html`<div><p class="caption">${words.without}</p><cf-matrix caption="none" label=${words.without} source="sweep(model, { base, interventions, metric }).values" scale="plain" digits="2"
      .numbers=${look.without} .rowLabels=${rows} .columnLabels=${columns} .cellWidth=${figure.inClass ? figure.wall(90) : 56} .cellHeight=${figure.inClass ? figure.wall(32) : 26} @cell-select=${select}></cf-matrix></div>
    <div class="told"><p class="readout">${look.off.length === 0 ? filled(words.withAll, { second: two(was[1]) }) : html`${filled(words.silenced, costs)} <button type="button" class="plain" @click=${() => figure.choose({ off: '' })}>${words.allOn}</button>`}</p>${save}</div>`;
}
