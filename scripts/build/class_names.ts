// Names of classes as consoles show them. esbuild writes a class that names itself as `Tensor = class _Tensor { … }`.

/** The same code, with the class by its own name. */
export function withClassNames(code: string): string {
  const names = [...code.matchAll(/\b(\w+)\s*=\s*class _\1\b/g)].map(([, name = '']) => name);
  return names.reduce((text, name) => text.replace(new RegExp(`\\b_${name}\\b`, 'g'), name), code);
}
