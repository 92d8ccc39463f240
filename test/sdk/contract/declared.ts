import { join } from 'node:path';
import { Behest, BehestAdmin } from '@behest/sdk';
import { compilerFaults } from '../../docs/samples/compile.ts';

/** A call as a program writes it, with the answer that it got. */
interface Made {
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

/** These make the clients of one person and of one directory, whose methods are listed in their place. */
const MAKERS = ['principal', 'scim.users', 'scim.groups'];

/** The methods that the clients have when they run, as `agents.list`, `scim.users().get`, `admin.stats`. */
export function methodsOfSdk(): string[] {
  const settings = { baseUrl: 'https://auth.test', fetch: async () => Response.json({}) };
  const behest = new Behest({ ...settings, apiKey: 'bh_test_1' });
  const admin = new BehestAdmin({ ...settings, adminKey: 'operator' });
  return [
    ...methodsIn(behest).filter((name) => !MAKERS.includes(name)),
    ...methodsIn(Behest.prototype),
    ...methodsIn(Object.getPrototypeOf(behest.approvals), 'approvals.'),
    ...methodsIn(Behest, 'Behest.'),
    ...methodsIn(behest.principal('session'), 'principal().'),
    ...methodsIn(behest.scim.users('token'), 'scim.users().'),
    ...methodsIn(behest.scim.groups('token'), 'scim.groups().'),
    ...methodsIn(admin, 'admin.'),
    ...methodsIn(BehestAdmin.prototype, 'admin.'),
  ].toSorted();
}

function methodsIn(holder: object, prefix = ''): string[] {
  const own = Object.entries(Object.getOwnPropertyDescriptors(holder));
  return own.flatMap(([name, { value }]) => {
    if (typeof value === 'function') return name === 'constructor' ? [] : [`${prefix}${name}`];
    const isArea = name !== 'prototype' && Object.getPrototypeOf(value ?? 0) === Object.prototype;
    return isArea ? methodsIn(value, `${prefix}${name}.`) : [];
  });
}
