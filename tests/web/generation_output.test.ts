// The tensors of a step: the prompt is processed once for all sequences of a row and returned once for each.
import { describe, expect, it } from 'vitest';
import { byKind, stepTensors as stepTensorsOf } from '../../web/src/models/generation_output.js';
import type { StepValue, TensorOut } from '../../web/src/runtime/border.js';

const floats = (rows: number[][]): TensorOut<'float32'> => {
  const width = rows[0]?.length ?? 0;
  return { type: 'float32', data: Float32Array.from(rows.flat()), dims: [rows.length, width] };
};
const step = (rows: number, lists: Record<string, TensorOut<'float32'>[]>): StepValue => ({
  done: false,
  token_ids: { type: 'int32', data: new Int32Array(rows), dims: [rows] },
  lists,
});

const stepTensors = (value: StepValue) => stepTensorsOf(value, undefined);

describe('states of the prompt', () => {
  it('are shown for each sequence, those of one prompt side by side', () => {
    const prompts = floats([
      [1, 2],
      [3, 4],
    ]); // a, b
    const { hidden_states } = stepTensors(step(6, { hidden_states: [prompts] })) as unknown as {
      hidden_states: [{ tolist(): unknown }];
    };
    expect(hidden_states[0].tolist()).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
      [3, 4],
      [3, 4],
      [3, 4],
    ]);
  });

  it("stay where there are as many rows, and the encoder's always", () => {
    const rows = floats([[1], [2], [3]]);
    const made = stepTensors(step(3, { hidden_states: [rows] })) as unknown as {
      hidden_states: [{ tolist(): unknown }];
    };
    expect(made.hidden_states[0].tolist()).toEqual([[1], [2], [3]]);
    const encoder = stepTensors(step(4, { encoder_hidden_states: [floats([[1], [2]])] })) as unknown as {
      encoder_hidden_states: [{ tolist(): unknown }];
    };
    expect(encoder.encoder_hidden_states[0].tolist()).toEqual([[1], [2]]);
  });

  it('stand by kind, one entry a step', () => {
    const steps = [1, 2].map((value) => stepTensors(step(1, { hidden_states: [floats([[value]])] })));
    const { hidden_states } = byKind(steps);
    expect(hidden_states?.map((layers) => layers[0]?.item())).toEqual([1, 2]);
  });
});
