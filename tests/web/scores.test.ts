// From logits to classes: ties, a single class, and the default function.
import { describe, expect, it } from 'vitest';
import { argmax, classesOf, labelOf, softmax, topIndices, usualFunction } from '../../web/src/pipelines/scores.js';

describe('of equal scores', () => {
  it('the first is the best', () => {
    expect(argmax([1, 3, 3, 2])).toBe(1);
    expect(argmax([2, 2])).toBe(0);
    expect(argmax([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY])).toBe(0);
  });

  it('the first comes first, however many are asked for', () => {
    expect(topIndices([1, 3, 3, 2, 3], null)).toEqual([1, 2, 4, 3, 0]);
    expect(topIndices([1, 3, 3, 2, 3], 2)).toEqual([1, 2]);
    const equal = Array.from({ length: 50 }, () => 1);
    expect(topIndices(equal, 5)).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('labels', () => {
  it('are those of config.json, by number, or LABEL_n', () => {
    const config = { id2label: { '00': 'a', ' 1 ': 'b', 2: 7, 3: '' } };
    expect([0, 1, 2, 3, 4].map((id) => labelOf(config, id))).toEqual(['a', 'b', '7', '', 'LABEL_4']);
    expect([labelOf({}, 0), labelOf({ id2label: null }, 1)]).toEqual(['LABEL_0', 'LABEL_1']);
    const id2label = { 0: 'a', 1: 'b' };
    expect([2, 3].map((num_labels) => labelOf({ id2label, num_labels }, 1))).toEqual(['b', 'LABEL_1']);
  });

  it.each([null, true, {}])('are not %j', (label) => {
    const wrong = () => labelOf({ id2label: { 0: 'a', 1: label } }, 1);
    expect(wrong).toThrow(expect.objectContaining({ code: 'malformed_config' }));
    expect(wrong).toThrow(/config\.json: id2label .* 1 /);
  });
});

describe('scores', () => {
  it('of one class are a sigmoid unless somebody says otherwise: softmax of one class is always 1', () => {
    expect(usualFunction({}, 1)).toBe('sigmoid');
    expect(usualFunction({}, 2)).toBe('softmax');
    expect(usualFunction({ problem_type: 'multi_label_classification' }, 3)).toBe('sigmoid');
    expect(usualFunction({ problem_type: 'single_label_classification' }, 3)).toBe('softmax');
    expect(usualFunction({ problem_type: 'regression' }, 1)).toBe('none');
    const logits = Float32Array.of(-2);
    const score = (apply: 'softmax' | 'sigmoid' | 'none') => classesOf(logits, {}, { top_k: null, apply })[0]?.score;
    expect(score('softmax')).toBe(1);
    expect(score('sigmoid')).toBeCloseTo(1 / (1 + Math.exp(2)), 12);
    expect(score('none')).toBe(-2);
  });

  it('sum to 1 whatever their size', () => {
    for (const logits of [
      [1e30, -1e30, 1e30],
      [700, 710],
      [-1e5, -1e5 - 1],
    ]) {
      expect(softmax(logits).reduce((a, b) => a + b)).toBeCloseTo(1, 12);
    }
  });
});
