// Beams as a tree: a column per step, a row per beam, lines to the continued beam.

import { percent, two } from 'clearformer/elements';
import { html, svg, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { type Beams, type Node, steps } from './beams.js';
import type { Data, FigureSaying } from './figure.js';

export function beamsView(figure: FigureSaying, { beams, prompt }: Data): TemplateResult {
  if (!beams) return html``;
  const { labels } = figure.words;
  const rows = Array.from({ length: beams.nodes.length }, (_, i) => filled(labels.stepName, { n: i + 1 }));
  const columns = Array.from({ length: figure.beamWidth }, (_, i) => filled(labels.beamName, { n: i + 1 }));
  const front = sharedFront(beams.texts.map(({ text }) => text));
  const items = beams.texts.map(({ text, score }) => ({
    label: front > 0 ? `… ${text.slice(front)}` : text,
    value: Math.exp(score),
    note: two(score),
  }));
  return html`<div class="tree-scroll sideways">${tree(figure, beams, prompt.tokens.at(-1)?.label ?? '')}</div>
    <div class="draws">
      <div class="wide-bars">
        <p class="caption">${labels.sentences}</p>
        <cf-bars readonly source="exp(generate_stream({ num_beams: ${figure.beamWidth} }).beam_scores)" label=${labels.sentences} .items=${items}></cf-bars>
        <p class="verdict">${filled(labels.bestBeam, { share: percent(Math.exp(beams.texts[0]?.score ?? 0)) })}</p>
      </div>
      <cf-matrix label="Σ log p" about=${labels.beamScores} source="generate_stream({ num_beams: ${figure.beamWidth} }).beam_scores" .numbers=${beams.scores} .digits=${2} .rowLabels=${rows} .columnLabels=${columns} .cellWidth=${figure.narrow ? 0 : figure.inClass ? figure.wall(88) : 62} .cellHeight=${figure.inClass ? figure.wall(28) : 22}></cf-matrix>
    </div>`;
}

/** The length of the words with which all texts begin; 0 for a single text. */
function sharedFront([first = '', ...others]: readonly string[]): number {
  if (others.length === 0) return 0;
  const apart = Array.from(first).findIndex((_, i) => others.some((text) => text[i] !== first[i]));
  return first.slice(0, Math.max(0, apart)).lastIndexOf(' ') + 1;
}

function tree(figure: FigureSaying, { nodes }: Beams, root: string): TemplateResult {
  const width = Math.max(640, figure.width || 900);
  const [slot, row] = [(width - 90) / steps, figure.inClass ? figure.wall(76) : 52];
  const below = figure.textSize(14) + 5; // of the score under its token
  const height = figure.beamWidth * row + 10;
  const x = (step: number): number => 44 + (step + 1) * slot - slot * 0.42;
  const y = (beam: number): number => 26 + beam * row;
  const start = { x: 40, y: y(0) };
  const kind = ({ alive, best }: Node): string => (best ? 'best' : alive ? 'alive' : 'dead');
  const line = (node: Node, step: number, beam: number): TemplateResult => {
    const from = step === 0 ? start : { x: x(step - 1) + slot * 0.3, y: y(node.from) };
    const to = { x: x(step) - slot * 0.3, y: y(beam) };
    const half = (from.x + to.x) / 2;
    return svg`<path class="edge ${kind(node)}" d="M${from.x} ${from.y}C${half} ${from.y} ${half} ${to.y} ${to.x} ${to.y}" />`;
  };
  return html`<svg class="tree" width=${width} height=${height} role="img" aria-label=${figure.words.labels.treeName}>
    <text class="serif node" x=${start.x - 8} y=${start.y + 5} text-anchor="end">${root}</text>
    ${nodes.map((beams, step) => beams.map((node, beam) => line(node, step, beam)))}
    ${nodes.map((beams, step) =>
      beams.map(
        (
          node,
          beam,
        ) => svg`<text class="serif node ${kind(node)}" x=${x(step)} y=${y(beam) + 2} text-anchor="middle">${node.piece.label}</text>
          <text class="muted" x=${x(step)} y=${y(beam) + below} text-anchor="middle">${two(node.score)}</text>`,
      ),
    )}
  </svg>`;
}
