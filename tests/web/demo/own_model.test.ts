// One's own model: what its config.json says it is for, and small sums of the forms.
import { readdirSync, readFileSync } from 'node:fs';
import { ClearformerError } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { errorText } from '../../../web/demo/state/error_text.js';
import { isOtherFormat } from '../../../web/demo/state/own-model.js';
import { cosine, kForms } from '../../../web/demo/state/own-tasks.js';
import { architectureOf, kTaskNames, taskOf } from '../../../web/demo/state/tasks.js';
import { fixturePath } from '../support/references.js';

const named = (architecture: string): { architectures: string[] } => ({ architectures: [architecture] });

describe('taskOf', () => {
  it.each([
    ['LlamaForCausalLM', 'text-generation'],
    ['GPT2LMHeadModel', 'text-generation'],
    ['T5ForConditionalGeneration', 'text2text-generation'],
    ['MarianMTModel', 'text2text-generation'],
    ['WhisperForConditionalGeneration', 'automatic-speech-recognition'],
    ['ViTForImageClassification', 'image-classification'],
    ['DeiTForImageClassificationWithTeacher', 'image-classification'],
    ['ViTModel', 'image-feature-extraction'],
    ['CLIPModel', 'zero-shot-image-classification'],
    ['BertForMaskedLM', 'fill-mask'],
    ['RobertaForSequenceClassification', 'text-classification'],
    ['ModernBertForTokenClassification', 'token-classification'],
    ['DistilBertForQuestionAnswering', 'question-answering'],
    ['BertModel', 'feature-extraction'],
  ])('%s: %s', (architecture, task) => {
    expect(taskOf(named(architecture))).toBe(task);
  });

  it('knows every checkpoint of the references that names its class', () => {
    const seen = new Set<string>();
    for (const family of readdirSync(fixturePath('models')))
      for (const folder of readdirSync(fixturePath(`models/${family}`), { withFileTypes: true })) {
        if (!folder.isDirectory()) continue;
        const config = JSON.parse(readFileSync(fixturePath(`models/${family}/${folder.name}/config.json`), 'utf8'));
        const task = taskOf(config);
        seen.add(task);
        if (!architectureOf(config).endsWith('Model'))
          expect(task).not.toBe(architectureOf(config) && 'feature-extraction');
      }
    expect([...seen].sort()).toEqual(Object.keys(kTaskNames).sort());
  });

  it.each(['BertForMultipleChoice', 'SegformerForSemanticSegmentation'])('refuses %s by name', (architecture) => {
    expect(() => taskOf(named(architecture))).toThrow(expect.objectContaining({ code: 'unsupported' }));
    expect(() => taskOf(named(architecture))).toThrow(architecture);
  });

  it('takes what names no class for a model without a head', () => {
    expect(taskOf({})).toBe('feature-extraction');
    expect(taskOf({ architectures: 'BertModel' })).toBe('feature-extraction');
  });
});

it('every task has a part of the page', () => {
  const parts = [...Object.keys(kForms), 'text-generation', 'text2text-generation', 'image-classification'];
  expect(parts.sort()).toEqual(Object.keys(kTaskNames).sort());
});

it('cosine', () => {
  expect(cosine([1, 2, 3], [2, 4, 6])).toBeCloseTo(1, 12);
  expect(cosine([1, 0], [0, 5])).toBe(0);
  expect(cosine([1, 1], [-1, -1])).toBeCloseTo(-1, 12);
  expect(cosine([3, 4], [4, 3])).toBeCloseTo(24 / 25, 12);
});

it('tells weights of other formats', () => {
  expect(['pytorch_model.bin', 'model.onnx', 'tf_model.h5', 'model.gguf'].every(isOtherFormat)).toBe(true);
  expect(['model.safetensors', 'config.json', 'vocab.txt'].some(isOtherFormat)).toBe(false);
});

it('errors say what they are, what to do, and their code', () => {
  const text = errorText(new ClearformerError('file_not_found', 'config.json is not in the given files'));
  expect(text.code).toBe('file_not_found');
  expect(text.message).toBe('config.json is not in the given files');
  expect(text.title).toBe('A file was not found');
  expect(text.advice).toContain('Add the file');
  expect(errorText(new Error('else'))).toEqual({ title: 'It did not work', message: 'else', code: '', advice: '' });
});
