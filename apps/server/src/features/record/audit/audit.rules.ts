import { AppError } from '../../../platform/errors.ts';

const MAX_BYTES = 16_384;
const MAX_DEPTH = 8;

/**
 * Accepts metadata that comes back from the database as exactly the text that was hashed.
 * @throws BAD_REQUEST when it is too large or too deep, or holds an integer that JSON parsers round
 */
export function mustBeKeepableMetadata(metadata: object): void {
  const problem = problemOf(metadata, 1);
  const isTooLarge = Buffer.byteLength(JSON.stringify(metadata)) > MAX_BYTES;
  const worst = problem ?? (isTooLarge ? { path: 'metadata', problem: 'too_long' } : undefined);
  if (worst) {
    throw new AppError('BAD_REQUEST', 'The metadata cannot be kept as it is.', { fields: [worst] });
  }
}

function problemOf(
  value: unknown,
  depth: number,
  path = 'metadata',
): { path: string; problem: string } | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { path, problem: 'too_large' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return { path, problem: 'too_long' };
  for (const [name, member] of Object.entries(value)) {
    const problem = problemOf(member, depth + 1, `${path}.${name}`);
    if (problem) return problem;
  }
  return undefined;
}
