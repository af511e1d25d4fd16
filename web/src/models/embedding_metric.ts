// Metrics of embeddings: of one vector per sequence, which is pooled from the model's hidden states, mapped by the dense
// layers of sentence-transformers and scaled to unit length. Their gradients with respect to the hidden states are the
// core's (sentence_pooling.h, modules/sentence_transformers.cpp).

import type { Handle, TensorIn } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions, expectArgument } from '../support/options.js';
import { broadcast } from '../tensor/elements.js';
import { Tensor } from '../tensor/tensor.js';
import { floats, floatsOrNumber, type TensorInput } from '../tensor/tensor_input.js';
import { toTensor } from '../tensor/tensor_output.js';
import type { DifferentiableMetric, EmbeddingMetric, EmbeddingTerm, MetricFunction } from './gradient_metric.js';
import type { ModelOutput } from './outputs.js';
import { normalized, type PoolingMode, pool, poolingModes, tensorIn } from './pooling.js';

/** @internal What becomes of hidden states. */
export interface EmbeddingSteps {
  modes: readonly PoolingMode[];
  /** Modules of the core. */
  dense: readonly Handle[];
  normalize: boolean;
  /** [batch, position]; none: no padding. */
  mask: TensorIn | undefined;
}

type Float = Tensor<'float32'>;
type Back = (gradient: TensorIn) => Promise<Float>;

const terms = ['weights', 'cosine_similarity', 'score'];
const outputs = ['last_hidden_state', 'encoder_last_hidden_state', 'text_embeds', 'image_embeds'];

/** @internal */
export function isOfEmbeddings(metric: DifferentiableMetric): metric is EmbeddingMetric {
  return typeof metric === 'object' && metric !== null && 'pooling' in metric;
}

/** @internal The same as a function of the outputs of a pass with that mask. */
export function metricOfEmbeddings(
  call: string,
  engine: Engine,
  { pooling, normalize = false, ...term }: EmbeddingMetric,
  mask: TensorIn | undefined,
): MetricFunction {
  checkOptions(`${call}: metric`, { normalize }, ['normalize']);
  return embeddingFunction(call, engine, term, { modes: poolingModes(pooling), dense: [], normalize, mask });
}

/** @internal A term as a function of the outputs of a pass, from which `steps` lead to embeddings. */
export function embeddingFunction(
  call: string,
  engine: Engine,
  term: EmbeddingTerm,
  steps: EmbeddingSteps,
): MetricFunction {
  checkOptions(`${call}: metric`, term ?? {}, terms);
  if (Object.values(term ?? {}).filter((one) => one !== undefined).length !== 1) {
    throw invalid(`${call}: metric: needs one of ${terms.join(', ')}`);
  }
  return {
    async compute(_, found) {
      const name = outputs.find((one) => one in found);
      if (name === undefined) throw invalid(`${call}: metric: this model gives none of ${outputs.join(', ')}`);
      const { embeddings, backs } = await embedded(call, engine, found[name as keyof ModelOutput] as Float, {
        ...steps,
        normalize: steps.normalize || term.cosine_similarity !== undefined,
      });
      const { value, gradient } = await metricValueOf(`${call}: metric`, term, embeddings);
      let d = gradient;
      for (const back of backs.reverse()) d = tensorIn(await back(d));
      return { value, gradients: { [name]: d as TensorInput } };
    },
  };
}

/** The embeddings, and the steps back from their gradient to that of the hidden states, in the order of the steps. */
async function embedded(
  call: string,
  engine: Engine,
  hidden: Float,
  { modes, dense, normalize, mask }: EmbeddingSteps,
): Promise<{ embeddings: Float; backs: Back[] }> {
  const backs: Back[] = [];
  let embeddings = hidden;
  if (modes.length > 0) {
    if (hidden.dims.length !== 3) {
      const message = `${call}: this model gives one vector a sequence, there is no pooling`;
      throw new ClearformerError('unsupported', message, { option: 'pooling' });
    }
    const given = { x: tensorIn(hidden), mask: mask ?? allOf(hidden), modes: [...modes] };
    embeddings = await pool(engine, hidden, given.mask, modes);
    backs.push(async (grad_output) =>
      toTensor(await engine.call('sentence_pooling_backward', { ...given, grad_output })),
    );
  }
  for (const module of dense) {
    const given = { module, tensors: { input: tensorIn(embeddings) }, masks: {} };
    embeddings = toTensor((await engine.call('module_forward', given)).output);
    backs.push(async (grad_output) => {
      const { inputs } = await engine.call('module_backward', { ...given, grad_output });
      return toTensor(inputs.input as NonNullable<typeof inputs.input>);
    });
  }
  if (normalize) {
    const x = tensorIn(embeddings);
    embeddings = await normalized(engine, embeddings);
    backs.push(async (grad_output) => toTensor(await engine.call('unit_vectors_backward', { x, grad_output })));
  }
  return { embeddings, backs };
}

/** A term's value, and its gradient of the embeddings' dims; for a cosine similarity they are of unit length. */
async function metricValueOf(
  what: string,
  { weights, cosine_similarity, score }: EmbeddingTerm,
  embeddings: Float,
): Promise<{ value: number; gradient: TensorIn }> {
  const { dims, data } = embeddings;
  if (score !== undefined) {
    expectArgument(`${what}: score`, typeof score === 'function', 'a function', score);
    const found = await score(embeddings);
    if (typeof found?.value !== 'number') throw invalid(`${what} gave ${textOf(found)}, not { value, gradient }`);
    return { value: found.value, gradient: floats(`${what}: gradient`, found.gradient) };
  }
  const given =
    weights === undefined
      ? floats(`${what}: cosine_similarity`, cosine_similarity as TensorInput)
      : floatsOrNumber(`${what}: weights`, weights);
  const vectors = new Tensor('float32', given.data, given.dims);
  const wanted = cosine_similarity === undefined ? vectors : vectors.normalize(2, -1);
  const factors = broadcast(embeddings, wanted)?.pair[1];
  if (factors?.length !== data.length) {
    const message = `${what}: dims [${given.dims.join(', ')}] do not fit embeddings [${dims.join(', ')}]`;
    throw new ClearformerError('shape_mismatch', message, { option: 'metric' });
  }
  return {
    value: factors.reduce((sum, one, i) => sum + one * (data[i] as number), 0),
    gradient: { data: factors, dims: [...dims] },
  };
}

/** A mask without padding. */
function allOf({ dims: [batch = 0, length = 0] }: Float): TensorIn {
  return { data: new Uint8Array(batch * length).fill(1), dims: [batch, length] };
}

function invalid(message: string): ClearformerError {
  return new ClearformerError('invalid_argument', message, { option: 'metric' });
}
