// tokenizer.json's `post_processor`: adds special tokens around a text or a pair, and trims the tokens' offsets.

import { isId, shownValue } from '../checkpoint/file_rules.js';
import { isObject } from '../support/kinds.js';
import { mapped, type Steps } from '../support/steps.js';
import { classOf, codePointsOf, union } from './code_points.js';
import type { Token } from './encoder.js';
import { asStep, malformed, mustBe, type Step, stepsOf, unknownStep } from './step.js';
import { whiteSpace } from './unicode.js';

/** Rows of tokens of a text, or of special tokens beside it: the main one, followed by those of overflowing tokens. */
export type Rows = readonly (readonly Token[])[];

/** What a call's steps share: the texts of tokens with spans, and the vocabulary's entries. */
interface Context {
  readonly withSpecial: boolean;
  readonly originals: readonly string[] | undefined;
  readonly spelling: (id: number) => string | undefined;
}

/** One step: it adds tokens to parts, or makes parts of them, which are joined after the last step. */
interface Stage {
  /** The ids it adds to a text, or a pair. */
  added(pair: boolean): readonly number[];
  run(parts: readonly Rows[], context: Context): Steps<readonly Rows[]>;
}

export class PostProcessor {
  readonly #stages: readonly Stage[];
  readonly #spelling: (id: number) => string | undefined;

  /**
   * `spelling` returns the vocabulary's entry for an id, if there is one. Throws `unsupported` for a step of an unknown
   * type, `malformed_config` for an id without a token.
   */
  constructor(held: unknown, spelling: (id: number) => string | undefined) {
    this.#spelling = spelling;
    this.#stages = flat(held).map((step) => {
      if (!Object.hasOwn(stages, step.type)) throw unknownStep('post-processor', step.type);
      const stage = stages[step.type]?.(step) as Stage;
      const stranger = [...stage.added(false), ...stage.added(true)].find((id) => spelling(id) === undefined);
      if (stranger !== undefined) throw malformed(`${step.type}: no token has the id ${stranger}`);
      return stage;
    });
  }

  /** The number of special tokens added to a text or a pair. */
  added(pair: boolean): number {
    return this.#stages.reduce((sum, stage) => sum + stage.added(pair).length, 0);
  }

  /**
   * Combines the rows of one or two texts: first the main row, then every combination with overflowing rows.
   * `originals` are the texts themselves, for tokens with spans.
   */
  *process(texts: readonly Rows[], withSpecial: boolean, originals: readonly string[] | undefined): Steps<Rows> {
    const context = { withSpecial, originals, spelling: this.#spelling };
    let parts = texts;
    for (const stage of this.#stages) parts = yield* stage.run(parts, context);
    return parts.reduce(joined, [[]]);
  }
}

/** Every combination of two parts' rows: the main ones first. */
function joined(left: Rows, right: Rows): Rows {
  const [main = [], ...leftOver] = left;
  const [next = [], ...nextOver] = right;
  return [
    [...main, ...next],
    ...leftOver.flatMap((row) => right.map((other) => [...row, ...other])),
    ...nextOver.map((other) => [...main, ...other]),
  ];
}

/** cls and sep are pairs of a token and its id. */
function idIn(step: Step, key: 'cls' | 'sep'): number {
  const pair = step[key];
  if (Array.isArray(pair) && isId(pair[1])) return pair[1];
  throw mustBe(step, key, 'a token and its id');
}

const stages: Readonly<Record<string, (step: Step) => Stage>> = {
  ByteLevel: (step) => ({ added: () => [], run: (parts, context) => withoutSpaces(parts, step, context) }),
  BertProcessing: (step) => framing(step, []),
  RobertaProcessing: (step) => framing(step, [idIn(step, 'sep')], 0),
  TemplateProcessing: (step) => {
    const slotsOf = (pieces: unknown, key: string) => {
      if (Array.isArray(pieces)) return pieces.map((piece) => slotOf(piece, step.special_tokens));
      throw mustBe(step, key, 'a list');
    };
    const templates = [slotsOf(step.single, 'single'), slotsOf(step.pair, 'pair')] as const;
    return {
      added: (pair) => templates[pair ? 1 : 0].flatMap((slot) => ('special' in slot ? slot.special : [])),
      *run(parts, { withSpecial }) {
        const slots = templates[parts.length - 1];
        if (slots === undefined)
          throw malformed(`TemplateProcessing: ${parts.length} parts come from the steps before it`);
        const done: Rows[] = [];
        for (const slot of slots) {
          if ('text' in slot) done.push(yield* typed(parts[slot.text] ?? [], slot.type));
          else if (withSpecial) done.push([slot.special.map((id) => specialToken(id, slot.type))]);
        }
        return done;
      },
    };
  },
};

function specialToken(id: number, type: number): Token {
  return { id, start: 0, end: 0, word: null, sequence: null, special: true, type };
}

/** Rows with another type. As in the crate, overflowing ones keep theirs. */
function* typed([main, ...over]: Rows, type: number): Steps<Rows> {
  return main === undefined ? [] : [yield* mapped(main, (token) => ({ ...token, type })), ...over];
}

/**
 * Special tokens around the first text, and `before` and behind further ones: what is between them is no special token any
 * more. `type`: of all tokens, else they keep theirs.
 */
function framing(step: Step, before: readonly number[], type?: number): Stage {
  const [cls, sep] = [idIn(step, 'cls'), idIn(step, 'sep')];
  return {
    added: (pair) => (pair ? [cls, sep, ...before, sep] : [cls, sep]),
    *run(given, context) {
      const parts = type === undefined ? given : yield* withoutSpaces(given, step, context);
      const done: Rows[] = [];
      for (const [i, part] of parts.entries()) {
        const special = (id: number) => specialToken(id, type ?? Math.min(i, 1));
        const rows: Token[][] = [];
        for (const row of context.withSpecial ? part : []) {
          const inner = yield* mapped(row, (token) => ({ ...token, special: false, type: type ?? token.type }));
          rows.push([...(i === 0 ? [cls] : before).map(special), ...inner, special(sep)]);
        }
        if (context.withSpecial) done.push(rows);
        else done.push(type === undefined ? part : yield* typed(part, type));
      }
      return done;
    },
  };
}

/** A special token, or one of the texts (0 the first, 1 its pair), and its token type. */
type Slot =
  | { readonly special: readonly number[]; readonly type: number }
  | { readonly text: 0 | 1; readonly type: number };

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

function flat(held: unknown): Step[] {
  if (held === null || held === undefined) return [];
  const step = asStep(held, 'post-processor');
  return step.type === 'Sequence' ? stepsOf(step, 'processors').flatMap(flat) : [step];
}

/** The parts with spans that exclude spaces, if the step says so. */
function* withoutSpaces(parts: readonly Rows[], step: Step, context: Context): Steps<readonly Rows[]> {
  const { originals, spelling } = context;
  if (originals === undefined || !(step.trim_offsets ?? step.type === 'ByteLevel')) return parts;
  const prefixed = step.add_prefix_space !== false;
  const trim = (token: Token, i: number) => {
    const text = originals[token.sequence ?? 0] ?? '';
    return trimmed(token, spelling(token.id) ?? '', text, prefixed && (i === 0 || token.start === 0));
  };
  const done: Rows[] = [];
  for (const part of parts) {
    const rows: Token[][] = [];
    for (const row of part) rows.push(yield* mapped(row, trim));
    done.push(rows);
  }
  return done;
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
  const end = moved(text, token.end, -after); // negative where there are fewer in front of it
  return { ...token, start, end: end < 0 ? token.end : Math.max(end, start) };
}

/** The position that many characters (not code units) further on, or back. */
function moved(text: string, from: number, characters: number): number {
  let at = from;
  for (let left = characters; left > 0; left--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  for (let left = characters; left < 0; left++) at -= (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
