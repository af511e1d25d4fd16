// What all parts of the page share: the address, the models, the language, the sentence.

import { type ActivationEdit, ClearformerError } from 'clearformer';
import { Address } from './address.js';
import type { Defaults } from './chapter.js';
import type { Language } from './chapters.js';
import { type EditSpec, formatEdits, parseEdits, resolveEdits, withEdit } from './edits.js';
import { keepLanguage, languageFor } from './language.js';
import { activation, type Pass, type PassInputs, Shelf } from './shelf.js';
import type { Piece } from './token_texts.js';
import { within } from './within.js';

/** The sentence as a model's input. */
export interface Sentence {
  readonly text: string;
  /** The tokens the model reads: the first `tokens.length` of `of`. */
  readonly ids: readonly number[];
  readonly tokens: readonly Piece[];
  readonly of: number;
  /** The position in focus. */
  readonly focus: number;
  readonly inputs: PassInputs;
}

/** A forward pass without and with the edits of the address. */
interface Passes {
  readonly clean: Pass;
  /** The same object as `clean` without edits. */
  readonly now: Pass;
}

const firstSentence = 'Lily went to the park.';
/** The story model, which reads the sentence until another is chosen. */
export const firstModel = 'stories260K';

export class Book extends EventTarget {
  readonly address = new Address();
  readonly shelf = new Shelf();
  /** The open chapter's defaults: `q` is its position in focus unless the reader has chosen one. */
  defaults: Defaults = {};

  get language(): Language {
    return languageFor(this.address.get('lang'));
  }

  set language(language: Language) {
    keepLanguage(language);
    this.address.set({ lang: language }, 'replace');
  }

  get text(): string {
    return this.address.get('t') ?? firstSentence;
  }

  /** The language of the sentence and of what is written after it: unknown for a model of the reader's own. */
  get textLanguage(): 'en' | '' {
    return this.modelName === 'own' ? '' : 'en';
  }

  /** The model that reads the sentence, in chapters that leave the choice open. */
  get modelName(): string {
    return this.address.get('m') ?? firstModel;
  }

  /**
   * The sentence as token ids of a model, truncated to the model's context and to `most`. An empty sentence gives the
   * begin-of-sequence token where the model has one.
   */
  async sentence(model = this.modelName, most = Number.POSITIVE_INFINITY, text = this.text): Promise<Sentence> {
    const { tokenizer, texts, model: loaded } = await this.shelf.model(model);
    if (!tokenizer || !texts) throw new ClearformerError('unsupported', `${loaded.cfg.model_type} reads no text`);
    const all = Array.from(tokenizer(text).input_ids.data, Number);
    const room = loaded.cfg.n_ctx > 0 ? loaded.cfg.n_ctx : Number.POSITIVE_INFINITY;
    const ids = all.slice(0, Math.min(most, room));
    const chosen = Number(this.address.get('q') ?? this.defaults.q ?? Number.NaN);
    const focus = Number.isNaN(chosen) ? ids.length - 1 : within(chosen, ids.length);
    const inputs = { model, key: ids.join(), inputs: { input_ids: [ids] } };
    return { text, ids, tokens: texts.pieces(ids), of: all.length, focus, inputs };
  }

  /** The edits of the address, parsed. */
  get editSpecs(): EditSpec[] {
    return parseEdits(this.address.get('edit'));
  }

  /** Adds an edit to the address; it replaces one of the same target. */
  addEdit(spec: EditSpec): void {
    this.address.set({ edit: formatEdits(withEdit(this.editSpecs, spec)) }, 'push');
  }

  setEdits(specs: readonly EditSpec[]): void {
    this.address.set({ edit: formatEdits(specs) }, 'push');
  }

  /** The edits of the address, or `specs`, resolved for a pass over these inputs. */
  edits(given: PassInputs, specs: readonly EditSpec[] = this.editSpecs): Promise<ActivationEdit[]> {
    return resolveEdits(specs, async (hook, edits) => {
      return activation(await this.shelf.pass(given, { names: [hook], edits }), hook);
    });
  }

  /** The pass without and with the edits of the address. */
  async passes(given: PassInputs, names: readonly string[]): Promise<Passes> {
    const clean = await this.shelf.pass(given, { names });
    const edits = await this.edits(given);
    return { clean, now: edits.length === 0 ? clean : await this.shelf.pass(given, { names, edits }) };
  }
}
