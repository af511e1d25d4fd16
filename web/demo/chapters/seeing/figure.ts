// Chapter 11's figure: the picture and the class scores, which are always shown, and below them the view of the step.

import { four, percent } from 'clearformer/elements';
import { html, nothing, type TemplateResult } from 'lit';
import { Figure, type FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import type { words } from '../../words/en/seeing.js';
import { codeOf } from './code.js';
import './digit_pad.js';
import { drawingOf, framed } from './frame.js';
import './patch_dots.js';
import './patch_picture.js';
import { grid, orderText, places, textOf } from './pixels.js';
import { modelName, overPlaces, type Seen, see } from './reading.js';
import { seeingStyles } from './seeing_styles.js';
import { attended, stageOf } from './stages.js';

type SeeingWords = typeof words;
export type View = 'picture' | 'patches' | 'kernels' | 'positions' | 'similar' | 'heads' | 'rollout' | 'hide' | 'order';

export class FigureSeeing extends Figure<Seen, SeeingWords> {
  static override styles = [figureStyles, seeingStyles];
  #drawing: OffscreenCanvasRenderingContext2D | undefined;
  /** The pad's last picture; if the address has another one, the strokes are outdated. */
  #given: string | undefined;

  protected override key(): string {
    return ['d', 'order', 'hide', 'pos', 'edit', 'p'].map((key) => this.value(key)).join('\n');
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
    return view === 'rollout' ? [1, 2, 3, 4] : ['positions', 'similar'].includes(view) ? [0] : [];
  }

  get view(): View {
    return this.value('v') as View;
  }

  /** The chosen patch position. */
  get place(): number {
    const place = this.number('p');
    return Number.isInteger(place) && place >= 0 && place < places ? place : 0;
  }

  placeName = (place: number): string =>
    filled(this.words.labels.place, {
      n: place + 1,
      row: Math.floor(place / grid) + 1,
      column: (place % grid) + 1,
    });

  protected override valuesOf(seen: Seen): Record<string, string> {
    const { classes, best, probabilities, before, rollout, likeness, hidden, kernels, embed } = seen;
    const ofPlaces = overPlaces(rollout.slice(-1, 0, 0)).data;
    const place = this.place;
    const others = Array.from(likeness.slice(place).data, (value, other) => (other === place ? -2 : value));
    return {
      best: classes[best] ?? '',
      share: percent(probabilities.data[best] ?? 0),
      was: classes[before.best] ?? '',
      wasShare: percent(before.probabilities.data[before.best] ?? 0),
      wasNow: percent(probabilities.data[before.best] ?? 0),
      hidden: String(hidden.length),
      most: percent(Math.max(...ofPlaces)),
      even: percent(1 / (embed.dims[0] ?? 1)),
      kernels: String(kernels.bias.data.length),
      place: String(place + 1),
      nearest: String(others.indexOf(Math.max(...others)) + 1),
      difference: four(this.#difference(seen)),
      silenced: String(this.book.editSpecs.length),
    };
  }

  /** The largest absolute difference of a logit from those of the original picture. */
  #difference({ logits, before }: Seen): number {
    return Math.max(...Array.from(logits.data, (value, i) => Math.abs(value - (before.logits.data[i] ?? 0))));
  }

  protected override draw(seen: Seen): TemplateResult {
    const { view } = this;
    return html`<div class="seeing ${this.inClass ? 'large' : ''} view-${view}">
      <div class="top">
        <div class="see">${view === 'picture' ? this.#pad(seen) : this.#picture(seen)}</div>
        ${this.#scores(seen)}
      </div>
      <div class="stage">${stageOf(this, seen)}</div>
    </div>`;
  }

  #scores(seen: Seen): TemplateResult {
    const { labels } = this.words;
    const { classes, probabilities, best, before } = seen;
    if (!this.revealed) return html`<div class="scores"><p class="answer secret">${labels.says} <b>?</b></p></div>`;
    const was = percent(before.probabilities.data[before.best] ?? 0);
    const same = was === percent(probabilities.data[before.best] ?? 0);
    const items = classes.map((label, i) => ({
      label,
      value: probabilities.data[i] ?? 0,
      selected: i === best,
      note: same || i !== before.best ? undefined : filled(labels.wasShare, { share: was }),
    }));
    return html`<div class="scores">
      <p class="answer">${labels.says} <b>${classes[best]}</b> <span class="muted number">${percent(probabilities.data[best] ?? 0)}</span></p>
      <cf-bars readonly source="softmax(logits)" label=${labels.scores} .items=${items} max="1"></cf-bars>
    </div>`;
  }

  #pad(seen: Seen): TemplateResult {
    const { labels } = this.words;
    return html`<digit-pad label=${labels.pad} hint=${labels.drawHere} @drawing=${this.#drawn} @dragover=${(event: Event) => event.preventDefault()} @drop=${this.#dropped}>
      ${this.#picture(seen)}
    </digit-pad>`;
  }

  #picture(seen: Seen): TemplateResult {
    const { labels } = this.words;
    const { view } = this;
    const looked = view === 'heads' || view === 'rollout' ? attended(this, seen) : undefined;
    const chosen = ['patches', 'kernels', 'positions', 'similar', 'heads'].includes(view) && this.#placeIsShown;
    const moved = seen.order.flatMap((patch, place) => (patch === place ? [] : [place]));
    const numbers = { dims: [28, 28], data: seen.pixels.data };
    return html`<patch-picture source="pixel_values[0, 0]" .numbers=${numbers} label=${labels.patches} .placeName=${this.placeName}
      .chosen=${chosen ? this.place : undefined} .marked=${view === 'order' && moved.length < places / 2 ? moved : []} .blank=${seen.hidden}
      .apart=${['patches', 'kernels'].includes(view)} .movable=${view === 'order'} .faint=${looked !== undefined}
      @patch-select=${(event: CustomEvent<{ place: number }>) => this.#choose(seen, event.detail.place)}
      @patch-move=${(event: CustomEvent<{ from: number; to: number }>) => this.#swap(seen, event.detail)}>
      ${looked ? html`<patch-dots .numbers=${looked.numbers} source=${looked.source} .most=${looked.most}></patch-dots>` : nothing}
    </patch-picture>`;
  }

  /** In the view of heads the query may be the class token; then no patch position is chosen. */
  get #placeIsShown(): boolean {
    return this.view !== 'heads' || this.value('who') === 'patch';
  }

  #choose({ hidden }: Seen, place: number): void {
    if (this.view === 'hide') {
      const next = hidden.includes(place) ? hidden.filter((other) => other !== place) : [...hidden, place];
      this.choose({ hide: next.length === 0 ? 'none' : next.join('.') });
    } else {
      this.choose({ p: String(place), ...(this.view === 'heads' && { who: 'patch' }) });
    }
  }

  #swap({ order }: Seen, { from, to }: { from: number; to: number }): void {
    const next = [...order];
    [next[from], next[to]] = [next[to] ?? to, next[from] ?? from];
    this.choose({ order: orderText(next) ?? 'none' });
  }

  /** A random order of the patches, stored in the address. */
  shuffle = (): void => {
    const order = Array.from({ length: places }, (_, place) => place);
    for (let i = places - 1; i > 0; i--) {
      const other = Math.floor(Math.random() * (i + 1));
      [order[i], order[other]] = [order[other] ?? 0, order[i] ?? 0];
    }
    this.choose({ order: orderText(order) ?? 'none' });
  };

  #drawn = (event: CustomEvent<OffscreenCanvasRenderingContext2D>): Promise<void> => this.#read(event.detail);

  async #read(drawing: OffscreenCanvasRenderingContext2D): Promise<void> {
    this.#drawing = drawing;
    try {
      const { processor } = await this.book.shelf.model(modelName);
      const greys = processor && (await framed(drawing, processor));
      if (greys && this.#drawing === drawing) this.#take(textOf(greys));
    } catch (error) {
      this.failure = error;
    }
  }

  #take(picture: string): void {
    this.#given = picture;
    this.choose({ d: picture, order: undefined, hide: undefined });
  }

  readFile = async (file: Blob | undefined): Promise<void> => {
    if (!file) return;
    try {
      await this.#read(await drawingOf(file));
      this.renderRoot.querySelector('digit-pad')?.clear();
    } catch (error) {
      this.failure = error;
    }
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

customElements.define('figure-seeing', FigureSeeing);
