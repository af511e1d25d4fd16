// The code of the training.

import type { FigureCode } from '../../../book/figure.js';
import { batchRows, half, length, mostNorm, optimizerOptions, shortest } from './recipe.js';
import type { Aim } from './trainer.js';

export function trainingCode({ settings, steps, off }: Aim): FigureCode {
  const { layers, lr } = settings;
  const { betas, num_warmup_steps } = optimizerOptions;
  const edits = off.map(({ layer, head }) => `{ hook: 'blocks.${layer}.attn.hook_z', head: ${head}, op: 'zero' }`);
  return {
    js: `// files: config.json (gpt2, n_layer: ${layers}, n_head: 2, n_embd: 32) and model.safetensors with random weights;
// batch(): ${batchRows} rows of ${shortest} to ${half} random tokens over and over. Both in full: web/examples/training.md
const model = await AutoModelForCausalLM.from_pretrained(files, { deterministic: true });
const optimizer = new AdamW(model, { lr: ${lr}, betas: [${betas.join(', ')}], num_warmup_steps: ${num_warmup_steps} });
for (let step = 0; step < ${steps}; step++) {
  const input_ids = batch();
  await optimizer.backward({ input_ids, labels: input_ids });
  await clip_grad_norm_(optimizer, ${mostNorm});
  await optimizer.step();
}
const [logits, cache] = await model.run_with_cache({ input_ids: rows }, {
  names_filter: '*hook_pattern',
  edits: [${edits.join(', ')}],
});
const { previous_token, induction } = headScores(cache, rows);
const { values } = await sweep(model, { base: { input_ids: rows }, interventions, metric });  // each head silent in turn
await model.save_pretrained();`,
    cpp: `const auto model = from_pretrained("untrained");
AdamW optimizer(model->parameters().all(), {.learning_rate = ${lr}, .beta1 = ${betas[0]}, .beta2 = ${betas[1]}});
const Schedule schedule{.warmup_steps = ${num_warmup_steps}};
for (std::size_t step = 0; step < ${steps}; ++step) {
  const Tensor ids = batch();  // int32, (${batchRows}, ${length})
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  Gradient gradient;
  gradient.add(LabelLoss{ids.clone()});
  gradient.want_weights("*");
  Trace trace;
  model->gradient(inputs, trace, gradient);
  optimizer.clip_grad_norm(gradient.weights(), ${mostNorm.toFixed(1)});
  optimizer.learning_rate = ${lr} * schedule.factor(step);
  optimizer.step(gradient.weights());
}
Trace trace;
trace.capture("blocks.*.attn.hook_pattern");
${off.map(({ layer, head }) => `trace.edit(Edit{.hook = "blocks.${layer}.attn.hook_z", .heads = {${head}}});\n`).join('')}ModelInputs inputs;
inputs.input_ids = rows.view();
model->forward(inputs, &trace);`,
  };
}
