// What axe finds in the open page.

import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Fault {
  id: string;
  nodes: string[];
}

/** Violations that axe calls serious or critical. */
export async function seriousFaults(page: Page): Promise<Fault[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.addScriptTag({ path: axePath });
  return page.evaluate(async () => {
    interface Axe {
      run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
    }
    const { axe } = globalThis as unknown as { axe: Axe };
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    // A cell or mark shows two or three digits, but its accessible name has the full number: it need not contain the
    // visible text.
    const counts = (id: string, html: string): boolean =>
      id !== 'label-content-name-mismatch' || !html.startsWith('<g ');
    return serious.flatMap(({ id, nodes }) => {
      const faulty = nodes.map(({ html }) => html.slice(0, 200)).filter((html) => counts(id, html));
      return faulty.length > 0 ? [{ id, nodes: faulty.slice(0, 3) }] : [];
    });
  });
}
