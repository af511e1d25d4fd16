// The attention weights of one layer as an image: npm start -- MODEL TEXT LAYER FILE.png
// Heads are side by side; in each a row is a query, a column a key, and dark is a large weight.

import { AutoModelForCausalLM, AutoTokenizer } from 'clearformer';
import sharp from 'sharp';

const [source, text, layer, file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: npm start -- MODEL TEXT LAYER FILE.png');

const tokenizer = await AutoTokenizer.from_pretrained(source);
const model = await AutoModelForCausalLM.from_pretrained(source);
const inputs = tokenizer(text);
const { attentions } = await model(inputs, { output_attentions: true });
const attention = attentions[Number(layer)];
if (attention === undefined) throw new Error(`There are layers 0 to ${attentions.length - 1}, no ${layer}.`);

const [, heads, tokens] = attention.dims; // [batch, head, query, key]
const cell = 12; // pixels per side
const gap = 1; // cells between heads
const width = heads * (tokens + gap) - gap;
const grey = Buffer.alloc(width * tokens, 255);
for (let head = 0; head < heads; ++head)
  for (let query = 0; query < tokens; ++query)
    for (let key = 0; key < tokens; ++key) {
      const weight = attention.data[(head * tokens + query) * tokens + key];
      grey[query * width + head * (tokens + gap) + key] = Math.round(255 * (1 - weight));
    }

await sharp(grey, { raw: { width, height: tokens, channels: 1 } })
  .resize(width * cell, tokens * cell, { kernel: 'nearest' })
  .png()
  .toFile(file);
console.log(
  `${file}: ${heads} heads of layer ${layer} over ${tokenizer.convert_ids_to_tokens(inputs.input_ids.slice(0)).join(' ')}`,
);
await model.dispose();
