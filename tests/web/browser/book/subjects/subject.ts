// A deep link's expectation: a subject of the lecture notes or an interpretability feature, where its numbers are
// drawn, and their values from the library or a committed reference of PyTorch.

import {
  AutoImageProcessor,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoTokenizer,
  type GenerativeModel,
  type ImageProcessor,
  type PreTrainedModel,
  type PreTrainedTokenizer,
} from 'clearformer';

export interface Subject {
  /** As named in the lecture notes. */
  readonly subject: string;
  /** Without `#/`. */
  readonly address: string;
  /** The `source` of the element that shows the numbers. */
  readonly source: string;
  /** At least three positions, with an index per dimension. */
  readonly at: readonly (readonly number[])[];
  /** The values there, computed in Node or read from tests/fixtures. */
  expected(library: Library): Promise<readonly number[]>;
  /** Largest difference allowed: 0 for the same build, otherwise derived, with the reason. */
  readonly tolerance?: number;
  /** Whether `expected` reads a committed reference of PyTorch or transformers. */
  readonly reference?: true;
}

const folder = (name: string): string => `./web/demo/public/models/${name}`;

/** The library in Node, with the page's models loaded once. */
export class Library {
  readonly #models = new Map<string, Promise<PreTrainedModel>>();

  #once<M extends PreTrainedModel>(name: string, load: () => Promise<M>): Promise<M> {
    const known = this.#models.get(name) ?? load();
    this.#models.set(name, known);
    return known as Promise<M>;
  }

  stories(): Promise<GenerativeModel> {
    return this.#once('stories260K', () =>
      AutoModelForCausalLM.from_pretrained(folder('stories260K'), { worker: false }),
    );
  }

  writer(name: string): Promise<GenerativeModel> {
    return this.#once(name, () => AutoModelForCausalLM.from_pretrained(folder(name), { worker: false }));
  }

  translator(): Promise<GenerativeModel> {
    const name = 'marian-tiny-en-fr';
    return this.#once(name, () => AutoModelForSeq2SeqLM.from_pretrained(folder(name), { worker: false }));
  }

  digits(): Promise<PreTrainedModel> {
    const name = 'vit-mnist';
    return this.#once(name, () => AutoModelForImageClassification.from_pretrained(folder(name), { worker: false }));
  }

  filler(name: string): Promise<PreTrainedModel> {
    return this.#once(name, () => AutoModelForMaskedLM.from_pretrained(folder(name), { worker: false }));
  }

  tokenizer(name = 'stories260K'): Promise<PreTrainedTokenizer> {
    return AutoTokenizer.from_pretrained(folder(name));
  }

  processor(): Promise<ImageProcessor> {
    return AutoImageProcessor.from_pretrained(folder('vit-mnist'));
  }

  async dispose(): Promise<void> {
    for (const model of this.#models.values()) await (await model).dispose();
  }
}
