// tokenizer.json's `post_processor`: adds special tokens around a text or a pair, and trims the tokens' offsets.

import { shownValue } from '../checkpoint/file_rules.js';
import { mapped, type Steps } from '../support/steps.js';
import { classOf, codePointsOf, union } from './code_points.js';
import type { Token } from './encoder.js';
import { asStep, isObject, lastId, malformed, mustBe, type Step, stepsOf, unknownStep } from './step.js';
import { whiteSpace } from './unicode.js';

/** A row of tokens, followed by rows of overflowing tokens. */
export type Rows = readonly (readonly Token[])[];

/** A row under way, and the places [from, to) of its texts by their numbers. */
interface Row {
  readonly tokens: readonly Token[];
  readonly places: ReadonlyMap<number, readonly [from: number, to: number]>;
}

/** A text or special tokens between texts: the main row, followed by overflowing ones. */
type Part = readonly Row[];

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
  run(parts: readonly Part[], context: Context): Steps<readonly Part[]>;
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
    let parts: readonly Part[] = texts.map((rows, i) => rows.map((tokens) => placed({ tokens, places: new Map() }, i)));
    for (const stage of this.#stages) parts = yield* stage.run(parts, context);
    const all: (readonly Token[])[] = [];
    for (const row of parts.reduce(joined, [nothing])) all.push(yield* numbered(row));
    return all;
  }
}

const nothing: Row = { tokens: [], places: new Map() };

/** The row as the text of a number. */
function placed({ tokens, places }: Row, i: number): Row {
  return { tokens, places: new Map(places).set(i, [0, tokens.length]) };
}

/** The tokens with the numbers of their texts. As in the crate, texts without a place are everywhere. */
function* numbered({ tokens, places }: Row): Steps<readonly Token[]> {
  const numbers = new Array<number | null>(tokens.length).fill(null);
  for (let i = 0; i < Math.max(places.size, 1); i++) numbers.fill(i, ...(places.get(i) ?? []));
  return yield* mapped(tokens, (token, i) => {
    const sequence = numbers[i] ?? null;
    return sequence === token.sequence ? token : { ...token, sequence };
  });
}

/** Every combination of two parts' rows: the main ones first. */
function joined(left: Part, right: Part): Part {
  const [main = nothing, ...leftOver] = left;
  const [next = nothing, ...nextOver] = right;
  return [
    together(main, next),
    ...leftOver.flatMap((row) => right.map((other) => together(row, other))),
    ...nextOver.map((other) => together(main, other)),
  ];
}

function together(left: Row, right: Row): Row {
  const { length } = left.tokens;
  const moved = Array.from(right.places, ([i, [from, to]]) => [i, [from + length, to + length]] as const);
  return { tokens: [...left.tokens, ...right.tokens], places: new Map([...left.places, ...moved]) };
}

/** cls and sep are pairs of a token and its id. */
function idIn(step: Step, key: 'cls' | 'sep'): number {
  const pair = step[key];
  if (Array.isArray(pair) && isId(pair[1])) return pair[1];
  throw mustBe(step, key, 'a token and its id');
}

const stages: Readonly<Record<string, (step: Step) => Stage>> = {
  ByteLevel: (step) => ({
    added: () => [],
    *run(parts, context) {
      const done = yield* withoutSpaces(parts, step, context);
      return done.map((part, i) => part.map((row, r) => (r === 0 ? placed(row, i) : row)));
    },
  }),
  BertProcessing: (step) => {
    const [cls, sep] = [idIn(step, 'cls'), idIn(step, 'sep')];
    return {
      added: (pair) => (pair ? [cls, sep, sep] : [cls, sep]),
      *run(parts, { withSpecial }) {
        if (!withSpecial) return parts;
        const done: Part[] = [];
        for (const part of parts) done.push(yield* framed(part, done.length === 0 ? [cls] : [], sep, done.length));
        return done;
      },
    };
  },
  RobertaProcessing: (step) => {
    const [cls, sep] = [idIn(step, 'cls'), idIn(step, 'sep')];
    return {
      added: (pair) => (pair ? [cls, sep, sep, sep] : [cls, sep]),
      *run(parts, context) {
        const done: Part[] = [];
        for (const part of yield* withoutSpaces(parts, step, context)) {
          const before = done.length === 0 ? cls : sep;
          if (context.withSpecial) done.push(yield* framed(part, [before], sep, done.length, 0));
          else done.push(yield* typed(part, 0));
        }
        return done;
      },
    };
  },
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
        const texts = [...parts];
        const done: Part[] = [];
        for (const slot of slots) {
          if ('text' in slot) {
            const [main = nothing, ...over] = yield* typed(texts[slot.text] ?? [], slot.type);
            const part = [placed(main, slot.text), ...over];
            texts[slot.text] = part;
            done.push(part);
          } else if (withSpecial)
            done.push([{ tokens: slot.special.map((id) => specialToken(id, slot.type)), places: new Map() }]);
        }
        return done;
      },
    };
  },
};

function specialToken(id: number, type: number): Token {
  return { id, start: 0, end: 0, word: null, sequence: null, special: true, type };
}

/** A part with another type. As in the crate, overflowing rows keep theirs. */
function* typed([main, ...over]: Part, type: number): Steps<Part> {
  if (main === undefined) return [];
  return [{ ...main, tokens: yield* mapped(main.tokens, (token) => ({ ...token, type })) }, ...over];
}

/**
 * The part of a number with special tokens around each row, the first or a further text; what is between them is a text. `type`: of all
 * tokens, else they keep theirs.
 */
function* framed(part: Part, before: readonly number[], after: number, number: number, type?: number): Steps<Part> {
  const i = Math.min(number, 1);
  const special = (id: number) => specialToken(id, type ?? i);
  const framedRows: Row[] = [];
  for (const row of part) {
    const inner = yield* mapped(row.tokens, (token) => ({ ...token, special: false, type: type ?? token.type }));
    const tokens = [...before.map(special), ...inner, special(after)];
    framedRows.push({ tokens, places: new Map([[i, [before.length, tokens.length - 1]]]) });
  }
  return framedRows;
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

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= lastId;
}

function flat(held: unknown): Step[] {
  if (held === null || held === undefined) return [];
  const step = asStep(held, 'post-processor');
  return step.type === 'Sequence' ? stepsOf(step, 'processors').flatMap(flat) : [step];
}

/** The parts with spans that exclude spaces, if the step says so. */
function* withoutSpaces(parts: readonly Part[], step: Step, context: Context): Steps<readonly Part[]> {
  const { originals, spelling } = context;
  if (originals === undefined || !(step.trim_offsets ?? step.type === 'ByteLevel')) return parts;
  const prefixed = step.add_prefix_space !== false;
  const done: Part[] = [];
  for (const part of parts) {
    const rows: Row[] = [];
    for (const { tokens, places } of part) {
      const trim = (token: Token, i: number) => {
        const text = originals[token.sequence ?? 0] ?? '';
        return trimmed(token, spelling(token.id) ?? '', text, prefixed && (i === 0 || token.start === 0));
      };
      rows.push({ tokens: yield* mapped(tokens, trim), places });
    }
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
  return { ...token, start, end: Math.max(moved(text, token.end, -after), start) };
}

/** The position that many characters (not code units) further on, or back. */
function moved(text: string, from: number, characters: number): number {
  let at = from;
  for (let left = characters; left > 0; left--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  for (let left = characters; left < 0; left++) at -= (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
