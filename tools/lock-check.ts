import { readFileSync } from 'node:fs';

interface LockEntry {
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * What is wrong with a lock file that npm itself accepts. One made while some platform's package could not be
 * fetched looks fine, and every later `npm ci` refuses it.
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
    if (/^(https?|git)/.test(entry.resolved ?? '')) problems.push('names a host'); // everybody has their own mirror
    return problems.map((problem) => `package-lock.json: ${at || 'root'}: ${problem}`);
  });
}
