import { checksOf } from '../doctor/checks.ts';
import { EXIT } from '../errors.ts';
import { isSet } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

export const DOCTOR: readonly CommandSpec[] = [
  {
    name: 'doctor',
    summary: 'Look for what is wrong between this machine and the service',
    notes: 'Ends with 1 when a check fails. It changes nothing.',
    examples: ['behest doctor', 'behest doctor --manifests --json'],
    options: [{ flags: '--manifests', about: 'check the manifests of this project too' }],
    async run(context, given) {
      const checks = await checksOf(context, isSet(given, 'manifests'));
      await context.rows(checks, { columns: ['id', 'result', 'detail', 'fix'] });
      return checks.some(({ result }) => result === 'fail') ? EXIT.no : EXIT.done;
    },
  },
];
