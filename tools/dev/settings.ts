import { readFileSync } from 'node:fs';

/** A variable as the server will read it: by itself, or from the file that `<name>_FILE` names. */
export function givenSetting(name: string): string | undefined {
  const value = process.env[name]?.trim();
  const file = process.env[`${name}_FILE`]?.trim();
  if (value || !file) return value || undefined; // empty is unset
  return readFileSync(file, 'utf8').trim();
}

/** Drops what the person who starts us has set: our own values are for the rest. */
export function unlessGiven(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => givenSetting(name) === undefined));
}
