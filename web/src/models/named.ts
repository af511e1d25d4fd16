// Models by transformers' class names: each is an AutoModel restricted to one architecture, whose model types these are.

import { AutoConfig } from '../checkpoint/auto_config.js';
import { sourceOptions } from '../checkpoint/source.js';
import { ClearformerError, textOf } from '../support/error.js';
import type { AutoModelClass } from './auto_models.js';

/** @internal */
export function named<Model>(name: string, base: AutoModelClass<Model>, ...types: string[]): AutoModelClass<Model> {
  const isEncoder = name.endsWith('EncoderModel'); // alone, where the type is that of encoder-decoders
  const list = `'${types.join("' or '")}'`;
  const isOne = (type: unknown) => types.some((one) => one === type);
  return {
    async from_pretrained(source, options = {}) {
      const wanted = Object.entries(options ?? {}).filter(([option]) => [...sourceOptions, 'signal'].includes(option));
      const { model_type, architectures } = await AutoConfig.from_pretrained(source, Object.fromEntries(wanted));
      if (!isOne(model_type)) {
        const message = `${name}.from_pretrained: the checkpoint is '${textOf(model_type)}', not ${list}; AutoModel… takes any`;
        throw new ClearformerError('unsupported', message, { option: 'source' });
      }
      const [made] = [architectures].flat();
      if (isEncoder && made !== name) {
        const message = `${name}.from_pretrained: the checkpoint is of ${textOf(made)}, with a decoder: AutoModel loads both, and computes the encoder alone if there are no decoder_input_ids`;
        throw new ClearformerError('unsupported', message, { option: 'source' });
      }
      return base.from_pretrained(source, options);
    },
    async from_config(config, options) {
      const found = config?.model_type;
      if (isOne(found)) return base.from_config(isEncoder ? { ...config, architectures: [name] } : config, options);
      const message = `${name}.from_config: the config is of '${textOf(found)}', not ${list}; AutoModel… takes any`;
      throw new ClearformerError('unsupported', message, { option: 'config' });
    },
  };
}
