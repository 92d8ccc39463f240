import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const PROGRAMS = [
  process.env.BEHEST_PYTHON,
  join(import.meta.dirname, '../../clients/python/.venv/bin/python'),
  'python3',
];

/**
 * The first Python that runs a program of one line without a fault, such as `import jwt`.
 * @returns undefined where there is none
 */
export const findPython = (
  check: string,
  programs: readonly (string | undefined)[] = PROGRAMS,
): string | undefined =>
  programs.find((program) => program && spawnSync(program, ['-c', check], { stdio: 'ignore' }).status === 0);
