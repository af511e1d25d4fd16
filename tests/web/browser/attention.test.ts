// The attention maps of the page: rows sum to 1 in every head, cells are read by pointing and by keys, long texts too.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site } from './site.js';
import { StoryPage } from './story_page.js';

let site: Site;
let open: OpenPage;
let story: StoryPage;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open({ reducedMotion: 'reduce' });
  story = new StoryPage(open.page);
  await story.write('Once upon a time', 60, 'the likeliest');
});
afterAll(() => site.stop());

describe('attention', () => {
  it('sums to 1 over a row, in all layers and heads', async () => {
    await story.tokens.nth(50).click();
    for (let layer = 1; layer <= 5; layer++)
      for (let head = 1; head <= 8; head++) {
        await story.chooseHead(layer, head);
        const { query, sum } = await story.reading();
        expect(query).toBe(50);
        expect(Math.abs(sum - 1)).toBeLessThan(1e-5);
      }
  });

  it('shows the weight of the cell that is pointed at', async () => {
    const rows = (await story.tokens.count()) - 1;
    let total = 0;
    for (let key = 0; key <= 12; key++) {
      await story.point(12, key, rows);
      const reading = await story.reading();
      expect([reading.query, reading.key]).toEqual([12, key]);
      expect(await open.page.locator('cell-readout .read').textContent()).toContain('#13');
      total += reading.weight;
    }
    expect(total).toBeCloseTo(1, 5);
  });

  it('has no weight for the future', async () => {
    const rows = (await story.tokens.count()) - 1;
    await story.point(12, 12, rows);
    await story.point(12, 30, rows);
    expect((await story.reading()).query).toBe(50); // back to the kept token
  });

  it('is walked through with the arrow keys', async () => {
    await story.map.focus();
    for (const key of ['ArrowUp', 'Home', 'ArrowRight', 'ArrowRight', 'ArrowUp']) await open.page.keyboard.press(key);
    const { query, key } = await story.reading();
    expect(key).toBe(2);
    expect(query).toBeLessThan(50);
    await open.page.keyboard.press('Enter');
    await open.page.keyboard.press('Escape');
    expect((await story.reading()).query).toBe(query);
  });

  it('colours the text by what the kept token attends to', async () => {
    const colours = await story.tokens.evaluateAll((all) =>
      all.map((one) => (one as HTMLElement).style.backgroundColor),
    );
    const { query } = await story.reading();
    expect(colours.slice(0, query + 1).every((colour) => colour.startsWith('rgb'))).toBe(true);
    expect(colours.slice(query + 1).every((colour) => colour === '')).toBe(true);
  });

  it('draws the map: something in the past, nothing but one colour in the future', async () => {
    const seen = await story.map.evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const pixels = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
      const colours = (left: number, top: number): number => {
        const found = new Set<string>();
        for (let y = Math.round(top); y < top + height / 8; y++)
          for (let x = Math.round(left); x < left + width / 8; x++) {
            const at = (y * width + x) * 4;
            found.add(`${pixels[at]} ${pixels[at + 1]} ${pixels[at + 2]}`);
          }
        return found.size;
      };
      return { past: colours(width * 0.2, height * 0.7), future: colours(width * 0.8, height * 0.3) };
    });
    expect(seen.future).toBe(1);
    expect(seen.past).toBeGreaterThan(10);
  });

  it('shows a close-up with the same weights', async () => {
    await open.page.getByRole('button', { name: 'close-up' }).click();
    await story.map.focus();
    await open.page.keyboard.press('ArrowUp');
    await open.page.keyboard.press('End');
    const { query, key, weight } = await story.reading();
    expect(key).toBe(query);
    expect(weight).toBeGreaterThan(0);
    await open.page.getByRole('button', { name: 'whole text' }).click();
  });

  it('keeps every row up to the longest text the model reads', async () => {
    await story.write('Once upon a time', 4096, 'by chance');
    const count = await story.tokens.count();
    expect(count).toBeGreaterThan(100);
    for (const at of [3, 4, 100, count - 2]) {
      await open.page
        .locator('token-strip')
        .evaluate((strip, i) => strip.dispatchEvent(new CustomEvent('token-pick', { detail: i })), at);
      const { query, sum } = await story.reading();
      expect(query).toBe(at);
      expect(Math.abs(sum - 1)).toBeLessThan(1e-5);
    }
    expect(
      await open.page.locator('attention-map').evaluate((map) => map.shadowRoot?.querySelectorAll('*').length ?? 0),
    ).toBeLessThan(10);
  });

  it('complained of nothing', () => {
    expect(open.complaints).toEqual([]);
  });
});
