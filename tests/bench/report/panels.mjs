// The panels of the plot: groups of horizontal bars, and curves. Each answers { svg, height } for where it begins.

const LEFT = 230;
const RIGHT = 800;
const ROW = 12;

const text = (x, y, content, more = '', kind = 'text') =>
  `<text class="${kind}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(content)}</text>`;
const escaped = (content) => String(content).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const line = (x1, y1, x2, y2, kind) =>
  `<line class="${kind}" x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}"/>`;

/** Names of the series that are shown, in their colours. */
function legend(names, y) {
  let x = LEFT - 150;
  return names.map((name, i) => {
    if (name === undefined) return '';
    x += 150;
    return `<rect class="c${i}" x="${x}" y="${y - 8}" width="8" height="8"/>${text(x + 13, y, name, '', 'text quiet')}`;
  });
}

const nothing = { svg: '', height: 0 };

/** Groups of bars: [{ label, values }], one value (or undefined) for each of `names`; a line stands at 1. */
export function barPanel(top, title, groups, names) {
  const shown = groups.filter(({ values }) => values.some((value) => value !== undefined));
  if (shown.length === 0) return nothing;
  const largest = Math.max(1, ...shown.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const scale = (RIGHT - LEFT - 40) / largest;
  const parts = [text(16, top + 12, title, '', 'text title'), ...legend(names, top + 32)];
  let y = top + 44;
  for (const { label, values } of shown) {
    parts.push(text(LEFT - 8, y + (values.length * ROW) / 2 + 4, label, 'text-anchor="end"'));
    values.forEach((value, i) => {
      if (value === undefined) return;
      const width = value * scale;
      parts.push(
        `<rect class="c${i}" x="${LEFT}" y="${y + i * ROW}" width="${width.toFixed(1)}" height="${ROW - 2}"/>`,
      );
      parts.push(text(LEFT + width + 5, y + i * ROW + 9, value.toFixed(2), 'style="font-size:10px"', 'text quiet'));
    });
    y += values.length * ROW + 8;
  }
  parts.push(line(LEFT + scale, top + 40, LEFT + scale, y, 'one'));
  return { svg: parts.join('\n'), height: y - top + 20 };
}

const CURVE_HEIGHT = 150;

/** Curves over `places`, evenly spaced: [{ name, values }]; the scale begins at 0. */
export function linePanel(top, title, places, series) {
  const shown = series.filter(({ values }) => values.filter((value) => value !== undefined).length > 1);
  if (shown.length === 0) return nothing;
  const largest = Math.max(...shown.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const bottom = top + 52 + CURVE_HEIGHT;
  const x = (i) => LEFT + (i * (RIGHT - LEFT - 60)) / (places.length - 1);
  const y = (value) => bottom - (value / largest) * CURVE_HEIGHT;
  const names = series.map((each) => (shown.includes(each) ? each.name : undefined));
  const parts = [text(16, top + 12, title, '', 'text title'), ...legend(names, top + 32)];
  for (const share of [0, 0.5, 1]) {
    parts.push(line(LEFT, y(share * largest), RIGHT - 40, y(share * largest), 'line'));
    parts.push(
      text(LEFT - 8, y(share * largest) + 4, (share * largest).toPrecision(3), 'text-anchor="end"', 'text quiet'),
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
