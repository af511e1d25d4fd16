// Measures one item: opens all its contenders, checks that they compute the same, warms them up, and times them
// interleaved, A B C A B C …, so that disturbances of the machine affect all alike.

import { messageOf } from '../../scripts/message_of.js';
import { compare } from './agreement.js';
import { contendersOf } from './items/contenders.js';
import type { Contender, Host, Identity, Item, MeasuredContender, Opened, Pace, Sample, Setting } from './types.js';

const longRun = 10; // times the budget of a slice
const settledShare = 0.03; // warmed up: two successive slices that differ by less
const quietMs = 1000; // a new page keeps the browser busy for a while
const warmUpSlices = { least: 3, most: 12 };

/** A contender in its item; it is opened unless something makes it unavailable. */
interface Entry extends MeasuredContender {
  opened?: Opened | undefined;
}

type Paths = readonly (string | undefined)[];

/** Work that may fail: then the contender is excluded, with the reason. */
async function attempt<T>(entry: Entry, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    entry.unavailable = messageOf(error).slice(0, 300);
    return undefined;
  }
}

/** Opens each contender; one that cannot be opened records the reason as `unavailable`. */
async function openAll(host: Host, contenders: readonly Contender[], paths: Paths): Promise<Entry[]> {
  const opened: Entry[] = [];
  for (const [i, contender] of contenders.entries()) {
    const { name, spec } = contender;
    const entry = named(contender);
    entry.opened = await attempt(entry, () => host.open(`${i} ${name}`, spec, paths[i]));
    entry.about = entry.opened?.about;
    opened.push(entry);
  }
  return opened;
}

/** Compares all outputs with those of the first fp32 contender (or of the first). */
async function checkAgreement(opened: readonly Entry[]): Promise<void> {
  const samples = new Map<Entry, Sample>();
  for (const entry of opened) {
    if (entry.unavailable) continue;
    const sample = await attempt(entry, async () => entry.opened?.sample());
    if (sample) samples.set(entry, sample);
  }
  const order = [...samples.keys()];
  const reference = order.find(({ dtype }) => dtype === 'fp32') ?? order[0];
  const expected = reference && samples.get(reference);
  for (const [entry, sample] of samples) {
    if (!reference || !expected || entry === reference) continue;
    const narrow = [entry, reference].map(({ dtype }) => dtype).find((dtype) => dtype !== 'fp32');
    const { agrees, how, cosine } = compare(sample, expected, narrow);
    entry.agreement = `${how} (against ${reference.name})`;
    if (reference.dtype === 'fp32' && entry.dtype !== 'fp32') entry.cosine = cosine && Number(cosine.toFixed(6));
    if (!agrees) entry.unavailable = `does not agree: ${entry.agreement}`;
  }
}

async function warmUp(opened: Opened, budget: number): Promise<void> {
  let before = Number.POSITIVE_INFINITY;
  for (let i = 0; i < warmUpSlices.most; i += 1) {
    const now = await opened.time(budget);
    if (now > longRun * budget) return; // the comparison before was a run as long
    if (i + 1 >= warmUpSlices.least && Math.abs(now - before) < settledShare * before) return;
    before = now;
  }
}

/** Measures the contenders of an item, with the files at `paths`. */
export async function measure(
  host: Host,
  item: Item,
  setting: Setting,
  paths: Paths,
  { rounds, budget, ...pace }: Pace,
): Promise<MeasuredContender[]> {
  const contenders = contendersOf(item, setting, pace);
  if (item.fresh) return measureFresh(host, contenders, paths, rounds);
  const opened = await openAll(host, contenders, paths);
  try {
    await checkAgreement(opened);
    const running = () =>
      opened.flatMap((entry) => (entry.opened && !entry.unavailable ? [[entry, entry.opened] as const] : []));
    for (const [entry, one] of running()) await attempt(entry, () => warmUp(one, budget));
    for (let round = 0; round < rounds; round += 1) {
      for (const [entry, one] of running()) {
        const time = await attempt(entry, () => one.time(budget));
        if (time !== undefined) entry.milliseconds.push(time);
      }
    }
  } finally {
    for (const entry of opened) await entry.opened?.close();
  }
  return opened.map(told);
}

/** Every run in a new page. */
async function measureFresh(
  host: Host,
  contenders: readonly Contender[],
  paths: Paths,
  rounds: number,
): Promise<MeasuredContender[]> {
  const entries = contenders.map((contender) => ({ contender, entry: named(contender) }));
  // The first round starts the browser's own parts and is discarded.
  for (let round = -1; round < rounds; round += 1) {
    for (const [i, { contender, entry }] of entries.entries()) {
      if (entry.unavailable) continue;
      await attempt(entry, async () => {
        const page = await host.open(`${round} ${i}`, contender.spec, paths[i]);
        await new Promise((wake) => setTimeout(wake, quietMs));
        const time = await page.time(0);
        await page.close();
        if (round >= 0) entry.milliseconds.push(time);
      });
    }
  }
  return entries.map(({ entry }) => told(entry));
}

/** A contender's identity, without times yet. */
function named({ name, role, dtype, variant, peer, captured, threads }: Identity): Entry {
  return { name, role, dtype, variant, peer, captured, threads, milliseconds: [] };
}

function told({ about, agreement, cosine, unavailable, milliseconds, ...entry }: Entry): MeasuredContender {
  return { ...named(entry), about, agreement, cosine, unavailable, milliseconds: milliseconds.map(rounded) };
}

const rounded = (value: number): number => Number(value.toPrecision(6));
