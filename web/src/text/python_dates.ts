// Dates as Python's `strftime` formats them in the C locale.

const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const months = 'January February March April May June July August September October November December'.split(' ');

/** A number, with the digits and what precedes it to fill them; or a text, or a format of others. */
type Part = readonly [value: number, digits: number, filling?: ' '] | string;

/** Days of the year before a date. */
const daysBefore = (date: Date): number => {
  const { y, m, d } = { y: date.getFullYear(), m: date.getMonth(), d: date.getDate() };
  return Math.round((Date.UTC(y, m, d) - Date.UTC(y, 0, 1)) / 864e5);
};

/** The year and week of ISO 8601: that of the week's Thursday. */
function isoWeek(date: Date): [year: number, week: number] {
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() - ((date.getDay() + 6) % 7) + 3);
  return [thursday.getFullYear(), Math.floor(daysBefore(thursday) / 7) + 1];
}

const parts: Readonly<Record<string, (date: Date) => Part>> = {
  a: (date) => days[date.getDay()]?.slice(0, 3) ?? '',
  A: (date) => days[date.getDay()] ?? '',
  b: (date) => months[date.getMonth()]?.slice(0, 3) ?? '',
  B: (date) => months[date.getMonth()] ?? '',
  c: () => '%a %b %e %H:%M:%S %Y',
  C: (date) => [Math.floor(date.getFullYear() / 100), 2],
  d: (date) => [date.getDate(), 2],
  D: () => '%m/%d/%y',
  e: (date) => [date.getDate(), 2, ' '],
  f: (date) => [date.getMilliseconds() * 1000, 6],
  F: () => '%Y-%m-%d',
  g: (date) => [isoWeek(date)[0] % 100, 2],
  G: (date) => [isoWeek(date)[0], 4],
  h: () => '%b',
  H: (date) => [date.getHours(), 2],
  I: (date) => [((date.getHours() + 11) % 12) + 1, 2],
  j: (date) => [daysBefore(date) + 1, 3],
  k: (date) => [date.getHours(), 2, ' '],
  l: (date) => [((date.getHours() + 11) % 12) + 1, 2, ' '],
  m: (date) => [date.getMonth() + 1, 2],
  M: (date) => [date.getMinutes(), 2],
  n: () => '\n',
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  P: (date) => (date.getHours() < 12 ? 'am' : 'pm'),
  r: () => '%I:%M:%S %p',
  R: () => '%H:%M',
  s: (date) => [Math.floor(date.getTime() / 1000), 1],
  S: (date) => [date.getSeconds(), 2],
  t: () => '\t',
  T: () => '%H:%M:%S',
  u: (date) => [((date.getDay() + 6) % 7) + 1, 1],
  U: (date) => [Math.floor((daysBefore(date) + 7 - date.getDay()) / 7), 2],
  V: (date) => [isoWeek(date)[1], 2],
  w: (date) => [date.getDay(), 1],
  W: (date) => [Math.floor((daysBefore(date) + 7 - ((date.getDay() + 6) % 7)) / 7), 2],
  x: () => '%m/%d/%y',
  X: () => '%H:%M:%S',
  y: (date) => [date.getFullYear() % 100, 2],
  Y: (date) => [date.getFullYear(), 4],
  z: () => '', // dates without a zone have none
  Z: () => '',
};

/**
 * A local date in a format, with glibc's flags `-`, `_`, `0` and `^`. As there, letters without a meaning stay as they
 * are; throws for widths and other forms.
 */
export function dated(format: string, date: Date): string {
  return format.replace(/%([-_0^#]?)([\d:]*[EO]?)([A-Za-z%])/g, (found, flag: string, form: string, letter: string) => {
    if (letter === '%' && form === '') return '%';
    if (form !== '' || flag === '#') throw new Error(`strftime_now: ${found} is not supported`);
    if (!Object.hasOwn(parts, letter)) return found;
    const part = parts[letter]?.(date) ?? '';
    const text = typeof part === 'string' ? dated(part, date) : padded(part, flag);
    return flag === '^' ? text.toUpperCase() : text;
  });
}

const fillings: Readonly<Record<string, string>> = { _: ' ', 0: '0' };

function padded([value, digits, filling]: Exclude<Part, string>, flag: string): string {
  return String(value).padStart(flag === '-' ? 0 : digits, fillings[flag] ?? filling ?? '0');
}
