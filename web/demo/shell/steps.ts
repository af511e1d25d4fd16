// The steps of a chapter: which one the reader is at, by scrolling, by keys and by the address.

import type { Address } from '../book/address.js';
import type { Chapter, Step } from '../book/chapter.js';

const scrollKeys = [' ', 'PageUp', 'PageDown', 'Home', 'End', 'ArrowUp', 'ArrowDown'];
const still = matchMedia('(prefers-reduced-motion: reduce)');

export class Steps {
  #observer: IntersectionObserver | undefined;
  #figureSize: ResizeObserver | undefined;
  /** Until when scrolling is the page's own and tells nothing about the reader. */
  #quietUntil = 0;
  /** When the reader last scrolled, or did what scrolls; a figure that grows moves the steps, too, and is not the reader. */
  #readerAt = Number.NEGATIVE_INFINITY;
  #height = 0;

  /** Whether the reader scrolls now: momentum goes on for a while. */
  get #readerScrolls(): boolean {
    return performance.now() - this.#readerAt < 1500;
  }

  /** The figure has been drawn: where it has another height, the step that the reader is at is brought back under it. */
  settle(chapter: Chapter): void {
    const height = this.root.querySelector<HTMLElement>('.figure')?.offsetHeight ?? 0;
    if (height === this.#height || this.address.get('class') !== undefined) return;
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
    addEventListener('keydown', ({ key }) => scrollKeys.includes(key) && moved());
    addEventListener('pointerdown', ({ target }) => target === document.documentElement && moved()); // the scroll bar
    addEventListener('scroll', () => this.#readerScrolls && moved(), { passive: true });
  }

  /** The place of the step in the address, within the chapter's. */
  index(chapter: Chapter): number {
    const asked = Number(this.address.get('step') ?? 0);
    return Number.isInteger(asked) ? Math.max(0, Math.min(chapter.steps.length - 1, asked)) : 0;
  }

  current(chapter: Chapter): Step {
    return chapter.steps[this.index(chapter)] ?? { id: '' };
  }

  /** Goes to a step; the reader's own scrolling has already brought it into view. */
  go(chapter: Chapter, index: number, scroll: boolean): void {
    const within = Math.max(0, Math.min(chapter.steps.length - 1, index));
    this.address.set({ step: within === 0 ? undefined : String(within) }, 'replace');
    if (scroll) this.reveal(within);
  }

  reveal(index: number): void {
    this.#measure();
    this.#quietUntil = performance.now() + 700;
    this.#sections()[index]?.scrollIntoView({
      behavior: still.matches ? 'auto' : 'smooth',
      block: this.#under() ? 'start' : 'center',
    });
  }

  /** Follows the reader's scrolling. */
  watch(chapter: Chapter): void {
    this.#observer?.disconnect();
    const figure = this.#measure();
    const low = Math.min(52 + figure + 40, innerHeight - 60);
    const band = this.#under() ? `-${low}px 0px -${Math.max(10, innerHeight - low - 50)}px 0px` : '-42% 0px -42% 0px';
    this.#observer = new IntersectionObserver(
      (entries) => {
        if (!this.#readerScrolls || performance.now() < this.#quietUntil || this.address.get('class') !== undefined)
          return;
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting) this.go(chapter, this.#sections().indexOf(target as HTMLElement), false);
        }
      },
      { rootMargin: band },
    );
    for (const section of this.#sections()) this.#observer.observe(section);
    this.#figureSize?.disconnect();
    this.#figureSize = new ResizeObserver(() => this.settle(chapter));
    const figureBox = this.root.querySelector('.figure');
    if (figureBox) this.#figureSize.observe(figureBox);
  }

  /** The height of the figure, under which a step has to stop. */
  #measure(): number {
    const height = this.root.querySelector<HTMLElement>('.figure')?.offsetHeight ?? 400;
    this.root.style.setProperty('--fig', `${height}px`);
    return height;
  }

  #sections(): HTMLElement[] {
    return [...this.root.querySelectorAll<HTMLElement>('.step')];
  }

  /** Whether the steps scroll below the figure, not beside it. */
  #under(): boolean {
    return innerWidth <= 900 || this.root.querySelector('.wide') !== null;
  }
}
