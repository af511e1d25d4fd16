// Chapter 11's figure: the picture and the class scores, which are always shown, and below them the view of the step.

import { four, percent } from 'clearformer/elements';
import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { largest } from '../../book/largest.js';
import { filled } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { within } from '../../book/within.js';
import type { words } from '../../words/en/seeing.js';
import { codeOf } from './code.js';
import './digit_pad.js';
import { drawingOf, framed } from './frame.js';
import { digits, type Geometry, orderFrom, orderText, placesFrom } from './geometry.js';
import './patch_dots.js';
import './patch_picture.js';
import { keptFile, textOf } from './pixels.js';
import { isOwn, modelName, mostHidden, overPlaces, type Seen, see } from './reading.js';
import { seeingStyles } from './seeing_styles.js';
import { attended, chosenHead, stageOf } from './stages.js';

type SeeingWords = typeof words;
const views = ['picture', 'patches', 'kernels', 'positions', 'similar', 'heads', 'rollout', 'hide', 'order'] as const;
export type View = (typeof views)[number];

/** The bars shown of a model with more classes; in class mode those that its columns have room for. */
const mostClasses = 10;
const mostInClass = 5;

export class FigureSeeing extends MeasuredFigure<Seen, SeeingWords> {
  static override properties: PropertyDeclarations = { refused: { state: true } };
  static override styles = [figureStyles, seeingStyles];
  /** The name of the reader's last file, if it was no picture. */
  declare refused: string;
  /** Counts the pictures that the reader gives: one that takes longer does not replace a later one. */
  #pictures = 0;
  /** The pad's last picture; if the address has another one, the strokes are outdated. */
  #given: string | undefined;

  protected override key(): string {
    return ['of', 'd', 'order', 'hide', 'pos', 'edit', 'p'].map((key) => this.value(key)).join('\n');
  }

  protected override async compute(): Promise<Seen> {
    const [picture, order, hidden, positions] = ['d', 'order', 'hide', 'pos'].map((key) => this.value(key));
    const seen = await see(this.book, {
      picture: picture ?? '',
      order: order ?? '',
      hidden: hidden ?? '',
      positions: positions ?? '',
    });
    this.spineInputs = seen.inputs;
    const { classes, best, probabilities } = seen;
    this.say(`${classes[best]}: ${percent(probabilities.data[best] ?? 0)}`);
    return seen;
  }

  override get blocks(): readonly number[] {
    const view = this.view;
    if (view === 'heads') return [this.number('l') + 1];
    if (view === 'rollout') return this.data?.patterns.map((_, block) => block + 1) ?? [];
    return ['positions', 'similar'].includes(view) ? [0] : [];
  }

  /** The reader's own model has other defaults: those of the chapter are made for the digits. */
  override value(key: string): string {
    const value = super.value(key);
    if (!isOwn(this.book.address) || this.book.address.get(key) !== undefined || value === 'none') return value;
    const { grid } = this.shape;
    const middle = Math.floor(grid / 2) * (grid + 1);
    return { hide: 'middle', order: 'mixed', p: String(middle) }[key] ?? value;
  }

  get shape(): Geometry {
    return this.data?.shape ?? digits;
  }

  get view(): View {
    return this.oneOf('v', views);
  }

  /** The chosen patch position. */
  get place(): number {
    return within(this.number('p'), this.shape.places);
  }

  placeName = (place: number): string =>
    filled(this.words.labels.place, {
      n: place + 1,
      row: Math.floor(place / this.shape.grid) + 1,
      column: (place % this.shape.grid) + 1,
    });

  protected override nearest(seen: Seen): Record<string, number> {
    const { layer: l, head: h } = chosenHead(this, seen);
    return { l, h, p: this.place, k: within(this.number('k'), seen.kernels.bias.data.length) };
  }

  protected override valuesOf(seen: Seen): Record<string, string> {
    const { classes, best, probabilities, before, likeness, hidden, kernels, embed, shape } = seen;
    const place = this.place;
    const others = Array.from(likeness.slice(place).data, (value, other) => (other === place ? -2 : value));
    return {
      best: classes[best] ?? '',
      share: percent(probabilities.data[best] ?? 0),
      was: classes[before.best] ?? '',
      [best === before.best ? 'kept' : 'turned']: classes[best] ?? '',
      wasShare: percent(before.probabilities.data[before.best] ?? 0),
      wasNow: percent(probabilities.data[before.best] ?? 0),
      hidden: String(hidden.length),
      ...(this.view === 'rollout' && {
        most: percent(Math.max(...overPlaces(seen, seen.rollout().slice(-1, 0, 0)).data)),
      }),
      even: percent(1 / (embed.dims[0] ?? 1)),
      kernels: String(kernels.bias.data.length),
      ...Object.fromEntries(Object.entries(shape).map(([name, value]) => [name, String(value)])),
      classes: String(classes.length),
      middle: String(Math.floor(shape.places / 2) + 1),
      limit: String(mostHidden(this.book.address, shape)),
      place: String(place + 1),
      nearest: String(others.indexOf(Math.max(...others)) + 1),
      difference: four(this.#difference(seen)),
    };
  }

  protected override conditions(value: (key: string) => string): Record<string, string> {
    const pos = value('pos');
    return pos === 'along' ? { isAlong: '' } : { isStay: '', ...(pos === 'none' ? { isNone: '' } : { isPlaced: '' }) };
  }

  /** The largest absolute difference of a logit from those of the original picture. */
  #difference({ logits, before }: Seen): number {
    return Math.max(...Array.from(logits.data, (value, i) => Math.abs(value - (before.logits.data[i] ?? 0))));
  }

  protected override draw(seen: Seen): TemplateResult {
    const { view } = this;
    const own = isOwn(this.book.address);
    const draws = view === 'picture' && !own;
    return html`${this.#models(seen.choice)}<div class="seeing ${this.inClass ? 'large' : ''} ${own ? 'own' : ''} view-${view}">
      <div class="top">
        <div class="see">${draws ? this.#pad(seen) : this.#picture(seen)}</div>
        ${this.#scores(seen)}
      </div>
      <div class="stage">${stageOf(this, seen)}</div>
    </div>`;
  }

  /** The digits again, also when the reader's own model fails. */
  protected override render(): TemplateResult {
    const failed = this.failure !== undefined && isOwn(this.book.address);
    return failed ? html`${this.#models(true)}${super.render()}` : super.render();
  }

  #models(choice: boolean): TemplateResult | typeof nothing {
    if (!choice) return nothing;
    const { labels } = this.words;
    const own = isOwn(this.book.address);
    const take = (of: 'own' | undefined): void => {
      const others = ['d', 'order', 'hide', 'p', 'k', 'l', 'h', 'edit'].map((key) => [key, undefined]);
      this.choose({ ...Object.fromEntries(others), of });
    };
    return html`<div class="seg models" role="group" aria-label=${labels.model}><span>${labels.model}</span>
      <button type="button" aria-pressed=${own ? 'false' : 'true'} @click=${() => take(undefined)}>vit-mnist</button>
      <button type="button" aria-pressed=${own ? 'true' : 'false'} @click=${() => take('own')}>${labels.ownModel}</button></div>`;
  }

  #scores(seen: Seen): TemplateResult {
    const { labels } = this.words;
    const { classes, probabilities, best, before } = seen;
    if (!this.revealed) return html`<div class="scores"><p class="answer secret">${labels.says} <b>?</b></p></div>`;
    const was = percent(before.probabilities.data[before.best] ?? 0);
    const same = was === percent(probabilities.data[before.best] ?? 0);
    const many = classes.length > mostClasses;
    const shown = many
      ? largest(probabilities.data, this.inClass ? mostInClass : mostClasses)
      : classes.map((_, i) => i);
    if (!shown.includes(before.best)) shown.push(before.best);
    const items = shown.map((i) => ({
      label: classes[i] ?? '',
      value: probabilities.data[i] ?? 0,
      selected: i === best,
      note: same || i !== before.best ? undefined : filled(labels.wasShare, { share: was }),
    }));
    const source = many ? `softmax(logits)[${shown.join(', ')}]` : 'softmax(logits)';
    return html`<div class="scores">
      <p class="answer">${labels.says} <b>${classes[best]}</b> <span class="muted number">${percent(probabilities.data[best] ?? 0)}</span></p>
      <cf-bars readonly source=${source} label=${labels.scores} .items=${items} max="1"></cf-bars>
    </div>`;
  }

  #pad(seen: Seen): TemplateResult {
    const { labels } = this.words;
    return html`<digit-pad label=${labels.pad} hint=${labels.drawHere} @drawing=${this.#drawn} @dragover=${allowed} @drop=${this.#dropped}>
      ${this.#picture(seen)}
    </digit-pad>`;
  }

  #picture(seen: Seen): TemplateResult {
    const { labels } = this.words;
    const { view } = this;
    const looked = view === 'heads' || view === 'rollout' ? attended(this, seen) : undefined;
    const chosen = ['patches', 'kernels', 'positions', 'similar', 'heads'].includes(view) && this.#placeIsShown;
    const moved = seen.order.flatMap((patch, place) => (patch === place ? [] : [place]));
    const { shape, black, white } = seen;
    const { side, channels } = shape;
    const numbers = { dims: channels === 1 ? [side, side] : [channels, side, side], data: seen.pixels.data };
    const takesFiles = view === 'picture' && isOwn(this.book.address);
    return html`<patch-picture source=${channels === 1 ? 'pixel_values[0, 0]' : 'pixel_values[0]'} .numbers=${numbers} .shape=${shape} .black=${black} .white=${white} label=${filled(labels.patches, { n: shape.places })} .placeName=${this.placeName}
      .chosen=${chosen ? this.place : undefined} .marked=${view === 'order' && moved.length < shape.places / 2 ? moved : []} .blank=${seen.hidden}
      .apart=${['patches', 'kernels'].includes(view)} .movable=${view === 'order'} .faint=${looked !== undefined}
      @dragover=${takesFiles ? allowed : nothing} @drop=${takesFiles ? this.#dropped : nothing}
      @patch-select=${(event: CustomEvent<{ place: number }>) => this.#choose(event.detail.place)}
      @patch-move=${(event: CustomEvent<{ from: number; to: number }>) => this.#swap(event.detail)}>
      ${looked ? html`<patch-dots .numbers=${looked.numbers} source=${looked.source} .most=${looked.most}></patch-dots>` : nothing}
    </patch-picture>`;
  }

  /** In the view of heads the query may be the class token; then no patch position is chosen. */
  get #placeIsShown(): boolean {
    return this.view !== 'heads' || this.value('who') === 'patch';
  }

  #choose(place: number): void {
    if (this.view === 'hide') {
      const hidden = placesFrom(this.shape, this.value('hide')); // of the address: what is drawn may be older
      const next = hidden.includes(place) ? hidden.filter((other) => other !== place) : [...hidden, place];
      this.choose({ hide: next.length === 0 ? 'none' : next.join('.') });
    } else {
      this.choose({ p: String(place), ...(this.view === 'heads' && { who: 'patch' }) });
    }
  }

  #swap({ from, to }: { from: number; to: number }): void {
    const next = orderFrom(this.shape, this.value('order'));
    [next[from], next[to]] = [next[to] ?? to, next[from] ?? from];
    this.choose({ order: orderText(this.shape, next) ?? 'none' });
  }

  /** A random order of the patches, stored in the address. */
  shuffle = (): void => {
    const { places } = this.shape;
    const order = Array.from({ length: places }, (_, place) => place);
    for (let i = places - 1; i > 0; i--) {
      const other = Math.floor(Math.random() * (i + 1));
      [order[i], order[other]] = [order[other] ?? 0, order[i] ?? 0];
    }
    this.choose({ order: orderText(this.shape, order) ?? 'none' });
  };

  #drawn = (event: CustomEvent<OffscreenCanvasRenderingContext2D>): Promise<void> => this.#read(event.detail);

  async #read(drawing: OffscreenCanvasRenderingContext2D): Promise<void> {
    const turn = ++this.#pictures;
    try {
      const { processor } = await this.book.shelf.model(modelName(this.book.address));
      const greys = processor && (await framed(drawing, processor));
      if (greys && this.#pictures === turn) this.#take(textOf(greys));
    } catch (error) {
      this.failure = error;
    }
  }

  #take(picture: string): void {
    this.#pictures++;
    this.#given = picture;
    this.refused = '';
    this.choose({ d: picture, order: undefined, hide: undefined });
  }

  readFile = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const turn = ++this.#pictures;
    const drawing = await drawingOf(file);
    if (this.#pictures !== turn) return;
    this.refused = drawing ? '' : file.name;
    if (!drawing) return;
    if (isOwn(this.book.address)) {
      this.#take(keptFile(file));
      return;
    }
    await this.#read(drawing);
    this.renderRoot.querySelector('digit-pad')?.clear();
  };

  #dropped = (event: DragEvent): void => {
    event.preventDefault();
    void this.readFile(event.dataTransfer?.files[0]);
  };

  takeSample(sample: number): void {
    this.#take(`s${sample}`);
    this.#given = undefined;
  }

  protected override updated(): void {
    if (this.value('d') !== this.#given) this.renderRoot.querySelector('digit-pad')?.clear();
  }

  override code(): FigureCode {
    return codeOf(this);
  }
}

const allowed = (event: Event): void => event.preventDefault();

customElements.define('figure-seeing', FigureSeeing);
