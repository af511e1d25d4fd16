// Classifiers with the trunk of a decoder-only model: which token they read; what is refused. Their logits are compared with
// transformers' by architectures.test.ts.

import { AutoModel, AutoModelForSequenceClassification, AutoModelForTokenClassification, inspect } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { folderFiles, jsonFile } from './support/pipeline_cases.js';
import { fixturePath } from './support/references.js';

const here = { worker: false } as const;
const folder = 'models/decoder_classifiers/qwen3_sequence_classification';
const path = fixturePath(folder);
const row = [5, 9, 12, 7];

/** The folder with other keys in its config.json. */
function changed(keys: Record<string, unknown>) {
  const files = folderFiles(folder);
  const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array));
  return { ...files, 'config.json': jsonFile({ ...config, ...keys }) };
}

describe('a decoder-only model that classifies texts', () => {
  it('reads the last token that is no padding', async () => {
    await using model = await AutoModelForSequenceClassification.from_pretrained(path, here);
    const logitsOf = async (...ids: number[]) => [...(await model({ input_ids: [ids] })).logits.data];
    const logits = await logitsOf(...row);
    expect(logits).toHaveLength(3);
    expect(await logitsOf(...row, 0, 0)).toEqual(logits);
    expect(await logitsOf(...row, 8)).not.toEqual(logits);
    expect(await logitsOf(0, 0)).toEqual(await logitsOf(0)); // the first if all are padding
  });

  it('reads the last of embeddings, and of a residual stream the last that the mask allows', async () => {
    await using model = await AutoModelForSequenceClassification.from_pretrained(path, here);
    const { logits } = await model({ input_ids: [row] });
    const [, cache] = await model.run_with_cache({ input_ids: [row] }, { names_filter: 'hook_embed' });
    const inputs_embeds = cache.hook_embed;
    expect([...(await model({ inputs_embeds })).logits.data]).toEqual([...logits.data]);
    const padded = { input_ids: [[...row, 0]], attention_mask: [[1, 1, 1, 1, 0]] };
    const [residual] = await model.run_with_cache(padded, { stop_at_layer: 1 });
    const { attention_mask } = padded;
    const [continued] = await model.run_with_cache({ residual, attention_mask }, { start_at_layer: 1 });
    expect([...continued.data]).toEqual([...logits.data]);
  });

  it('needs a padding token for several rows, as in transformers', async () => {
    await using model = await AutoModelForSequenceClassification.from_pretrained(changed({ pad_token_id: null }), here);
    const { logits } = await model({ input_ids: [row] });
    expect(logits.dims).toEqual([1, 3]);
    const failure = await failureOf(() => model({ input_ids: [row, row] }));
    expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('pad_token_id') });
  });

  it('is told apart by inspect, and has its trunk', async () => {
    expect(await inspect(path)).toMatchObject({
      model_type: 'qwen3',
      kind: 'decoder-only',
      cache: null,
      task: 'sequence-classification',
      pipeline: 'text-classification',
      pipelines: expect.arrayContaining(['text-classification', 'text-ranking']),
    });
    await using trunk = await AutoModel.from_pretrained(path, here);
    const { last_hidden_state } = await trunk({ input_ids: [row] });
    expect(last_hidden_state?.dims).toEqual([1, 4, 32]);
  });

  it.each([
    [AutoModelForSequenceClassification, 'codegen/even'],
    [AutoModelForTokenClassification, 'gptj/even'],
    [AutoModelForTokenClassification, 'lfm2/even'],
  ] as const)('is refused by name where transformers has none (%#)', async (auto, checkpoint) => {
    const failure = await failureOf(() => auto.from_pretrained(fixturePath(`models/${checkpoint}`), here));
    const [type] = checkpoint.split('/');
    expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining(`"${type}"`) });
  });
});
