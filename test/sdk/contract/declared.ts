import { join } from 'node:path';
import { compilerFaults } from '../../docs/samples/compile.ts';

/** A call as a program writes it, with the answer that it got. */
export interface Made {
  readonly written: string;
  readonly answer: unknown;
}

const HEAD = `import type { Behest, BehestAdmin } from '@behest/sdk';
declare const behest: Behest;
declare const admin: BehestAdmin;
declare const rows: () => AsyncIterator<never>;
declare function answered<Answer>(call: () => Promise<Answer>, answer: NoInfer<Answer>): void;
declare function listed<Row>(call: () => Promise<readonly Row[]>, answer: NoInfer<Row>[]): void;
`;
const PATH = join(import.meta.dirname, 'contract.virtual.ts');

/**
 * Lets the compiler compare arguments and answers with the declared types. A member that a type lacks is a fault too.
 * Files are left out: the answer of their methods is a response.
 */
export function declaredFaults(root: string, made: readonly Made[]): string[] {
  const calls = made.filter(({ answer }) => !(answer instanceof Response));
  const lines = calls.map(
    ({ written, answer }) =>
      `${Array.isArray(answer) ? 'listed' : 'answered'}(() => ${written}, ${literal(answer)});`,
  );
  const first = HEAD.split('\n').length - 1;
  const faults = compilerFaults(root, new Map([[PATH, `${HEAD}${lines.join('\n')}\n`]]));
  return faults.map(({ line, message }) => `${calls[line - first]?.written.split('(')[0]}: ${message}`);
}

/** A list has its rows as an iterator too, which JSON leaves out. */
function literal(answer: unknown): string {
  const text = JSON.stringify(answer) ?? 'undefined';
  const isList = typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
  return isList && !Array.isArray(answer) ? text.replace('{', '{ [Symbol.asyncIterator]: rows, ') : text;
}
