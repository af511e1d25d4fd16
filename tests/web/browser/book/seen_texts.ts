// All visible text with its font size and position on the screen: of HTML, SVG at any scale, form fields, generated
// content, and the digits that <cf-matrix> paints on a canvas.

import type { Page } from 'playwright-core';

export interface SeenText {
  text: string;
  /** Font size in CSS pixels on the screen, after zoom and transforms. */
  size: number;
  /** Its element and the three around that, shadow hosts included. */
  where: string;
  /** A subscript or superscript. */
  raised: boolean;
  /** Bounding boxes of its lines; none for rotated and generated text. */
  lines: Line[];
}

export interface Line {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The visible texts of a page. They are passed as one string, since a driver serialises objects slowly. */
export const seenTexts = async (page: Page): Promise<SeenText[]> =>
  JSON.parse(await page.evaluate(`JSON.stringify((${seenTextsNow})())`));

/** `seenTexts` inside the page. Throws for a canvas whose element does not state the font size of its text. */
function seenTextsNow(): SeenText[] {
  const found: SeenText[] = [];
  /** Computed once for each element. */
  function remembered<T>(work: (element: Element) => T): (element: Element) => T {
    const known = new Map<Element, T>();
    return (element) => {
      const before = known.get(element);
      if (before !== undefined) return before;
      const now = work(element);
      known.set(element, now);
      return now;
    };
  }
  const parentOf = (node: Node): Element | undefined => {
    const parent = (node as Element).assignedSlot ?? node.parentNode;
    if (parent instanceof ShadowRoot) return parent.host;
    return parent instanceof Element ? parent : undefined;
  };
  const nameOf = (element: Element): string => {
    const names: string[] = [];
    for (let at: Element | undefined = element; at && names.length < 4; at = parentOf(at)) {
      const kind = at.getAttribute('class')?.trim().split(/\s+/).slice(0, 2).join('.');
      names.unshift(kind ? `${at.localName}.${kind}` : at.localName);
    }
    return names.join(' > ');
  };
  /** Scale by the transforms of HTML elements around it and its own. */
  const transformScale = remembered((element): number => {
    const parent = parentOf(element);
    const around = parent ? transformScale(parent) : 1;
    const { transform } = getComputedStyle(element);
    if (element instanceof SVGElement || transform === 'none') return around;
    const { a, b, c, d } = new DOMMatrix(transform);
    return around * Math.sqrt(Math.abs(a * d - b * c));
  });
  /** Scale from the computed font size to the screen. */
  const scaleOf = (element: Element): number => {
    if (element instanceof SVGGraphicsElement) {
      const matrix = element.getScreenCTM();
      if (matrix) return Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
    }
    return ((element as { currentCSSZoom?: number }).currentCSSZoom ?? 1) * transformScale(element);
  };
  /** Inside an element for screen readers only. */
  const clipped = remembered((element): boolean => {
    const { clipPath, position } = getComputedStyle(element);
    if (position === 'absolute' && clipPath === 'inset(50%)') return true;
    const parent = parentOf(element);
    return parent !== undefined && clipped(parent);
  });
  const hidden = (element: Element): boolean =>
    !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || clipped(element);
  const leaning = (element: Element): boolean => {
    if (!(element instanceof SVGGraphicsElement)) return false;
    const matrix = element.getScreenCTM();
    return matrix !== null && Math.abs(matrix.b) > 0.01;
  };
  const raised = (element: Element): boolean => element.closest('sup, sub, .power') !== null;
  const add = (element: Element, text: string, rects: DOMRect[], fontSize: string): void => {
    const shown = text.replace(/\s+/g, ' ').trim();
    const seen = rects.filter(({ width, height }) => width > 0 && height > 0);
    if (shown === '' || seen.length === 0 || hidden(element)) return;
    const straight = leaning(element) ? [] : seen.filter(({ width }) => width > 1);
    const lines = straight.map(({ left, top, right, bottom }) => ({ left, top, right, bottom }));
    const size = Number.parseFloat(fontSize) * scaleOf(element);
    found.push({ text: shown.slice(0, 60), size, where: nameOf(element), raised: raised(element), lines });
  };
  /**
   * The elements for which a rule of their style sheets has `::before` or `::after`: of others the browser would
   * compute both.
   */
  const generating = new Set<Element>();
  const findGenerating = (root: Document | ShadowRoot): void => {
    const within = (rule: CSSRule): void => {
      const { selectorText } = rule as CSSStyleRule;
      if (selectorText !== undefined && /:(before|after)/.test(selectorText)) {
        if (/:host|:slotted|:part|&/.test(selectorText)) throw new Error(`${selectorText} is not looked up`);
        const selectors = selectorText.replace(/::?(before|after)/g, '');
        for (const element of root.querySelectorAll(selectors)) generating.add(element);
      }
      for (const inner of (rule as CSSGroupingRule).cssRules ?? []) within(inner);
    };
    for (const { cssRules } of [...root.styleSheets, ...root.adoptedStyleSheets])
      for (const rule of cssRules) within(rule);
  };
  findGenerating(document);
  const generated = (element: Element, which: '::before' | '::after'): void => {
    if (!generating.has(element)) return;
    const { content, fontSize, display } = getComputedStyle(element, which);
    const text = /^"(.*)"$/.exec(content)?.[1] ?? '';
    const { left, top } = element.getBoundingClientRect(); // CSSOM has no box of it
    if (display !== 'none') add(element, text, [new DOMRect(left, top, 1, 1)], fontSize);
  };
  const field = (element: Element): void => {
    if (!element.matches('select, textarea, input')) return;
    const { fontSize } = getComputedStyle(element);
    const rects = [element.getBoundingClientRect()];
    if (element instanceof HTMLSelectElement) add(element, element.selectedOptions[0]?.text ?? '', rects, fontSize);
    else if (element instanceof HTMLTextAreaElement)
      add(element, element.value || element.placeholder, rects, fontSize);
    else if (element instanceof HTMLInputElement && !['range', 'checkbox', 'radio', 'file'].includes(element.type))
      add(element, element.value || element.placeholder, rects, fontSize);
  };
  const pictures = ['digit-pad', 'tile-grid', 'pixel-matrix', 'patch-picture', 'book-spine']; // canvases without text
  const canvas = (element: Element): void => {
    const root = element.getRootNode();
    const host = root instanceof ShadowRoot ? root.host : (element.closest('book-spine') ?? element);
    if (hidden(element) || pictures.includes(host.localName)) return;
    const { digitSize } = host as { digitSize?: number };
    if (digitSize === undefined) throw new Error(`a canvas of ${nameOf(element)} does not say how large its texts are`);
    if (digitSize > 0) add(element, 'digits', [element.getBoundingClientRect()], `${digitSize}px`);
  };
  const visit = (node: Node): void => {
    if (node instanceof Text) {
      const parent = parentOf(node);
      if (!parent || parent.closest('select, textarea, title, datalist')) return;
      const range = document.createRange();
      range.selectNodeContents(node);
      add(parent, node.data, [...range.getClientRects()], getComputedStyle(parent).fontSize);
      return;
    }
    if (node instanceof HTMLStyleElement || node instanceof HTMLScriptElement) return;
    if (node instanceof HTMLCanvasElement) canvas(node);
    else if (node instanceof Element) {
      field(node);
      generated(node, '::before');
      generated(node, '::after');
    }
    const shadow = node instanceof Element ? node.shadowRoot : null;
    if (shadow) findGenerating(shadow);
    for (const child of shadow?.childNodes ?? []) visit(child);
    for (const child of node.childNodes) visit(child);
  };
  visit(document.body);
  return found;
}

/** Pairs of overlapping texts, apart from class mode's caption, which covers what is scrolled. */
export function overlapsOf(texts: readonly SeenText[]): string[] {
  const lines = texts
    .filter(({ where }) => !where.includes('footer.caption'))
    .flatMap(({ text, where, lines: all }) => all.map((line) => ({ ...line, text, where })))
    .sort((a, b) => a.top - b.top);
  const found: string[] = [];
  lines.forEach((one, i) => {
    for (const other of lines.slice(i + 1)) {
      if (other.top >= one.bottom) break;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - other.top;
      const lower = Math.min(one.bottom - one.top, other.bottom - other.top);
      if (across > 3 && down > 0.35 * lower) found.push(`${one.text} × ${other.text} (${one.where} | ${other.where})`);
    }
  });
  return found;
}
