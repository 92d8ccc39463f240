import type { Context } from '../context.ts';

/** A command, as data: the program, its help, its completion and its reference are made from it. */
export interface CommandSpec {
  /** All its words: `agents list`. */
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly args?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** More than the help of one line can say. */
  readonly notes?: string;
  /** The operation that the command calls, where it calls one. */
  readonly operation?: string;
  /** True where a dry run has to read first, and prints more than one request. */
  readonly readsInDryRun?: true;
  /** True where it changes this machine, so that a dry run would have no request to print. */
  readonly isLocal?: true;
  /** @returns the exit code; nothing for 0 */
  run(context: Context, given: Given): Promise<number | undefined> | Promise<void>;
}

/** The commands of one word, which are loaded when that word is used. */
export interface Group {
  readonly name: string;
  readonly summary: string;
  /** True for those that a newcomer needs: the others share a line of the help. */
  readonly isMain?: true;
  /** True where commands are made from the operations of the service. */
  readonly hasOperations?: true;
  readonly load?: () => Promise<readonly CommandSpec[]>;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly about: string;
  readonly isOptional?: true;
  /** True for the last argument, when it may be several. */
  readonly isMany?: true;
}

export interface OptionSpec {
  /** As commander reads it: `-f, --input <file>`. */
  readonly flags: string;
  readonly about: string;
  readonly isRequired?: true;
  /** True for an option that may be given several times. */
  readonly isMany?: true;
  readonly choices?: readonly string[];
  readonly default?: string;
}

/** The arguments and options of one call of the program, as texts. */
export interface Given {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** Reads an option of text. */
export function textOf({ options }: Given, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export const isSet = ({ options }: Given, name: string): boolean => options[name] === true;

/** Reads an option that may be there several times. */
export function textsOf({ options }: Given, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.map(String) : [];
}

export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
