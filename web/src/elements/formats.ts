// Formats numbers. Uses the minus sign, names infinity and NaN, and never rounds a value that is not zero to a plain 0.

const minus = (text: string): string => text.replace('-', '−');

/** The text of a non-finite number. */
function unusual(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '∞';
  return value === -Infinity ? '−∞' : undefined;
}

/** Fixed decimals, at most 100: −1.50. A value that rounds to zero has no sign. */
export function decimals(value: number, count: number): string {
  return unusual(value) ?? minus(value.toFixed(Math.max(0, Math.min(100, count)))).replace(/^−(0(\.0*)?)$/, '$1');
}

/** Two or three significant digits for cells: 0.4, −3.3, 31; from 1,000 on 1e3. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 999.5 && Number.isFinite(value)) return minus(value.toExponential(0).replace('e+', 'e'));
  return decimals(value, size >= 9.95 ? 0 : 1);
}

/** Two decimals without the leading zero, for values near one: .94, −.07, 1.2; smaller ones are 0. */
export function small2(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size >= 0.995) return short(value);
  return size < 0.005 ? '0' : minus(value.toFixed(2).replace('0.', '.'));
}

/** Two decimals, for products. */
export const two = (value: number): string => decimals(value, 2);
/** Four decimals, for results. */
export const four = (value: number): string => decimals(value, 4);

/** An attention weight in a cell: .94, 1, and · below 0.005. */
export function weightDigits(share: number): string {
  if (!Number.isFinite(share)) return decimals(share, 0);
  if (share < 0.005) return share < 0 ? small2(share) : '·';
  return share > 0.995 ? decimals(share, 0) : small2(share);
}

/** Three significant digits, for screen readers: 30.9, 0.00214, −1.2e−7. */
export function spoken(value: number): string {
  const said = unusual(value) ?? String(Number(value.toPrecision(3)));
  return said.replaceAll('-', '−').replace('e+', 'e');
}

/** 0.4312 -> "43.1 %"; small values keep two significant digits, and nothing is rounded to 0 or 100 %. */
export function percent(share: number): string {
  const value = share * 100;
  if (!Number.isFinite(value)) return decimals(value, 0);
  if (value === 0) return '0 %';
  if (Math.abs(value) < 0.01) return value < 0 ? '> −0.01 %' : '< 0.01 %';
  if (value < 100 && value > 99.95) return '> 99.9 %';
  if (Math.abs(value) < 1) return `${decimals(value, 2)} %`;
  return value === 100 ? '100 %' : `${decimals(value, 1)} %`;
}
