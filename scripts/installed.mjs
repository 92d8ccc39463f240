import fs from 'node:fs';
import path from 'node:path';

/** Lists the paths of all packages that npm certainly unpacks on this machine for the lock file. */
export function wantedPackages(root) {
  return Object.entries(readLock(path.join(root, 'package-lock.json')))
    .filter(([at, entry]) => at.includes('node_modules/') && !entry.link && isForUs(entry))
    .map(([at]) => at);
}

/** Tells whether npm's record of the unpacked packages, which it writes last, agrees with the lock file. */
export function isInstalled(root) {
  const there = readLock(path.join(root, 'node_modules/.package-lock.json'));
  const wanted = readLock(path.join(root, 'package-lock.json'));
  return wantedPackages(root).every(
    (at) => there[at]?.version === wanted[at].version && there[at]?.integrity === wanted[at].integrity,
  );
}

function readLock(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).packages : {};
}

/**
 * Tells whether npm certainly installs an optional package: the package is for this system, and has no `libc`,
 * where npm chooses between two packages.
 */
function isForUs({ optional, os, cpu, libc }) {
  if (!optional) return true;
  return os?.includes(process.platform) && cpu?.includes(process.arch) && !libc;
}
