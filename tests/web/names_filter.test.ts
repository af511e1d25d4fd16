// The hook points selected by a filter.
import { describe, expect, it } from 'vitest';
import { resolveHooks } from '../../web/src/models/hooks.js';
import type { HookPoint } from '../../web/src/runtime/border.js';

const names = ['hook_embed', 'blocks.0.hook_resid_post', 'blocks.1.hook_resid_post', 'blocks.2.hook_resid_post'];
const hooks = names.map((name) => ({ name, dims: [], axes: [], dtype: 'float32' }) as unknown as HookPoint);
const meant = (filter: Parameters<typeof resolveHooks>[2]) =>
  resolveHooks('names_filter', hooks, filter).map(({ name }) => name);

describe('names_filter', () => {
  it.each(['g', 'y', 'gy', ''])('a RegExp with the flags "%s" means the same each time', (flags) => {
    const filter = new RegExp(flags.includes('y') ? 'blocks' : 'resid_post', flags);
    filter.lastIndex = 5; // left by an earlier use
    for (let call = 0; call < 3; call++) expect(meant(filter)).toEqual(names.slice(1));
    expect(filter.lastIndex).toBe(5);
  });

  it('may be several, of which any may match', () => {
    expect(meant(['hook_embed', /1\.hook/g])).toEqual([names[0], names[2]]);
    expect(meant('blocks.*')).toEqual(names.slice(1));
    expect(meant((name) => name.startsWith('blocks.2'))).toEqual([names[3]]);
    expect(meant('*.1.*resid**')).toEqual([names[2]]);
    expect(meant('hook*embed')).toEqual([names[0]]);
  });

  it('a pattern means what it matches and what TransformerLens 3 calls so', () => {
    const last = { ...(hooks[0] as HookPoint), name: 'ln_final.hook_out' } as HookPoint;
    const all = (filter: Parameters<typeof resolveHooks>[2]) =>
      resolveHooks('names_filter', [...hooks, last], filter).map(({ name }) => name);
    expect(all('*.hook_out')).toEqual([...names.slice(1), 'ln_final.hook_out']);
    expect(all('ln_*.hook_out')).toEqual(['ln_final.hook_out']);
    expect(all('blocks.*.hook_out')).toEqual(names.slice(1));
  });

  it('a pattern of thousands of stars is one like any other', () => {
    expect(meant(`${'*'.repeat(5000) as '*'}embed`)).toEqual([names[0]]);
    expect(() => meant(`${'*o'.repeat(5000) as '*o'}x`)).toThrow('no hook is named');
    expect(() => meant('hook_*_embed*')).toThrow('no hook is named'); // prefix and suffix must not overlap
  });
});
