import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { checkoutOf, installedServer } from '../dev/place.ts';
import { type Check, checksOf, manifestChecks } from '../doctor/checks.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet } from '../program/spec.ts';

const PROGRAM = 'doctor.mjs';
const RESULTS: readonly string[] = ['ok', 'warn', 'fail', 'skip'] satisfies Check['result'][];

/**
 * Has the server look at the settings of this environment, and at what they lead to. Nothing is started or changed.
 *
 * @throws CliError where the server is not on this machine, or cannot run
 */
async function serverChecks(context: Context, given: Given): Promise<Check[]> {
  const { failure, stdout, stderr } = await ran(context, [...argvOf(context, given), '--json']);
  const checks = readChecks(stdout);
  if (checks) return checks;
  const said = stderr.trim().split('\n').at(-1) || failure || 'it said nothing';
  throw new CliError('SERVER', `The server could not look at its settings: ${said}`, {
    exitCode: EXIT.unavailable,
    next: 'behest doctor --help',
  });
}

function argvOf(context: Context, given: Given): readonly string[] {
  const root = checkoutOf(context, given);
  if (root !== undefined) return [join(root, 'scripts/run.mjs'), `apps/server/${PROGRAM}`];
  const installed = installedServer(context);
  if (installed !== undefined && existsSync(join(installed, PROGRAM))) return [join(installed, PROGRAM)];
  throw wrongUsage(
    'The server is not installed here. Name a checkout with --checkout, or run `node apps/server/doctor.mjs` where the server is.',
    context.help,
  );
}

interface Ran {
  /** Set where the program could not run, or did not end with 0. */
  readonly failure: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function ran({ io: { env, folder, signal } }: Context, argv: readonly string[]): Promise<Ran> {
  const options = { cwd: folder, env: { ...env }, signal, maxBuffer: 4_194_304 };
  return new Promise((done) => {
    execFile(process.execPath, argv, options, (error, stdout, stderr) =>
      done({ failure: error?.message, stdout, stderr }),
    );
  });
}

/** @returns undefined for an output that is no list of checks */
function readChecks(text: string): Check[] | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (!Array.isArray(read)) return undefined;
    return read.filter(isRecord).map(({ id, result, detail, fix }) => ({
      ...{ id: String(id), detail: String(detail), fix: String(fix) },
      result: isResult(result) ? result : 'fail',
    }));
  } catch {
    return undefined;
  }
}

const isResult = (value: unknown): value is Check['result'] =>
  typeof value === 'string' && RESULTS.includes(value);

export const DOCTOR: readonly CommandSpec[] = [
  {
    name: 'doctor',
    summary: 'Look for what is wrong between this machine and the service',
    notes:
      'Ends with 1 when a check fails. It changes nothing. With --server it looks in the place of the service: at the settings of this environment, the keys, PostgreSQL and its migrations, Redis, sealed values, mail and the public address.',
    examples: ['behest doctor', 'behest doctor --manifests --json', 'behest doctor --server'],
    options: [
      { flags: '--manifests', about: 'check the manifests of this project too' },
      { flags: '--server', about: 'for the operator: check the environment of the service, without a start' },
      {
        flags: '--checkout <folder>',
        about: 'with --server, a checkout of the service; default: one around this folder, or the package',
      },
    ],
    async run(context, given) {
      const checks = isSet(given, 'server')
        ? [
            ...(await serverChecks(context, given)),
            ...(await manifestChecks(context, isSet(given, 'manifests'))),
          ]
        : await checksOf(context, isSet(given, 'manifests'));
      await context.rows(checks, { columns: ['id', 'result', 'detail', 'fix'] });
      return checks.some(({ result }) => result === 'fail') ? EXIT.no : EXIT.done;
    },
  },
];
