// A model that turns one text into another, and what it looked at: read the source, write the target, then weigh both.

import { AutoModelForSeq2SeqLM, AutoTokenizer, type GenerativeModel, type PreTrainedTokenizer } from 'clearformer';
import { AttentionGrid, type AttentionKind, type AttentionMaps, haveRoom, type Stack } from './attention_maps.js';
import type { Loaded, LoadOptions, Source } from './model_host.js';
import { type ShownToken, TokenTexts } from './token_texts.js';

/** One way the two texts look at each other or themselves. */
export interface Look {
  maps: AttentionMaps;
  queries: readonly ShownToken[];
  keys: readonly ShownToken[];
}

export type LookName = 'cross' | 'encoder' | 'decoder';

export interface Translation {
  source: string;
  text: string;
  /** Tokens written. */
  tokens: number;
  milliseconds: number;
  /** Of beam search: the sum of log-probabilities of the text, divided by its length. */
  score: number | undefined;
  /** Undefined where the maps of texts this long would take too much memory. */
  looks: Record<LookName, Look> | undefined;
}

export interface TranslationSettings {
  num_beams: number;
  max_new_tokens: number;
}

export class Translator implements Loaded {
  readonly model: GenerativeModel;
  readonly label: string;
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #texts: TokenTexts;

  private constructor(model: GenerativeModel, tokenizer: PreTrainedTokenizer, label: string) {
    this.model = model;
    this.#tokenizer = tokenizer;
    this.label = label;
    this.#texts = new TokenTexts(tokenizer);
  }

  static async load(source: Source, label: string, options: LoadOptions): Promise<Translator> {
    const tokenizer = await AutoTokenizer.from_pretrained(source, { signal: options.signal });
    return new Translator(await AutoModelForSeq2SeqLM.from_pretrained(source, options), tokenizer, label);
  }

  /** Translates, by beam search where `num_beams` is above 1. */
  async translate(text: string, settings: TranslationSettings, signal: AbortSignal): Promise<Translation> {
    const { input_ids, attention_mask } = this.#tokenizer(text, {
      truncation: Number.isFinite(this.#tokenizer.model_max_length),
    });
    const begun = performance.now();
    const { sequences, sequences_scores } = await this.model.generate(
      { input_ids, attention_mask },
      { ...settings, do_sample: false, return_dict_in_generate: true, signal },
    );
    const milliseconds = performance.now() - begun;
    const written = Array.from(sequences.data, Number);
    const read = written.slice(0, -1);
    return {
      source: text,
      text: this.#tokenizer.decode(written, { skip_special_tokens: true }),
      tokens: read.length,
      milliseconds,
      score: sequences_scores?.data[0],
      looks: await this.#looks(Array.from(input_ids.data, Number), written, signal),
    };
  }

  async #looks(
    source: readonly number[],
    written: readonly number[],
    signal: AbortSignal,
  ): Promise<Translation['looks']> {
    const { cfg } = this.model;
    const [keysRead, tokensRead] = [source.length, written.length - 1];
    const room = haveRoom(
      { stack: (cfg.encoder ?? cfg) as Stack, queries: keysRead, keys: keysRead },
      { stack: cfg, queries: tokensRead, keys: tokensRead + keysRead },
    );
    if (!room) return undefined;
    const {
      cross_attentions = [],
      encoder_attentions = [],
      decoder_attentions = [],
    } = await this.model(
      { input_ids: [[...source]], decoder_input_ids: [written.slice(0, -1)] },
      { output_attentions: true, signal },
    );
    const keys = this.#texts.shown(source, 'prompt');
    const target = this.#texts.shown(written, 'model');
    const [begun, ended] = [target.slice(0, -1), target.slice(1)];
    const grid = (kind: AttentionKind, tensors: typeof cross_attentions): AttentionMaps =>
      new AttentionGrid(kind, tensors);
    return {
      // The pass that reads a token writes the next one: a line of the map is named by what it led to.
      cross: { maps: grid('cross', cross_attentions), queries: ended, keys },
      encoder: { maps: grid('self', encoder_attentions), queries: keys, keys },
      decoder: { maps: grid('causal', decoder_attentions), queries: begun, keys: begun },
    };
  }

  dispose(): Promise<void> {
    return this.model.dispose();
  }
}
