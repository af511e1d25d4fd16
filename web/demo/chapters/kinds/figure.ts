// Chapter 10: one sentence in three kinds of transformer: their masks, their uses, and a blank to fill.

import { percent } from 'clearformer/elements';
import { css, html, nothing, type TemplateResult } from 'lit';
import { fieldKey } from '../../book/field_keys.js';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { textWidths } from '../../book/text_widths.js';
import { partOf, partText, rangeOf, type Window, windowAround } from '../../book/window.js';
import { within } from '../../book/within.js';
import type { words } from '../../words/en/kinds.js';
import { codeOf } from './code.js';
import {
  change,
  decoderName,
  encoderName,
  excerpt,
  type Filled,
  headOf,
  type Kinds,
  points,
  readKinds,
  weights,
} from './reading.js';
import { usesTable } from './uses.js';

export type Kind = 'decoder' | 'encoder' | 'both';
const views = ['masks', 'uses', 'fill'] as const;
export type View = (typeof views)[number];

/** At most this many tokens of a matrix are shown. */
const most = 10;
/** The blocks and heads to choose among; a model that has fewer shows its last. */
const [blocks, heads] = [3, 4];

interface Shown {
  readonly kinds: Kinds | undefined;
}

interface Cell {
  readonly width: number;
  readonly height: number;
}

/** One of the matrices of the encoder-decoder. */
interface Part {
  readonly about: string;
  readonly cell: Cell;
  readonly queries?: readonly string[] | undefined;
}

export class FigureKinds extends MeasuredFigure<Shown, typeof words> {
  static override styles = [
    figureStyles,
    css`
      .given { display: flex; gap: 8px 12px; flex-wrap: wrap; align-items: center; margin-bottom: 16px; }
      .given textarea { flex: 1 1 160px; min-width: 0; font: max(17px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); min-height: 40px; max-height: 9.2em; field-sizing: content; resize: vertical; }
      .three { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 36px; align-items: start; }
      .three.maps { grid-template-columns: minmax(0, 1fr) minmax(0, 0.8fr) minmax(0, 1.4fr); }
      .kind { min-width: 0; }
      .kind.on h2 button { border-bottom: 3px solid var(--cf-accent); }
      .kind h2, .bars h2 { font: 600 max(19px, var(--cf-min-font-size)) / 1.3 var(--cf-serif); margin: 0; }
      .kind h2 button { border: 0; background: none; padding: 0; font: inherit; cursor: pointer; text-align: left; }
      .kind h2 button:hover { color: var(--cf-accent); }
      .kind > p { color: var(--cf-muted); font-size: max(14px, var(--cf-min-font-size)); margin: 0 0 10px; }
      .kind .answer { font: max(19px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); color: var(--cf-ink); margin: 12px 0 0; overflow-wrap: anywhere; }
      .pair { display: grid; grid-template-columns: max-content max-content; gap: 8px 18px; align-items: end; justify-items: end; }
      .pair > :first-child { grid-column: 2; } .pair .muted { contain: inline-size; }
      .heads { display: flex; gap: 8px 24px; flex-wrap: wrap; margin-top: 16px; }
      .words { display: flex; flex-wrap: wrap; gap: 4px; margin-bottom: 6px; max-height: 9.4em; overflow: auto; }
      .words button { border: 0; background: none; padding: 2px 7px 4px; font: 27px/1.3 var(--cf-serif); cursor: pointer; border-bottom: 3px solid transparent; }
      .words button:hover { border-color: var(--cf-line-strong); }
      .words button[aria-pressed='true'] { border-color: var(--cf-accent); color: var(--cf-accent); }
      .other { display: flex; gap: 8px 12px; flex-wrap: wrap; align-items: center; margin: 6px 0 16px; }
      .other input { flex: 1 1 200px; max-width: 420px; font: max(17px, var(--cf-min-font-size)) var(--cf-serif); }
      .bars p { color: var(--cf-muted); font-size: max(14px, var(--cf-min-font-size)); margin: 2px 0 8px; min-height: 2.9em; }
      .bars .in { font: max(17px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); color: var(--cf-ink); }
      table { border-collapse: collapse; width: 100%; }
      th, td { text-align: left; vertical-align: top; overflow-wrap: anywhere; padding: 9px 18px 9px 0; border-top: 1px solid var(--cf-line); font: max(17px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); }
      thead td { border: 0; }
      thead th { border: 0; font: 600 max(19px, var(--cf-min-font-size)) / 1.3 var(--cf-serif); }
      tbody th { font: max(15px, var(--cf-min-font-size)) / 1.5 var(--cf-sans); color: var(--cf-muted); width: 150px; }
      td.no { color: var(--cf-muted); font: max(14.5px, var(--cf-min-font-size)) / 1.5 var(--cf-sans); }
      .told { color: var(--cf-wrong); font-size: max(14px, var(--cf-min-font-size)); margin: 0 0 10px; }
      .large .given, .large .kind code { display: none; }
      .large td, .large th { padding: 5px 18px 5px 0; line-height: 1.25; } .large tbody th { width: calc(190px * var(--wall)); }
      .large .heads { margin-top: 0; } .large .pair { gap: 0 18px; } .large .kind > p { margin: 0; } .large .kind .answer { margin: 6px 0 0; } .large .pair + .answer { margin: 0; } .large .bars p { min-height: 0; }
      .large .three { gap: calc(30px * var(--wall)); } .large .maps { gap: calc(20px * var(--wall)); grid-template-columns: minmax(0, 1fr) minmax(0, 0.9fr) minmax(0, 2fr); } .large .maps.one { grid-template-columns: minmax(0, 1fr); } .large .one .off { display: none; }
      .large .one .kind:not(.off) { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 calc(60px * var(--wall)); align-items: center; } .large .one h2, .large .one .kind > p:not(.answer) { grid-column: 1 / -1; } .large .one .answer { font-size: calc(34px * var(--wall)); }
      .large .words button { font-size: calc(38px * var(--wall)); }
      @media (max-width: 1100px) {
        .three.maps { gap: 18px; grid-template-columns: minmax(0, 1fr) minmax(0, 0.8fr) minmax(0, 1.9fr); }
        .pair { gap: 8px; }
      }
      @media (max-width: 900px) {
        .three, .three.maps { grid-template-columns: minmax(0, 1fr); gap: 22px; }
        .kind.off { display: none; }
        .pair { display: flex; flex-wrap: wrap; justify-content: flex-start; }
        .pair cf-matrix { width: max-content; }
        .view-fill .given { display: none; }
        .bars p { min-height: 0; }
        .words button { font-size: 21px; }
        tbody th { width: auto; }
        table, tbody, tr, th, td { display: block; } thead { display: none; }
        td::before { content: attr(data-kind) ': '; color: var(--cf-muted); font: 13px var(--cf-sans); }
      }
    `,
  ];

  protected override key(): string {
    return ['t', 'w', 'alt', 'edit'].map((key) => this.value(key)).join('\n');
  }

  protected override async compute(): Promise<Shown> {
    const kinds = await readKinds(this.book, {
      text: this.value('t'),
      blank: this.number('w'),
      other: this.value('alt'),
    });
    this.spineInputs = kinds?.encoder.sentence.inputs;
    const [best] = kinds?.filled.candidates ?? [];
    if (best) this.say(`${best.piece.label}, ${percent(best.probability)}`);
    return { kinds };
  }

  override get blocks(): readonly number[] {
    return this.view === 'masks' ? [this.chosenHead[0] + 1] : [];
  }

  /** The block and the head whose masks are shown. */
  get chosenHead(): readonly [layer: number, head: number] {
    return [within(this.number('l'), blocks), within(this.number('h'), heads)];
  }

  get view(): View {
    return this.oneOf('v', views);
  }

  protected override nearest({ kinds }: Shown): Record<string, number> {
    const [l, h] = this.chosenHead;
    return { l, h, ...(kinds && { w: kinds.blank }) };
  }

  protected override valuesOf({ kinds }: Shown): Record<string, string> {
    if (!kinds) return {};
    const { filled: own, refilled, fromLeft, words: all, blank, decoder } = kinds;
    const name = ({ candidates: [best] }: Filled): string => best?.piece.label ?? '';
    return {
      word: (all[blank] ?? '').replace(/[.,;:!?…]+$/, ''),
      fill: name(own),
      fillShare: percent(own.candidates[0]?.probability ?? 0),
      refill: name(refilled),
      refillShare: percent(refilled.candidates[0]?.probability ?? 0),
      ...(kinds.left === '' ? { isFirst: '' } : { left: excerpt(kinds.left) }),
      decoderChange: points(change(fromLeft, kinds.fromLeftOther)),
      guess: name(fromLeft),
      change: points(change(own, refilled)),
      continued: kinds.continued,
      translated: kinds.both.kind === 'told' ? kinds.both.sentence : '',
      other: excerpt(refilled.text, '[MASK]'),
      decoderTokens: String(decoder.sentence.tokens.length),
    };
  }

  protected override draw({ kinds }: Shown): TemplateResult {
    const { labels } = this.words;
    const parts: Readonly<Record<View, (kinds: Kinds) => TemplateResult>> = {
      masks: (one) => this.#masks(one),
      uses: (one) => usesTable(this, one),
      fill: (one) => this.#fill(one),
    };
    return html`<div class="view-${this.view} ${this.inClass ? 'large' : ''}">
      <form class="given" @submit=${this.#submit}>
        <textarea name="t" rows="1" lang="en" aria-label=${labels.field} .value=${this.value('t')} @keydown=${this.#keys}></textarea>
        <button class="primary">${this.shell.readIt}</button>
      </form>
      ${kinds ? html`${this.#told(kinds)}${parts[this.view](kinds)}` : html`<p class="told" role="alert">${labels.empty}</p>`}
    </div>`;
  }

  #told({ unknown, decoder, encoder, both }: Kinds): TemplateResult {
    const { labels } = this.words;
    const cut = [
      { name: decoderName, read: decoder.sentence.tokens.length, of: decoder.sentence.of },
      { name: encoderName, read: encoder.sentence.tokens.length, of: encoder.sentence.of },
      ...(both.kind === 'told' ? [{ name: 'marian-tiny-en-fr', read: both.source.length, of: both.of }] : []),
    ].filter(({ read, of }) => of > read);
    return html`${cut.map(({ name, read, of }) => html`<p class="told">${name}: ${filled(this.shell.cut, { read, of })}</p>`)}
      ${unknown ? html`<p class="told">${labels.unknown}</p>` : nothing}`;
  }

  #keys = (event: KeyboardEvent): void => {
    if (fieldKey(event) === 'confirm') this.#submit(event);
  };

  #submit = (event: Event): void => {
    event.preventDefault();
    this.choose({ t: this.renderRoot.querySelector('textarea')?.value ?? '', w: undefined, q: undefined });
  };

  #masks(kinds: Kinds): TemplateResult {
    const { labels } = this.words;
    const [layer, head] = this.chosenHead;
    const { decoder, encoder, both } = kinds;
    const left = weights(decoder.pass, 'blocks', layer, head);
    const full = weights(encoder.pass, 'blocks', layer, head);
    return html`<div class="three maps ${this.#alone ? 'one' : ''}">
        ${this.#kind('decoder', decoderName, labels.seesLeft, html`${this.#matrix(left, labelsOf(decoder.sentence.tokens), 'causal')}<p class="answer" lang="en">… ${kinds.continued}</p>`)}
        ${this.#kind('encoder', encoderName, labels.seesAll, html`${this.#matrix(full, labelsOf(encoder.sentence.tokens), 'full')}<p class="answer" lang="en">${excerpt(kinds.filled.text, '[MASK]').replace('[MASK]', '▁▁')} → <b>${kinds.filled.candidates[0]?.piece.label}</b></p>`)}
        ${both.kind === 'told' ? this.#kind('both', 'marian-tiny-en-fr', labels.seesBoth, this.#pair(both, layer, head)) : nothing}
      </div>
      <div class="heads">${this.#seg(labels.block, 'l', blocks)}${this.#seg(labels.head, 'h', heads)}</div>`;
  }

  #pair(both: Extract<Kinds['both'], { kind: 'told' }>, layer: number, head: number): TemplateResult {
    const { labels } = this.words;
    const [reads, writes] = [labelsOf(both.source), labelsOf(both.target)];
    const begun = [both.start.label, ...writes].slice(0, writes.length);
    const cross = headOf(both.pass, `decoder.${layer}.cross_attn.hook_pattern`, head);
    const cell = this.#smallCell(begun.slice(0, most), reads.slice(0, most), writes.slice(0, most));
    const part = (about: string, queries?: readonly string[]): Part => ({ about, cell, queries });
    return html`<div class="pair">
        <div>${this.#matrix(weights(both.pass, 'encoder', layer, head), reads, 'full', part(labels.encoderPart))}</div>
        <div>${this.#matrix(weights(both.pass, 'decoder', layer, head), begun, 'causal', part(labels.decoderPart))}</div>
        <div>${this.#matrix(cross, reads, 'full', part(labels.crossPart, writes))}</div>
      </div><p class="answer" lang="fr">${both.sentence}</p>`;
  }

  #kind(kind: Kind, model: string, sees: string, content: TemplateResult): TemplateResult {
    const { labels } = this.words;
    const chosen = this.value('k');
    return html`<section class="kind ${chosen === kind ? 'on' : ''} ${chosen !== 'all' && chosen !== kind ? 'off' : ''}" data-kind=${kind}>
      <h2><button type="button" aria-pressed=${chosen === kind ? 'true' : 'false'} @click=${() => this.choose({ k: chosen === kind ? 'all' : kind })}>${labels[kind]}</button></h2>
      <p>${sees} <code>${model}</code></p>
      ${content}
    </section>`;
  }

  #matrix(
    { numbers, source }: ReturnType<typeof headOf>,
    keys: readonly string[],
    mask: 'causal' | 'full',
    { about, cell, queries = keys }: Part = { about: this.words.labels[mask], cell: this.#cell() },
  ): TemplateResult {
    const [rows, columns] = [windowAround(0, queries.length, most), windowAround(0, keys.length, most)];
    const part = numbers.slice(rangeOf(rows), rangeOf(columns));
    const place = [rows, columns].map((window) => partText(partOf(window))).join(', ');
    return html`<cf-matrix .numbers=${part} source="${source.slice(0, -1)}, ${place}]" label="A" about=${about} scale="weights" hue="ink" .rowLabels=${queries.slice(...rangeOf(rows))} .columnLabels=${keys.slice(...rangeOf(columns))}
        .masked=${mask === 'causal' ? (row: number, column: number) => column > row : undefined} .cellWidth=${cell.width} .cellHeight=${cell.height}></cf-matrix>
      ${this.#note(rows)}`;
  }

  /** In class mode a single kind is large enough for digits. */
  get #alone(): boolean {
    return this.inClass && this.value('k') !== 'all';
  }

  #cell(): Cell {
    if (this.#alone) return { width: this.wall(60), height: this.wall(34) };
    return { width: 0, height: 24 }; // 0: fits
  }

  /**
   * Of two matrices side by side, in the last of three columns: the names of the rows and brackets stand beside them,
   * and the end of the last column's name.
   */
  #smallCell(begun: readonly string[], reads: readonly string[], writes: readonly string[]): Cell {
    if (this.#alone) return { width: this.wall(46), height: this.wall(27) };
    const columns = begun.length + reads.length;
    const widest = (names: readonly string[]): number => Math.max(0, ...textWidths(names, this.textSize(14.5)));
    const others = widest(begun) + widest([...reads, ...writes]) + 0.57 * widest(reads.slice(-1)) + 75;
    const share = this.inClass ? (this.width - 40) * (2 / 3.9) : (this.width - 72) * (1.4 / 3.2);
    const room = innerWidth <= 900 ? Number.POSITIVE_INFINITY : share - others;
    return { width: Math.max(6, Math.min(22, room / columns)), height: this.inClass ? this.wall(16) : 18 };
  }

  #note({ count, of }: Window): TemplateResult | typeof nothing {
    return count === of ? nothing : html`<p class="muted">${filled(this.words.labels.window, { n: count, of })}</p>`;
  }

  #seg(name: string, key: string, count: number): TemplateResult {
    const at = within(this.number(key), count);
    const buttons = Array.from(
      { length: count },
      (_, i) =>
        html`<button type="button" aria-pressed=${i === at ? 'true' : 'false'} @click=${() => this.choose({ [key]: String(i) })}>${i + 1}</button>`,
    );
    return html`<div class="seg" role="group" aria-label=${name}><span>${name}</span>${buttons}</div>`;
  }

  #fill(kinds: Kinds): TemplateResult {
    const { labels } = this.words;
    return html`<div class="words" role="group" aria-label=${labels.chooseWord}>${kinds.words
      .slice(0, kinds.blanks)
      .map(
        (word, i) =>
          html`<button type="button" aria-pressed=${i === kinds.blank ? 'true' : 'false'} @click=${() => this.choose({ w: String(i) })}>${word}</button>`,
      )}${kinds.blanks < kinds.words.length ? '…' : nothing}</div>
      <form class="other" @submit=${this.#exchange}><label for="alt">${labels.otherRight}</label>
        <input id="alt" type="text" lang="en" autocomplete="off" .value=${this.value('alt')} /><button class="chip">${labels.exchange}</button></form>
      <div class="three">
        ${this.#bars(labels.ownSide, kinds.filled, 'encoder', labels.seesAll)}
        ${this.#bars(labels.otherSide, kinds.refilled, 'encoder', labels.seesAll)}
        ${this.#bars(labels.decoderSide, kinds.fromLeft, 'decoder', labels.seesLeft, `${excerpt(kinds.left)} …`)}
      </div>
      ${this.revealed ? html`<p class="verdict">${filled(labels.changes, { change: points(change(kinds.filled, kinds.refilled)), decoder: points(change(kinds.fromLeft, kinds.fromLeftOther)) })}</p>` : nothing}`;
  }

  #exchange = (event: Event): void => {
    event.preventDefault();
    this.choose({ alt: this.renderRoot.querySelector<HTMLInputElement>('#alt')?.value ?? '' });
  };

  #bars(
    title: string,
    one: Filled,
    kind: 'encoder' | 'decoder',
    sees: string,
    text = excerpt(one.text, '[MASK]'),
  ): TemplateResult {
    const model = kind === 'encoder' ? encoderName : decoderName;
    const items = one.candidates.map(({ piece, probability }) => ({ label: piece.label, value: probability }));
    return html`<div class="bars"><h2>${title}</h2><p>${sees} <code>${model}</code></p><p class="in" lang="en">${text}</p>
      ${this.revealed ? html`<cf-bars readonly source="softmax(${model}(${JSON.stringify(one.text)}).logits[0, ${one.position}])" label=${title} .items=${items}></cf-bars>` : html`<p>?</p>`}</div>`;
  }

  override code(): FigureCode {
    return codeOf(this);
  }
}

const labelsOf = (pieces: readonly { label: string }[]): string[] => pieces.map(({ label }) => label);

customElements.define('figure-kinds', FigureKinds);
