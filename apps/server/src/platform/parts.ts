/** Something that a process has once. The feature that owns it opens it; features below take it from the context of the service. */
export interface Part<T> {
  readonly name: string;
  /** Only for the compiler, which otherwise takes parts of all types for the same. */
  readonly type?: (value: T) => T;
}

export const definePart = <T>(name: string): Part<T> => ({ name });

export interface Parts {
  /** @returns the value. @throws Error when the part has been opened before */
  readonly provide: <T>(part: Part<T>, value: T) => T;
  /** @throws Error when no feature above has opened it */
  readonly take: <T>(part: Part<T>) => T;
}

/** The parts of one process. */
export function createParts(): Parts {
  const values = new Map<object, unknown>();
  return {
    provide(part, value) {
      if (values.has(part)) throw new Error(`There are two: ${part.name}.`);
      values.set(part, value);
      return value;
    },
    take<T>(part: Part<T>): T {
      if (!values.has(part)) throw new Error(`No feature above has opened ${part.name}.`);
      return values.get(part) as T; // `provide` has put it under a part of this type
    },
  };
}
