// What every part of the page shares: the address, the models, the language, the sentence that is carried along.

import type { ActivationEdit } from 'clearformer';
import { Address } from './address.js';
import type { Defaults } from './chapter.js';
import type { Language } from './chapters.js';
import { type EditSpec, formatEdits, parseEdits, resolveEdits, withEdit } from './edits.js';
import { activation, type Pass, type PassInputs, Shelf } from './shelf.js';
import { keep, kept } from './theme.js';
import type { Piece } from './token_texts.js';

/** The sentence as a model reads it. */
export interface Sentence {
  readonly text: string;
  /** The tokens it reads: the first `tokens.length` of `of`. */
  readonly ids: readonly number[];
  readonly tokens: readonly Piece[];
  readonly of: number;
  /** The position that the reader looks at. */
  readonly focus: number;
  readonly inputs: PassInputs;
}

/** A pass as the model makes it, and with the edits of the address. */
interface Passes {
  readonly clean: Pass;
  /** The same object as `clean` where nothing is edited. */
  readonly now: Pass;
}

const languageKey = 'clearformer-language';
const firstSentence = 'Lily went to the park.';
const firstModel = 'stories260K';

export class Book extends EventTarget {
  readonly address = new Address();
  readonly shelf = new Shelf();
  /** Of the chapter that is open: `q` is the position it looks at while the reader has chosen none. */
  defaults: Defaults = {};

  get language(): Language {
    const wanted = this.address.get('lang') ?? kept(languageKey) ?? navigator.language;
    return wanted.startsWith('de') ? 'de' : 'en';
  }

  set language(language: Language) {
    keep(languageKey, language);
    this.address.set({ lang: language }, 'replace');
  }

  get text(): string {
    return this.address.get('t') ?? firstSentence;
  }

  /** The model that the sentence is read by, where a chapter leaves the choice. */
  get modelName(): string {
    return this.address.get('m') ?? firstModel;
  }

  /**
   * The sentence as tokens of a model, at most as many as it can read and as `most` says. Of an empty sentence a
   * model that begins a text with a token of its own reads that.
   */
  async sentence(model = this.modelName, most = Number.POSITIVE_INFINITY, text = this.text): Promise<Sentence> {
    const { tokenizer, texts, model: loaded } = await this.shelf.model(model);
    if (!tokenizer || !texts) throw new TypeError(`${model} reads no text`);
    const all = Array.from(tokenizer(text).input_ids.data, Number);
    const room = loaded.cfg.n_ctx > 0 ? loaded.cfg.n_ctx : Number.POSITIVE_INFINITY;
    const ids = all.slice(0, Math.min(most, room));
    const chosen = Number(this.address.get('q') ?? this.defaults.q ?? Number.NaN);
    const focus = Number.isInteger(chosen) && chosen >= 0 && chosen < ids.length ? chosen : ids.length - 1;
    const inputs = { model, key: ids.join(), inputs: { input_ids: [ids] } };
    return { text, ids, tokens: texts.pieces(ids), of: all.length, focus, inputs };
  }

  /** The edits of the address, as they are written there. */
  get editSpecs(): EditSpec[] {
    return parseEdits(this.address.get('edit'));
  }

  /** Adds an edit to the address, in the place of one that changed the same thing. */
  addEdit(spec: EditSpec): void {
    this.address.set({ edit: formatEdits(withEdit(this.editSpecs, spec)) }, 'push');
  }

  setEdits(specs: readonly EditSpec[]): void {
    this.address.set({ edit: formatEdits(specs) }, 'push');
  }

  /** The edits of the address, or these, for a pass over these inputs. */
  edits(given: PassInputs, specs: readonly EditSpec[] = this.editSpecs): Promise<ActivationEdit[]> {
    return resolveEdits(specs, async (hook, edits) => {
      return activation(await this.shelf.pass(given, { names: [hook], edits }), hook);
    });
  }

  /** The pass as it is and as the address edits it. */
  async passes(given: PassInputs, names: readonly string[]): Promise<Passes> {
    const clean = await this.shelf.pass(given, { names });
    const edits = await this.edits(given);
    return { clean, now: edits.length === 0 ? clean : await this.shelf.pass(given, { names, edits }) };
  }
}
