import { readFileSync } from 'node:fs';

/** Reads a variable as the server does: from the environment, or from the file that `<name>_FILE` names. */
export function givenSetting(name: string): string | undefined {
  const value = process.env[name]?.trim();
  const file = process.env[`${name}_FILE`]?.trim();
  if (value || !file) return value || undefined; // empty is unset
  return readFileSync(file, 'utf8').trim();
}

/** Drops each default whose variable the person has set. */
export function unlessGiven(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => givenSetting(name) === undefined));
}
