// Numbers and tokens as text.

/** 0.4312 -> "43.1 %"; small shares keep two digits that say something, and nothing is rounded to 0 or to all. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 0) return '0 %';
  if (value < 0.01) return '< 0.01 %';
  if (value < 100 && value > 99.95) return '> 99.9 %';
  if (value < 1) return `${value.toFixed(2)} %`;
  return value === 100 ? '100 %' : `${value.toFixed(1)} %`;
}

/** An attention weight: four decimals, or two digits that say something. */
export function weightText(weight: number): string {
  return weight === 0 || weight >= 0.001 ? weight.toFixed(4) : String(Number(weight.toPrecision(2)));
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${(count / 1e3).toFixed(count < 1e4 ? 1 : 0)} kB`;
  if (count < 1e9) return `${(count / 1e6).toFixed(count < 1e7 ? 2 : 0)} MB`;
  return `${(count / 1e9).toFixed(2)} GB`;
}

/** 1234.5 -> "1,235"; below 100 one decimal. */
export function amount(value: number): string {
  const digits = value < 100 && !Number.isInteger(value) ? 1 : 0;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** A token with its blanks visible: " dog" -> "␣dog". */
export function visible(text: string): string {
  if (text === '') return '∅';
  return text.replaceAll(' ', '␣').replaceAll('\n', '↵').replaceAll('\t', '⇥');
}
