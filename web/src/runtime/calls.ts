// How a call of the core is declared.

/** A positive integer that refers to an object in the core's memory. */
export type Handle = number;

/** A function of the core. */
export interface Call<Arguments, Value> {
  arguments: Arguments;
  value: Value;
}

/** No arguments, or no value. */
export type Nothing = Record<string, never>;
/** Texts that may be absent. */
export type Texts<N extends string> = { [K in N]?: string | undefined };
/** Optional arguments may be undefined. */
export type Loose<T> = { [K in keyof T]: T[K] | undefined };
/** Start and end of each axis, negative from the end; Number.MAX_SAFE_INTEGER is the end itself. */
export type Bounds = Loose<{ at?: number[] }>;
