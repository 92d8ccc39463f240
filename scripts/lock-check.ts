import { readFileSync } from 'node:fs';

interface LockEntry {
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Finds faults in a lock file that npm itself accepts. npm writes such a file when it cannot fetch a platform's
 * package, and every later `npm ci` refuses the file.
 */
export function lockProblems(file: string): string[] {
  const { packages }: { packages: Record<string, LockEntry> } = JSON.parse(readFileSync(file, 'utf8'));
  const names = new Set(Object.keys(packages).map((at) => at.replace(/^.*node_modules\//, '')));
  return Object.entries(packages).flatMap(([at, entry]) => {
    const problems = Object.keys(entry.optionalDependencies ?? {})
      .filter((name) => !names.has(name))
      .map((name) => `optional ${name} has no entry`);
    const isFetched = at.includes('node_modules/') && !entry.link && !entry.inBundle;
    if (isFetched && !entry.integrity) problems.push('has no integrity');
    if (/^(https?|git)/.test(entry.resolved ?? '')) problems.push('names a host'); // each person has another mirror
    return problems.map((problem) => `package-lock.json: ${at || 'root'}: ${problem}`);
  });
}
