import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { type Reader, SettingRefusal } from './setting.ts';

export function oneOf<const T extends string>(...words: T[]): Reader<T> {
  const isWord = (text: string): text is T => words.some((word) => word === text);
  const accepts = new Intl.ListFormat('en', { type: 'disjunction', style: 'long' }).format(words);
  return { accepts: accepts.replace(', or', ' or'), read: (text) => (isWord(text) ? text : undefined) };
}

export const boolean: Reader<boolean> = {
  accepts: 'true or false',
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

export function integer(least: number, most: number): Reader<number> {
  return {
    accepts: `an integer between ${least} and ${most}`,
    read: (text) => (/^\d+$/.test(text) && +text >= least && +text <= most ? +text : undefined),
  };
}

/** Refuses a list with an entry that is not accepted, and a list without entries. */
export function commaList<T>(accepts: string, readEntry: (entry: string) => T | undefined): Reader<T[]> {
  const read = (text: string) => {
    const entries = text.split(',').map((entry) => readEntry(entry.trim()));
    return entries.every((entry) => entry !== undefined) ? entries : undefined;
  };
  return { accepts, read };
}

/** For `PROCESSES`. */
export const processCount: Reader<number> = {
  accepts: 'auto or an integer between 1 and 64',
  read: (text, context) =>
    text === 'auto' ? Math.min(availableParallelism(), 64) : integer(1, 64).read(text, context),
};

export const ipAddress: Reader<string> = {
  accepts: 'an IP address',
  read: (text) => (isIP(text) > 0 ? text : undefined),
};

/** For names that another setting checks. */
export const anyText = (accepts: string): Reader<string> => ({ accepts, read: (text) => text });

export function textOf(least: number, most: number): Reader<string> {
  const isAccepted = ({ length }: string) => length >= least && length <= most;
  return {
    accepts: `${least} to ${most} characters`,
    read: (text) => (isAccepted(text) ? text : undefined),
  };
}

/** Segments without a slash at either end. @param example as the refusal shows it */
export const pathOf = (example: string): Reader<string> => ({
  accepts: `a path such as ${example}, without a slash at its beginning or end`,
  read: (text) => (/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/.test(text) ? text : undefined),
});

/** @param isRefused selects the refused values: a switch that is off does no harm in production */
export function notInProduction<T>(
  { accepts, read }: Reader<T>,
  isRefused: (value: T) => boolean,
  message: string,
): Reader<T> {
  return {
    accepts,
    read(text, context) {
      const value = read(text, context);
      if (context.isProduction && value !== undefined && isRefused(value)) throw new SettingRefusal(message);
      return value;
    },
  };
}
