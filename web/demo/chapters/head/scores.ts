// Four scoring functions on the queries and keys of this head: dot, general, additive and by distance.

import { type AttentionPoolingOptions, attention_pooling, rms_norm, Tensor } from 'clearformer';
import { spoken } from 'clearformer/elements';
import { css, html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { filled } from '../../book/markup.js';
import { normal } from '../../book/random.js';
import { vars } from '../../book/vars.js';
import type { Float, HeadData } from './head_numbers.js';

type ScoreName = 'dot' | 'general' | 'additive' | 'distance';

export interface ScoresData {
  readonly weights: Readonly<Record<ScoreName, Float>>;
  /** The largest absolute difference of each one's weights from those of the scaled dot product. */
  readonly apart: Readonly<Record<ScoreName, number>>;
  readonly sources: Readonly<Record<ScoreName, string>>;
  readonly equalNorms: boolean;
  /** The range of the keys' norms. */
  readonly norms: readonly [least: number, most: number];
}

interface ScoresRequest {
  readonly equalNorms: boolean;
  /** Whether M is the identity; else it is random. */
  readonly identity: boolean;
}

const hidden = 8;

export async function scoresData(
  { now, source, hooks }: HeadData,
  { equalNorms, identity }: ScoresRequest,
): Promise<ScoresData> {
  const { Q, V } = now;
  const [keys = 0, d = 1] = now.K.dims;
  const K = equalNorms ? await rms_norm(now.K, d, { eps: 0 }) : now.K;
  const scale = 1 / Math.sqrt(d);
  const options: Readonly<Record<ScoreName, AttentionPoolingOptions>> = {
    dot: { score: 'dot', scale },
    general: {
      score: 'general',
      M: identity ? identityOf(d) : normal(d, d, 3),
      scale: identity ? scale : scale / Math.sqrt(d),
    },
    additive: { score: 'additive', W_q: normal(hidden, d, 5), W_k: normal(hidden, d, 6), w_v: normal(1, hidden, 7) },
    distance: { score: 'distance', sigma: d ** 0.25 },
  };
  const pooled = async (name: ScoreName): Promise<Float> =>
    (await attention_pooling(Q, K, V, { ...options[name], is_causal: hooks !== undefined, need_weights: true }))[1];
  const weights = {
    dot: await pooled('dot'),
    general: await pooled('general'),
    additive: await pooled('additive'),
    distance: await pooled('distance'),
  };
  const all = { rows: undefined, columns: undefined };
  const [q, k] = [source('Q', 'raw', all), source('K', 'raw', all)];
  const key = equalNorms ? `rms_norm(${k}, ${d})` : k;
  const call = (name: ScoreName, rest: string): string =>
    `attention_pooling(${q}, ${key}, v, { score: '${name}'${rest} })`;
  return {
    weights,
    apart: {
      dot: 0,
      general: furthest(weights.dot, weights.general),
      additive: furthest(weights.dot, weights.additive),
      distance: furthest(weights.dot, weights.distance),
    },
    sources: {
      dot: call('dot', `, scale: 1 / √${d}`),
      general: call('general', identity ? `, M: identity, scale: 1 / √${d}` : `, M: random, scale: 1 / ${d}`),
      additive: call('additive', ', W_q, W_k, w_v: random'),
      distance: call('distance', `, sigma: ⁴√${d}`),
    },
    equalNorms,
    norms: normsOf(K, keys, d),
  };
}

const identityOf = (d: number): Float =>
  new Tensor(
    'float32',
    Float32Array.from({ length: d * d }, (_, i) => (i % (d + 1) === 0 ? 1 : 0)),
    [d, d],
  );

function furthest(one: Float, other: Float): number {
  return one.data.reduce((most, value, i) => Math.max(most, Math.abs(value - (other.data[i] ?? 0))), 0);
}

function normsOf({ data }: Float, keys: number, d: number): [number, number] {
  const norms = Array.from({ length: keys }, (_, i) =>
    Math.sqrt(data.slice(i * d, (i + 1) * d).reduce((sum, x) => sum + x * x, 0)),
  );
  return [Math.min(...norms), Math.max(...norms)];
}

export const scoresStyles = css`
  .scores-view { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); gap: 14px 26px; }
  .scores-view h2 { font: 600 max(18px, var(--cf-min-font-size)) var(--cf-serif); margin: 0; } .scores-view .form { font: italic max(17px, var(--cf-min-font-size)) var(--cf-serif); min-height: 28px; white-space: nowrap; }
  .scores-view .readout { font-size: max(14px, var(--cf-min-font-size)); }
  .scores-tools { display: flex; gap: 8px 26px; flex-wrap: wrap; justify-content: center; margin: 4px 0 14px; align-items: center; }
  @container (max-width: 699px) { .scores-view .form { display: none; } .scores-view { gap: 0; } .scores-view h2 { font-size: 14px; line-height: 1.2; } .scores-view .readout { font-size: 12px; line-height: 1.2; } .scores-view > :first-child .readout { display: none; } .scores-tools { font-size: 14px; margin: 0; gap: 0 14px; } }
`;

interface ScoresView {
  readonly data: ScoresData;
  readonly head: HeadData;
  readonly labels: Readonly<Record<string, string>>;
  readonly width: number;
  readonly large: boolean;
  /** The choices of the address: their numbers may still be computed. */
  readonly identity: boolean;
  readonly equalNorms: boolean;
  choose(changes: Readonly<Record<string, string>>): void;
}

const forms = (identity: boolean): Readonly<Record<ScoreName, TemplateResult>> => ({
  dot: html`q · k ÷ √d`,
  general: html`q<sup>⊤</sup> W k ÷ ${identity ? '√d' : 'd'}`,
  additive: html`w · tanh(W<sub>q</sub> q + W<sub>k</sub> k)`,
  distance: html`−|q − k|² ÷ 2√d`,
});

export function scoresView({
  data,
  head,
  labels,
  width,
  large,
  identity,
  equalNorms,
  choose,
}: ScoresView): TemplateResult {
  const narrow = width < 700;
  const columns = large || width >= 1060 ? 4 : narrow ? 1 : 2;
  const keys = head.keys.length;
  const most = Math.min(keys, large ? 8 : 12);
  const from = Math.max(0, Math.min(keys - most, head.focus - Math.floor(most * 0.7)));
  const rows = narrow ? 1 : most;
  const room = narrow ? width - 80 : (width - 26 * (columns - 1)) / columns - 84;
  const cell = Math.max(6, Math.min(large ? 30 : 26, Math.floor(room / most)));
  const first = narrow ? head.focus : Math.max(0, Math.min(head.queries.length - rows, from));
  const matrix = (name: ScoreName): TemplateResult => html`<div role="group" aria-label=${labels[name] ?? ''}>
    <h2>${labels[name]}</h2><p class="form">${forms(identity)[name]}</p>
    <cf-matrix scale="weights" label="A" caption=${narrow ? 'none' : 'below'} .numbers=${data.weights[name].slice([first, Math.min(first + rows, head.queries.length)], [from, from + most])} source="${data.sources[name]}[${first}:${first + rows}, ${from}:${from + most}]"
      .rowLabels=${head.queries.slice(first, first + rows)} .columnLabels=${head.keys.slice(from, from + most)} quiet=${name === 'dot' || columns < 4 ? (narrow && name !== 'dot' ? 'columns' : '') : 'rows'} .cellWidth=${cell} .cellHeight=${narrow ? 17 : Math.max(large ? 28 : 16, cell * 0.84)}
      .masked=${(r: number, c: number) => head.hooks !== undefined && from + c > first + r} .rails=${{ rows: [head.focus - first], rowHue: 'q' }}></cf-matrix>
    <p class="readout">${name === 'dot' ? labels.compared : filled(labels.apart ?? '', { difference: '' })}${name === 'dot' ? '' : html`<b>${spoken(data.apart[name])}</b>`}</p>
  </div>`;
  return html`<div class="scores-tools">
      <label class="switch"><input type="checkbox" .checked=${live(equalNorms)} @change=${(event: Event) => choose({ norm: (event.target as HTMLInputElement).checked ? '1' : '0' })} /> ${labels.equalNorms}</label>
      <span class="seg" role="group" aria-label="W"><span><i>W</i></span>${['identity', 'random'].map((kind) => html`<button type="button" aria-pressed=${(kind === 'identity') === identity} @click=${() => choose({ gen: kind })}>${labels[kind]}</button>`)}</span>
      <span class="readout">|k|: <b>${spoken(data.norms[0])}</b> … <b>${spoken(data.norms[1])}</b></span>
    </div>
    <div class="scores-view" ${vars({ '--columns': columns })}>${(['dot', 'distance', 'general', 'additive'] as const).map(matrix)}</div>`;
}
