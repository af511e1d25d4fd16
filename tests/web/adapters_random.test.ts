// Random LoRA adapters of every architecture give what PEFT's formula gives in PyTorch. With CLEARFORMER_ADAPTER_CASES
// the folder of other cases that tests/references/adapters_random.py wrote.

import { type ModelInputs, type ModelOutput, Tensor, toSafetensors } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { classOf } from './support/model_classes.js';
import { jsonFile } from './support/pipeline_cases.js';
import {
  type Case,
  casesOf,
  expectClose,
  fixturePath,
  inputsOf,
  type Reference,
  randomGroup,
  tensorsOf,
} from './support/references.js';

const group = randomGroup('adapters_random', 'CLEARFORMER_ADAPTER_CASES');

/** PEFT's folder. */
function adapterOf(one: Case) {
  const tensor = tensorsOf(group, one);
  const tensors = Object.keys(one.inputs).map((name) => {
    const { data, dims } = tensor(name);
    return [name, new Tensor('float32', data as Float32Array, dims)] as const;
  });
  return {
    'adapter_config.json': jsonFile({ peft_type: 'LORA', ...(one.options.config as object) }),
    'adapter_model.safetensors': toSafetensors(Object.fromEntries(tensors)),
  };
}

/** The inputs of the forward pass of that checkpoint, without masks. */
function unmasked({ options: { architecture }, source }: Case): ModelInputs {
  const inputs = Object.entries(inputsOf(`models/${architecture}`, source));
  return Object.fromEntries(inputs.filter(([name]) => !name.endsWith('attention_mask'))) as ModelInputs;
}

describe('random adapters give what PEFT’s formula gives', () => {
  it.each(casesOf(group))('$name', async (one) => {
    const { architecture, checkpoint, task } = one.options;
    const auto = classOf(task, architecture);
    await using model = await auto.from_pretrained(fixturePath(`models/${architecture}/${checkpoint}`));
    await model.load_adapter(adapterOf(one));
    const output = (await model(unmasked(one))) as ModelOutput & Record<string, Tensor>;
    for (const name of Object.keys(one.outputs)) {
      expect(output[name], name).toBeDefined();
      const error = (one.float32_error as Record<string, number>)[name] as number;
      expectClose(one.name, output[name] as Tensor, tensorsOf(group, one)(name) as Reference, undefined, 8 * error);
    }
  });
});
