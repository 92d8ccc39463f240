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
