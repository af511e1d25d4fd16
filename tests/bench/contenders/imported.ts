// A library by its path, or given as it is.

export const imported = async (library: string | object): Promise<object> =>
  typeof library === 'string' ? import(/* @vite-ignore */ library) : library;
