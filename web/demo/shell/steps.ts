// The steps of a chapter: the current one follows scrolling, keys and the address.

import type { Address } from '../book/address.js';
import { type Chapter, isAt, type Step, stepIndexAt } from '../book/chapter.js';
import { isLow } from '../book/upper_part.js';

const scrollKeys = [' ', 'PageUp', 'PageDown', 'Home', 'End', 'ArrowUp', 'ArrowDown'];
const fields = 'input, textarea, select';

/** Whether a key scrolls the page: what has the focus may use it instead. */
function scrolls(event: KeyboardEvent): boolean {
  const [focused] = event.composedPath();
  const users = event.key === ' ' ? `button, summary, ${fields}` : fields;
  const isUsed = event.defaultPrevented || (focused instanceof Element && focused.matches(users));
  return scrollKeys.includes(event.key) && !isUsed;
}

const still = matchMedia('(prefers-reduced-motion: reduce)');

export class Steps {
  #observer: IntersectionObserver | undefined;
  #figureSize: ResizeObserver | undefined;
  /** Until when scroll positions are ignored, since the page itself is scrolling. */
  #quietUntil = 0;
  /**
   * Time of the reader's last scrolling input; a growing figure also moves the steps, which is not the reader's doing.
   */
  #readerAt = Number.NEGATIVE_INFINITY;
  #height = 0;
  /** The step last gone or scrolled to. */
  #at = 0;

  /** Whether the reader is scrolling, including momentum. */
  get #readerScrolls(): boolean {
    return performance.now() - this.#readerAt < 1500;
  }

  /** After the figure has rendered: if its height changed, scrolls the current step back to its position below it. */
  settle(chapter: Chapter): void {
    const height = this.root.querySelector<HTMLElement>('.figure')?.offsetHeight ?? 0;
    if (height === this.#height || !isAt(chapter, this.address) || this.address.get('class') !== undefined) return;
    this.#height = height;
    this.watch(chapter);
    if (this.address.get('step') !== undefined && !this.#readerScrolls) this.reveal(this.index(chapter));
  }

  constructor(
    private readonly address: Address,
    private readonly root: HTMLElement,
  ) {
    const moved = (): void => {
      this.#readerAt = performance.now();
    };
    for (const type of ['wheel', 'touchmove']) addEventListener(type, moved, { passive: true });
    addEventListener('keydown', (event) => scrolls(event) && moved());
    addEventListener('pointerdown', ({ target }) => target === document.documentElement && moved()); // the scroll bar
    addEventListener('scroll', () => this.#readerScrolls && moved(), { passive: true });
  }

  index(chapter: Chapter): number {
    return stepIndexAt(chapter, this.address);
  }

  current(chapter: Chapter): Step {
    return chapter.steps[this.index(chapter)] ?? { id: '' };
  }

  /** Goes to a step; `scroll` is false if the reader has scrolled there. */
  go(chapter: Chapter, index: number, scroll: boolean): void {
    if (!isAt(chapter, this.address)) return;
    const within = Math.max(0, Math.min(chapter.steps.length - 1, index));
    if (!scroll) this.#at = within;
    else if (this.#at === within) this.reveal(within); // there is nothing to follow
    this.address.set({ step: within === 0 ? undefined : String(within) }, 'replace');
  }

  /** Once a new address is rendered: scrolls to its step, unless the page is there already. */
  follow(chapter: Chapter): void {
    const index = this.index(chapter);
    if (index !== this.#at && this.address.get('class') === undefined) this.reveal(index);
    this.#at = index;
  }

  /** A chapter was opened. */
  begin(chapter: Chapter): void {
    this.#at = this.index(chapter);
  }

  reveal(index: number): void {
    this.#measure();
    this.#quietUntil = performance.now() + 700;
    this.#readerAt = Number.NEGATIVE_INFINITY; // what scrolls now is the page
    this.#sections()[index]?.scrollIntoView({
      behavior: still.matches ? 'auto' : 'smooth',
      block: this.#under() || isLow() ? 'start' : 'center',
    });
  }

  /** Observes the reader's scrolling. */
  watch(chapter: Chapter): void {
    this.#observer?.disconnect();
    const top = this.#top();
    const end = this.#under() ? Math.max(10, innerHeight - top - 50) : top;
    this.#observer = new IntersectionObserver(
      (entries) => {
        if (!this.#readerScrolls || performance.now() < this.#quietUntil || this.address.get('class') !== undefined)
          return;
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting) this.go(chapter, this.#sections().indexOf(target as HTMLElement), false);
        }
      },
      { rootMargin: `-${top}px 0px -${end}px 0px` },
    );
    for (const section of this.#sections()) this.#observer.observe(section);
    this.#figureSize?.disconnect();
    this.#figureSize = new ResizeObserver(() => this.settle(chapter));
    const figureBox = this.root.querySelector('.figure');
    if (figureBox) this.#figureSize.observe(figureBox);
  }

  /** The height of the figure, below which a step has to stop; 0 if it scrolls with the page. */
  #measure(): number {
    const figure = this.root.querySelector<HTMLElement>('.figure');
    const stays = figure === null || getComputedStyle(figure).position === 'sticky';
    const height = stays ? (figure?.offsetHeight ?? 400) : 0;
    // Not of the root: every element, the figure's too, would inherit it, and have its style computed again.
    this.root.querySelector<HTMLElement>('.steps')?.style.setProperty('--fig', `${height}px`);
    return height;
  }

  /** Where the band begins that makes the step that is scrolled there the current one. */
  #top(): number {
    const figure = this.#measure();
    return this.#under()
      ? Math.max(0, Math.min(52 + figure + 40, innerHeight - 60))
      : Math.round((isLow() ? 0.3 : 0.42) * innerHeight);
  }

  /** Whether the reader has scrolled past the last step, to the questions. */
  isBelow(chapter: Chapter): boolean {
    const last = this.#sections().at(-1)?.getBoundingClientRect();
    const isLast = this.index(chapter) === chapter.steps.length - 1;
    return isLast && last !== undefined && last.bottom < this.#top() && performance.now() > this.#quietUntil;
  }

  #sections(): HTMLElement[] {
    return [...this.root.querySelectorAll<HTMLElement>('.step')];
  }

  /** Whether the steps are below the figure, not beside it. */
  #under(): boolean {
    const [figure, steps] = ['.figure', '.steps'].map((part) => this.root.querySelector(part)?.getBoundingClientRect());
    return figure !== undefined && steps !== undefined && figure.left < steps.right;
  }
}
