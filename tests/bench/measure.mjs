// Measures one item: opens all its contenders, checks that they compute the same, warms them up, and times them in turns
// A B C A B C …, so that whatever disturbs the machine disturbs all alike.
import { compare } from './agreement.mjs';

const SETTLED = 0.03; // two slices in a row that differ by less
const QUIET_MS = 1000; // a page that has just been opened still keeps the browser busy
const WARM_UP = { least: 3, most: 12 };

/** Work that may fail: then the contender is out, and says why. */
const attempt = async (entry, work) => {
  try {
    return await work();
  } catch (error) {
    entry.unavailable = String(error.message ?? error).slice(0, 300);
    return undefined;
  }
};

/** Opens each contender; one that can't be opened keeps the reason as `unavailable`. */
async function openAll(host, contenders, paths) {
  const opened = [];
  for (const [i, contender] of contenders.entries()) {
    const { name, spec } = contender;
    const entry = named(contender);
    try {
      Object.assign(entry, await host.open(`${i} ${name}`, spec, paths[i]));
    } catch (error) {
      entry.unavailable = String(error.message ?? error).slice(0, 300);
    }
    opened.push(entry);
  }
  return opened;
}

/** Compares all outputs with the first that is fp32 (else with the first). */
async function checkAgreement(opened) {
  const samples = new Map();
  for (const entry of opened) {
    if (entry.unavailable) continue;
    const sample = await attempt(entry, () => entry.sample());
    if (sample) samples.set(entry, sample);
  }
  const order = [...samples.keys()];
  const reference = order.find(({ dtype }) => dtype === 'fp32') ?? order[0];
  for (const [entry, sample] of samples) {
    if (entry === reference) continue;
    const narrow = [entry, reference].map(({ dtype }) => dtype).find((dtype) => dtype !== 'fp32');
    const { agrees, how } = compare(sample, samples.get(reference), narrow);
    entry.agreement = `${how} (against ${reference.name})`;
    if (!agrees) entry.unavailable = `does not agree: ${entry.agreement}`;
  }
}

async function warmUp(entry, budget) {
  let before = Number.POSITIVE_INFINITY;
  for (let i = 0; i < WARM_UP.most; i += 1) {
    const now = await entry.time(budget);
    if (i + 1 >= WARM_UP.least && Math.abs(now - before) < SETTLED * before) return;
    before = now;
  }
}

/** Resolves to [{ name, role, …, milliseconds: [of each round] }]. */
export async function measure(host, item, setting, paths, { rounds, budget }) {
  const contenders = item.contenders(setting);
  if (item.fresh) return measureFresh(host, contenders, paths, rounds);
  const opened = await openAll(host, contenders, paths);
  try {
    await checkAgreement(opened);
    const running = () => opened.filter((entry) => !entry.unavailable);
    for (const entry of running()) await attempt(entry, () => warmUp(entry, budget));
    for (const entry of opened) entry.milliseconds = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const entry of running()) {
        const time = await attempt(entry, () => entry.time(budget));
        if (time !== undefined) entry.milliseconds.push(time);
      }
    }
  } finally {
    for (const entry of opened) await entry.close?.();
  }
  return opened.map(told);
}

/** Every run in a page of its own. */
async function measureFresh(host, contenders, paths, rounds) {
  const entries = contenders.map((contender) => ({ ...named(contender), milliseconds: [] }));
  // The first round starts the browser's own parts; it does not count.
  for (let round = -1; round < rounds; round += 1) {
    for (const [i, entry] of entries.entries()) {
      if (entry.unavailable) continue;
      await attempt(entry, async () => {
        const page = await host.open(`${round} ${i}`, contenders[i].spec, paths[i]);
        await new Promise((wake) => setTimeout(wake, QUIET_MS));
        const time = await page.time(0);
        await page.close();
        if (round >= 0) entry.milliseconds.push(time);
      });
    }
  }
  return entries.map(told);
}

/** What tells a contender from the others of its item. */
const named = ({ name, role, dtype, variant, peer, captured }) => ({ name, role, dtype, variant, peer, captured });

function told({ about, agreement, unavailable, milliseconds = [], ...entry }) {
  return { ...named(entry), about, agreement, unavailable, milliseconds: milliseconds.map(rounded) };
}

const rounded = (value) => Number(value.toPrecision(6));
