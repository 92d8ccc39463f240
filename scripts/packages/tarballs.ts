import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildPackages } from './build.ts';

/**
 * Makes the tarballs that are published.
 * @param folder where the packages are built, below `out`
 * @returns the file of each package, by its name
 */
export async function packTarballs(
  root: string,
  out: string,
  folder = 'dist',
): Promise<ReadonlyMap<string, string>> {
  const tarballs = new Map<string, string>();
  for (const built of await buildPackages(root, join(out, folder))) {
    const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {
      cwd: built,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ name, filename }] = JSON.parse(packed);
    tarballs.set(name, join(out, filename));
  }
  return tarballs;
}

/**
 * Unpacks tarballs as npm installs them, without a registry: the packages that they name, and no others, are links to
 * those of the checkout.
 */
export function installTarballs(root: string, tarballs: ReadonlyMap<string, string>, folder: string): void {
  const modules = join(folder, 'node_modules');
  for (const [name, file] of tarballs) {
    const installed = join(modules, name);
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', file, '-C', installed, '--strip-components=1']);
    const { dependencies, optionalDependencies, bin } = manifestIn(installed);
    for (const other of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const shipped = join(root, 'node_modules', other);
      if (!other.startsWith('@behest/') && existsSync(shipped)) link(shipped, join(modules, other));
    }
    for (const [program, path] of Object.entries(bin ?? {}))
      link(join(installed, path), join(modules, '.bin', program));
  }
}

interface Installed {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
}

const manifestIn = (folder: string): Installed =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) symlinkSync(target, path);
}
