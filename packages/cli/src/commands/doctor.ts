import { checksOf, manifestChecks } from '../doctor/checks.ts';
import { serverChecks } from '../doctor/server-checks.ts';
import { EXIT } from '../errors.ts';
import { isSet } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

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
