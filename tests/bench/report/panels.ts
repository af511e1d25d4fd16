// The panels of the plot: groups of horizontal bars, and curves. Each returns { svg, height } for its position.

const left = 230;
const right = 800;
const rowHeight = 12;

const text = (x: number, y: number, content: string | number, more = '', kind = 'text'): string =>
  `<text class="${kind}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(content)}</text>`;
/** As the text of an element. */
export const escaped = (content: string | number): string =>
  String(content).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line class="${kind}" x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}"/>`;

/** The legend: names of the series in their colours. */
function legend(names: readonly (string | undefined)[], y: number): string[] {
  let x = left - 150;
  return names.map((name, i) => {
    if (name === undefined) return '';
    x += 150;
    return `<rect class="c${i}" x="${x}" y="${y - 8}" width="8" height="8"/>${text(x + 13, y, name, '', 'text quiet')}`;
  });
}

export interface Panel {
  svg: string;
  height: number;
}

const nothing: Panel = { svg: '', height: 0 };

export interface Group {
  label: string;
  /** One per name of the legend. */
  values: readonly (number | undefined)[];
}

export interface Series {
  name: string;
  /** One per place. */
  values: readonly (number | undefined)[];
}

/** Groups of bars, with a line at 1. */
export function barPanel(top: number, title: string, groups: readonly Group[], names: readonly string[]): Panel {
  const shown = groups.filter(({ values }) => values.some((value) => value !== undefined));
  if (shown.length === 0) return nothing;
  const largest = Math.max(1, ...shown.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const scale = (right - left - 40) / largest;
  const parts = [text(16, top + 12, title, '', 'text title'), ...legend(names, top + 32)];
  let y = top + 44;
  for (const { label, values } of shown) {
    parts.push(text(left - 8, y + (values.length * rowHeight) / 2 + 4, label, 'text-anchor="end"'));
    values.forEach((value, i) => {
      if (value === undefined) return;
      const width = value * scale;
      parts.push(
        `<rect class="c${i}" x="${left}" y="${y + i * rowHeight}" width="${width.toFixed(1)}" height="${rowHeight - 2}"/>`,
      );
      parts.push(
        text(left + width + 5, y + i * rowHeight + 9, value.toFixed(2), 'style="font-size:10px"', 'text quiet'),
      );
    });
    y += values.length * rowHeight + 8;
  }
  parts.push(line(left + scale, top + 40, left + scale, y, 'one'));
  return { svg: parts.join('\n'), height: y - top + 20 };
}

const curveHeight = 150;

/** Curves over `places`, evenly spaced; the scale begins at 0. */
export function linePanel(
  top: number,
  title: string,
  places: readonly (string | number)[],
  series: readonly Series[],
): Panel {
  const shown = series.filter(({ values }) => values.filter((value) => value !== undefined).length > 1);
  if (shown.length === 0) return nothing;
  const largest = Math.max(...shown.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const bottom = top + 52 + curveHeight;
  const x = (i: number): number => left + (i * (right - left - 60)) / (places.length - 1);
  const y = (value: number): number => bottom - (value / largest) * curveHeight;
  const names = series.map((each) => (shown.includes(each) ? each.name : undefined));
  const parts = [text(16, top + 12, title, '', 'text title'), ...legend(names, top + 32)];
  for (const share of [0, 0.5, 1]) {
    parts.push(line(left, y(share * largest), right - 40, y(share * largest), 'line'));
    parts.push(
      text(left - 8, y(share * largest) + 4, (share * largest).toPrecision(3), 'text-anchor="end"', 'text quiet'),
    );
  }
  places.forEach((place, i) => {
    parts.push(text(x(i), bottom + 16, place, 'text-anchor="middle"', 'text quiet'));
  });
  series.forEach(({ values }, i) => {
    const points = values.flatMap((value, place) =>
      value === undefined ? [] : [`${x(place).toFixed(1)},${y(value).toFixed(1)}`],
    );
    if (points.length > 1) parts.push(`<polyline class="c${i} curve" points="${points.join(' ')}"/>`);
  });
  return { svg: parts.join('\n'), height: bottom - top + 44 };
}
