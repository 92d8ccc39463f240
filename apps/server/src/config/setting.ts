import { readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SettingProblem {
  readonly setting: string;
  /** Names the accepted form, and the value only where it cannot be secret. */
  readonly message: string;
}

/** Every reason why the service does not start with this configuration. */
export class ConfigError extends Error {
  readonly problems: readonly SettingProblem[];

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(({ setting, message }) => `${setting}: ${message}`).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A refused value, in one sentence for the operator or, for a list, in one sentence per bad entry. */
export class SettingRefusal extends Error {
  readonly messages: readonly string[];

  constructor(...messages: string[]) {
    super(messages.join('\n'));
    this.name = 'Refusal';
    this.messages = messages;
  }
}

export interface Context {
  /** The variable's name, with which most refusals begin. */
  readonly name: string;
  readonly isProduction: boolean;
}

/** Turns a variable's text, which is trimmed and not empty, into its value. */
export interface Reader<T> {
  /** Ends the sentence "<NAME> must be …". */
  readonly accepts: string;
  /**
   * @returns undefined for a text that `accepts` does not describe
   * @throws Refusal when another sentence helps more
   */
  readonly read: (text: string, context: Context) => T | undefined;
}

export interface Setting<T> {
  readonly accepts: string;
  /** The value of an unset variable, as the operator's guide shows it. */
  readonly fallback: string;
  readonly meaning: string;
  readonly read: (text: string | undefined, context: Context) => T;
}

/** @param fallback as the operator would write it */
export function defaulted<T>(reader: Reader<T>, fallback: string, meaning: string): Setting<T> {
  const read = (text: string | undefined, context: Context) => accept(reader, text ?? fallback, context);
  return { accepts: reader.accepts, fallback: `\`${fallback}\``, meaning, read };
}

/** @param fallback in words: an unset variable is undefined, and its user decides about that */
export function optional<T>(reader: Reader<T>, fallback: string, meaning: string): Setting<T | undefined> {
  const read = (text: string | undefined, context: Context) =>
    text === undefined ? undefined : accept(reader, text, context);
  return { accepts: reader.accepts, fallback, meaning, read };
}

export function required<T>(reader: Reader<T>, meaning: string): Setting<T> {
  const read = (text: string | undefined, context: Context) => {
    if (text === undefined) throw new SettingRefusal(`${context.name} is required`);
    return accept(reader, text, context);
  };
  return { accepts: reader.accepts, fallback: 'required', meaning, read };
}

function accept<T>(reader: Reader<T>, text: string, context: Context): T {
  const value = reader.read(text, context);
  if (value === undefined) throw new SettingRefusal(`${context.name} must be ${reader.accepts}`);
  return value;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type ValuesOf<S extends Settings> = { readonly [Name in keyof S]: ReturnType<S[Name]['read']> };

/**
 * A forgotten variable opens nothing.
 * @param name the value of NODE_ENV
 */
export const isProductionAs = (name: string | undefined): boolean => (name || 'production') === 'production';

/** Reads every setting of the table. A refused setting is among the problems, and absent from the values. */
export function readSettings<S extends Settings>(table: S, env: Environment, problems: SettingProblem[]) {
  const isProduction = isProductionAs(env.NODE_ENV?.trim());
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) {
    collect(problems, name, () => {
      values[name] = setting.read(textOf(name, env), { name, isProduction });
    });
  }
  return values as Partial<ValuesOf<S>>; // each value comes from the setting of its name: Object.entries forgets it
}

/** @throws ConfigError when there is any problem */
export function completed<S extends Settings>(
  values: Partial<ValuesOf<S>>,
  problems: readonly SettingProblem[],
) {
  if (problems.length > 0) throw new ConfigError(problems);
  return values as ValuesOf<S>; // only refused settings are absent
}

/** Turns a refusal into problems of that setting, so that the next setting is read as well. */
export function collect(problems: SettingProblem[], setting: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof SettingRefusal)) throw error;
    problems.push(...error.messages.map((message) => ({ setting, message })));
  }
}

const FURTHER_SECRETS = new Set([
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'REDIS_URL',
  'CAPS_REDIS_URL',
  'SMTP_URL',
  'METRICS_TOKEN',
  'JWT_VERIFICATION_PUBLIC_KEYS',
  'VAULT_ENCRYPTION_KEYS_PREVIOUS',
]);

/** Whether the setting may also be given as `<NAME>_FILE`, the path of a file that holds it. */
export function isSecret(name: string): boolean {
  if (name === 'JWT_LEGACY_KID_KEY' || name.startsWith('RATE_LIMIT_')) return false; // these hold none
  return /_(KEY|SECRET)$/.test(name) || FURTHER_SECRETS.has(name);
}

/** @returns undefined for an empty variable as for an unset one */
function textOf(name: string, env: Environment): string | undefined {
  const text = env[name]?.trim() || undefined;
  const path = isSecret(name) ? env[`${name}_FILE`]?.trim() : undefined;
  if (!path) return text;
  if (text) throw new SettingRefusal(`set either ${name} or ${name}_FILE, not both`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).trim() || undefined;
  } catch {
    throw new SettingRefusal(`${name}_FILE cannot be read`); // the system's own message would repeat the path
  }
}
