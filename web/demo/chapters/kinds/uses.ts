// The uses of each kind, with live answers of the three models.

import { percent } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { markup } from '../../book/markup.js';
import type { FigureKinds, Kind } from './figure.js';
import { excerpt, type Filled, type Kinds } from './reading.js';

const kinds: readonly Kind[] = ['decoder', 'encoder', 'both'];

interface Use {
  readonly name: string;
  /** A live answer, or the reason why there is none. */
  readonly cells: Readonly<Record<Kind, TemplateResult | string>>;
}

export function usesTable(figure: FigureKinds, read: Kinds): TemplateResult {
  const { labels } = figure.words;
  return html`<table>
    <thead><tr><td></td>${kinds.map((kind) => html`<th scope="col">${labels[kind]}</th>`)}</tr></thead>
    <tbody>${usesOf(figure, read).map(
      ({ name, cells }) =>
        html`<tr><th scope="row">${name}</th>${kinds.map((kind) => {
          const cell = cells[kind];
          return html`<td class=${typeof cell === 'string' ? 'no' : ''} data-kind=${labels[kind]}>${typeof cell === 'string' ? markup(cell, {}, figure.book.address) : cell}</td>`;
        })}</tr>`,
    )}</tbody>
  </table>`;
}

function usesOf(figure: FigureKinds, { continued, filled, fromLeft, both, words }: Kinds): Use[] {
  const { labels } = figure.words;
  const best = ({ candidates: [one] }: Filled): TemplateResult =>
    html`<b lang="en">${one?.piece.label}</b> <span class="muted number">${percent(one?.probability ?? 0)}</span>`;
  return [
    { name: labels.seesRow, cells: { decoder: labels.seesLeft, encoder: labels.seesAll, both: labels.seesBoth } },
    {
      name: labels.trainedRow,
      cells: { decoder: labels.trainedNext, encoder: labels.trainedBlank, both: labels.trainedPair },
    },
    {
      name: labels.continueRow,
      cells: {
        decoder: html`<span lang="en">${excerpt(words.join(' '))} <b>${continued}</b></span>`,
        encoder: labels.noContinue,
        both: labels.noContinueBoth,
      },
    },
    {
      name: labels.fillRow,
      cells: {
        decoder: html`${best(fromLeft)} <span class="muted">${labels.leftOnly}</span>`,
        encoder: best(filled),
        both: labels.noFill,
      },
    },
    {
      name: labels.translateRow,
      cells: {
        decoder: labels.noTranslate,
        encoder: labels.noTranslateEncoder,
        both: html`<span lang="fr">${both.kind === 'told' ? both.sentence : ''}</span>`,
      },
    },
    {
      name: labels.familyRow,
      cells: { decoder: labels.familyDecoder, encoder: labels.familyEncoder, both: labels.familyBoth },
    },
  ];
}
