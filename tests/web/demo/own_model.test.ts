// One's own model: what each pipeline is to the reader, and small sums of the forms.

import { ClearformerError } from 'clearformer';
import { expect, it } from 'vitest';
import { errorText } from '../../../web/demo/state/error_text.js';
import { cosine, forms } from '../../../web/demo/state/own_forms.js';
import { pipelineWords } from '../../../web/demo/state/own_model.js';

it('every pipeline has a part of the page', () => {
  const parts = [...Object.keys(forms), 'text-generation', 'translation', 'summarization', 'image-classification'];
  expect(parts.sort()).toEqual(Object.keys(pipelineWords).sort());
});

it('cosine', () => {
  expect(cosine([1, 2, 3], [2, 4, 6])).toBeCloseTo(1, 12);
  expect(cosine([1, 0], [0, 5])).toBe(0);
  expect(cosine([1, 1], [-1, -1])).toBeCloseTo(-1, 12);
  expect(cosine([3, 4], [4, 3])).toBeCloseTo(24 / 25, 12);
});

it('errors say what they are, what to do, and their code', () => {
  const text = errorText(new ClearformerError('file_not_found', 'config.json is not in the given files'));
  expect(text.code).toBe('file_not_found');
  expect(text.message).toBe('config.json is not in the given files');
  expect(text.title).toBe('A file was not found');
  expect(text.advice).toContain('Add the file');
  expect(errorText(new Error('else'))).toEqual({ title: 'It did not work', message: 'else', code: '', advice: '' });
});
