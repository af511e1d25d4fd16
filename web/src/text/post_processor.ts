// tokenizer.json's `post_processor`: adds special tokens around a text or a pair, and trims the tokens' offsets.

import { shownValue } from '../checkpoint/file_rules.js';
import { mapped, type Steps } from '../support/steps.js';
import { classOf, codePointsOf, union } from './code_points.js';
import type { Token } from './encoder.js';
import { asStep, isObject, lastId, malformed, mustBe, type Step, stepsOf, unknownStep } from './step.js';
import { whiteSpace } from './unicode.js';

/** A row of tokens, followed by rows of overflowing tokens. */
export type Rows = readonly (readonly Token[])[];

/** A special token, or one of the texts (0 the first, 1 its pair), and its token type (undefined: unchanged). */
type Slot = { readonly special: readonly number[]; readonly type: number } | TextSlot;
interface TextSlot {
  readonly text: 0 | 1;
  readonly type: number | undefined;
}

export class PostProcessor {
  readonly #single: readonly Slot[];
  readonly #pair: readonly Slot[];
  readonly #trim: ((row: readonly Token[], text: string) => Steps<Token[]>) | undefined;

  /**
   * `spelling` returns the vocabulary's entry for an id, if there is one. Throws `unsupported` for a step of an unknown
   * type, `malformed_config` for an id without a token.
   */
  constructor(held: unknown, spelling: (id: number) => string | undefined) {
    const steps = flat(held);
    const unknown = steps.find(({ type }) => !Object.hasOwn(templates, type));
    if (unknown !== undefined) throw unknownStep('post-processor', unknown.type);
    const template = steps.find(({ type }) => type !== 'ByteLevel');
    [this.#single, this.#pair] = templates[template?.type ?? 'ByteLevel']?.(template ?? { type: '' }) ?? bare;
    for (const slot of [...this.#single, ...this.#pair]) {
      const stranger = 'special' in slot ? slot.special.find((id) => spelling(id) === undefined) : undefined;
      if (stranger !== undefined) throw malformed(`${template?.type}: no token has the id ${stranger}`);
    }
    const trims = steps.find(
      ({ type, trim_offsets }) => type !== 'BertProcessing' && (trim_offsets ?? type === 'ByteLevel'),
    );
    if (trims === undefined) return;
    const prefixed = trims.add_prefix_space !== false;
    this.#trim = (row, text) =>
      mapped(row, (token, i) =>
        trimmed(token, spelling(token.id) ?? '', text, prefixed && (i === 0 || token.start === 0)),
      );
  }

  /** The number of special tokens added to a text or a pair. */
  added(pair: boolean): number {
    return this.#slots(pair).reduce((sum, slot) => sum + ('special' in slot ? slot.special.length : 0), 0);
  }

  /**
   * Combines the rows of one or two texts: first the main row, then every combination with overflowing rows.
   * `originals` are the texts themselves, for tokens with spans.
   */
  *process(texts: readonly Rows[], withSpecial: boolean, originals: readonly string[] | undefined): Steps<Rows> {
    const sources: Rows[] = [];
    for (const [i, rows] of texts.entries()) {
      const original = originals?.[i];
      const done: (readonly Token[])[] = [];
      for (const row of rows) {
        done.push(original === undefined || this.#trim === undefined ? row : yield* this.#trim(row, original));
      }
      sources.push(done);
    }
    let all: Rows = [[]];
    for (const slot of this.#slots(texts.length > 1)) {
      if (withSpecial || !('special' in slot)) all = joined(all, yield* rowsOf(slot, sources));
    }
    return all;
  }

  #slots(pair: boolean): readonly Slot[] {
    return pair ? this.#pair : this.#single;
  }
}

type Template = readonly [single: readonly Slot[], pair: readonly Slot[]];
const bare: Template = [
  [{ text: 0, type: undefined }],
  [0, 1].map((text) => ({ text: text as 0 | 1, type: undefined })),
];

/** cls and sep are pairs of a token and its id. */
function idIn(step: Step, key: 'cls' | 'sep'): number[] {
  const pair = step[key];
  if (Array.isArray(pair) && isId(pair[1])) return [pair[1]];
  throw mustBe(step, key, 'a token and its id');
}

const templates: Readonly<Record<string, (step: Step) => Template>> = {
  ByteLevel: () => bare,
  BertProcessing: (step) => {
    const end: Slot = { special: idIn(step, 'sep'), type: 0 };
    const single: Slot[] = [{ special: idIn(step, 'cls'), type: 0 }, { text: 0, type: 0 }, end];
    return [single, [...single, { text: 1, type: 1 }, { ...end, type: 1 }]];
  },
  RobertaProcessing: (step) => {
    const end: Slot = { special: idIn(step, 'sep'), type: 0 };
    const single: Slot[] = [{ special: idIn(step, 'cls'), type: 0 }, { text: 0, type: 0 }, end];
    return [single, [...single, end, { text: 1, type: 0 }, end]];
  },
  TemplateProcessing: (step) => {
    const slotsOf = (pieces: unknown, key: string) => {
      if (Array.isArray(pieces)) return pieces.map((piece) => slotOf(piece, step.special_tokens));
      throw mustBe(step, key, 'a list');
    };
    return [slotsOf(step.single, 'single'), slotsOf(step.pair, 'pair')];
  },
};

function slotOf(piece: unknown, tokens: unknown): Slot {
  const { Sequence: text, SpecialToken: token } = isObject(piece) ? piece : {};
  if (isObject(text) && (text.id === 'A' || text.id === 'B')) {
    return { text: text.id === 'A' ? 0 : 1, type: typeIn(text) };
  }
  if (!isObject(token)) {
    throw malformed(
      `TemplateProcessing: a piece must be a Sequence A or B or a SpecialToken, and is ${shownValue(piece)}`,
    );
  }
  const named = isObject(tokens) ? tokens[String(token.id)] : undefined;
  const ids: unknown = isObject(named) ? named.ids : undefined;
  if (Array.isArray(ids) && ids.every(isId)) return { special: ids, type: typeIn(token) };
  throw malformed(`TemplateProcessing: special_tokens has no token ${shownValue(token.id)} with a list of ids`);
}

function typeIn({ type_id = 0 }: Readonly<Record<string, unknown>>): number {
  if (isId(type_id)) return type_id;
  throw malformed(`TemplateProcessing: type_id must be a whole number, and is ${shownValue(type_id)}`);
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= lastId;
}

function flat(held: unknown): Step[] {
  if (held === null || held === undefined) return [];
  const step = asStep(held, 'post-processor');
  return step.type === 'Sequence' ? stepsOf(step, 'processors').flatMap(flat) : [step];
}

// As in the crate, the template's types apply to the main row only; overflowing rows keep their text's own.
function* rowsOf(slot: Slot, texts: readonly Rows[]): Steps<Rows> {
  if ('special' in slot) {
    return [slot.special.map((id) => ({ id, start: 0, end: 0, word: null, sequence: null, type: slot.type }))];
  }
  const { type } = slot;
  const [main = [], ...rest] = texts[slot.text] ?? [];
  return [type === undefined ? main : yield* mapped(main, (token) => ({ ...token, type })), ...rest];
}

function joined(left: Rows, right: Rows): Rows {
  const [main = [], ...leftOver] = left;
  const [next = [], ...nextOver] = right;
  return [
    [...main, ...next],
    ...leftOver.flatMap((row) => right.map((other) => [...row, ...other])),
    ...nextOver.map((other) => [...main, ...other]),
  ];
}

// In the byte-level alphabet a space is Ġ.
const space = classOf(union(whiteSpace, codePointsOf('Ġ')));
const spaceBefore = new RegExp(`^${space}*`, 'u');
const spaceAfter = new RegExp(`${space}*$`, 'u');

/**
 * A token whose span excludes its leading and trailing spaces. As in the crate, they are counted in the token, and that
 * many characters are cut off the span, whatever they are. A space prepended to the text is not counted.
 */
function trimmed(token: Token, usual: string, text: string, prefixed: boolean): Token {
  const value = token.value ?? usual;
  const before = spaceBefore.exec(value)?.[0].length ?? 0;
  const after = spaceAfter.exec(value)?.[0].length ?? 0;
  if (before + after === 0) return token;
  const start = before === 1 && prefixed ? token.start : Math.min(moved(text, token.start, before), token.end);
  return { ...token, start, end: Math.max(moved(text, token.end, -after), start) };
}

/** The position that many characters (not code units) further on, or back. */
function moved(text: string, from: number, characters: number): number {
  let at = from;
  for (let left = characters; left > 0; left--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  for (let left = characters; left < 0; left++) at -= (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
