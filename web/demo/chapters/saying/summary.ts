// Values for the prose of chapter 8.

import { percent, spoken, two } from 'clearformer/elements';
import { pieceOf } from '../../book/odds.js';
import type { Data } from './figure.js';

export function summary({ odds, prompt, settings, draws, beams, lens, attribution }: Data): Record<string, string> {
  const [best = 0, second = 0] = odds.ranked;
  const name = (id: number): string => pieceOf(prompt.shelved, id).label;
  const chance = (stage: number, id: number): number => odds.stages[stage]?.odds.data[id] ?? 0;
  const share = (stage: number, id: number): string => percent(chance(stage, id));
  const left = odds.stages.map(({ scores }) =>
    String(scores.data.filter((score) => score > Number.NEGATIVE_INFINITY).length),
  );
  const values: Record<string, string> = {
    ...{ answer: name(best), second: name(second), vocabulary: String(odds.logits.size) },
    ...{ logit: two(odds.logits.data[best] ?? 0), secondLogit: two(odds.logits.data[second] ?? 0) },
    ...{
      share: share(0, best),
      secondShare: share(0, second),
      [settings.temperature === 1 ? 'same' : 'warm']: share(1, best),
      secondWarm: share(1, second),
    },
    restShare: percent(Math.max(0, 1 - chance(0, best) - chance(0, second))),
    ...(prompt.shelved.model.cfg.tie_word_embeddings === true && { isTied: '' }),
    ...{ final: share(3, best), afterK: left[2] ?? '', left: left[3] ?? '' },
    [left[3] === String(odds.logits.size) ? 'isWhole' : 'isCut']: '',
    ...{ temperature: String(settings.temperature), topP: String(settings.top_p) },
    ...(settings.top_k > 0 && (settings.top_k === 1 ? { oneK: '' } : { topK: String(settings.top_k) })),
    difference: odds.unembedding ? spoken(odds.unembedding.difference) : '',
  };
  const different = draws?.tokens.filter(({ times }) => times > 0).length;
  const drawn = draws?.tokens.find(({ piece }) => piece.id === best);
  if (drawn)
    Object.assign(values, {
      times: String(drawn.times),
      slice: percent(drawn.probability),
      count: String(draws?.count),
      ...(different === 1 ? { isSole: '' } : { different: String(different) }),
      ...(drawn.probability < 1 && { areSeveral: '' }),
    });
  if (beams)
    Object.assign(values, {
      beamText: (beams.texts[0]?.text ?? '').trim(),
      beamScore: two(beams.texts[0]?.score ?? 0),
    });
  if (lens)
    Object.assign(values, {
      lensAnswer: lens.answer.label,
      lensBefore: percent(lens.rise.data.at(-2) ?? 0),
      lensEnd: percent(lens.rise.data.at(-1) ?? 0),
    });
  if (attribution) {
    const [top] = [...attribution.parts].filter(({ label }) => /^L/.test(label)).sort((a, b) => b.value - a.value);
    const at = /^L(\d+)H(\d+)$/.exec(top?.label ?? '');
    Object.assign(values, {
      whoLayer: String(Number(at?.[1]) + 1),
      whoHead: String(Number(at?.[2]) + 1),
      whoValue: two(top?.value ?? 0),
    });
    Object.assign(values, { lead: two(attribution.lead), other: attribution.other.label });
  }
  return values;
}
