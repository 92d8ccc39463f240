import type { OperationRow } from './rows.ts';

/** Members that are the token a command is about. They come from the places of tokens, and not from an option. */
const TOKENS = ['token', 'credential', 'passport', 'authorization'];

export const isToken = (name: string) => TOKENS.includes(name);

interface TokenPlace {
  /** True where the command takes a token. */
  readonly isTaken: boolean;
  /** True where the token may be the first argument. A command that takes an id keeps its arguments for that. */
  readonly isArgument: boolean;
  /** The member of the body that holds the token, where the method has no argument of its own for it. */
  readonly member: string | undefined;
}

export function tokenPlace({ as, first, path, body = [] }: OperationRow): TokenPlace {
  const member = body.find(({ name, required }) => required && isToken(name))?.name;
  const isTaken = as === 'grant' || first.some(isToken) || member !== undefined;
  return { isTaken, isArgument: isTaken && path.length === 0, member };
}
