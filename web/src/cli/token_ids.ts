// Token ids as text: 1,403,407 or 1 403 407 or [1, 403, 407].

import { InvalidArgumentError } from 'commander';
import { Tensor } from '../index.js';

/** Throws InvalidArgumentError for anything but a list of ids. */
export function idList(words: string): number[] {
  const list = words.replace(/^\s*\[|\]\s*$/g, '').trim();
  if (list === '') throw new InvalidArgumentError('There is no token id.');
  const parts = list.split(/\s*,\s*|\s+/);
  const wrong = parts.find((part) => !/^\d+$/.test(part) || !Number.isSafeInteger(Number(part)));
  if (wrong !== undefined) throw new InvalidArgumentError(`${wrong === '' ? 'Nothing' : wrong} is no token id.`);
  return parts.map(Number);
}

/** [1, position] */
export function idTensor(ids: readonly number[]): Tensor<'int64'> {
  return new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]);
}
