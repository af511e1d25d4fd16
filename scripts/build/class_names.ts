// Keeps class names as shown by consoles. esbuild writes a class that refers to itself as `Tensor = class _Tensor { …
// }`.

/** The same code with the class under its own name. */
export function withClassNames(code: string): string {
  const names = [...code.matchAll(/\b(\w+)\s*=\s*class _\1\b/g)].map(([, name = '']) => name);
  return names.reduce((text, name) => text.replace(new RegExp(`\\b_${name}\\b`, 'g'), name), code);
}
