import fs from 'node:fs';
import path from 'node:path';

/** Paths of all packages that the lock file names for this machine, and that npm will surely unpack. */
export function wantedPackages(root) {
  return Object.entries(readLock(path.join(root, 'package-lock.json')))
    .filter(([at, entry]) => at.includes('node_modules/') && !entry.link && isForUs(entry))
    .map(([at]) => at);
}

/** Whether npm's own record of what it unpacked, written last, agrees with the lock file. */
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
 * An optional package is sure to come only when it is for this very system. One with `libc` has a twin, and
 * which of them is right is left to npm.
 */
function isForUs({ optional, os, cpu, libc }) {
  if (!optional) return true;
  return os?.includes(process.platform) && cpu?.includes(process.arch) && !libc;
}
