import { accessSync, constants, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm'; // only Linux has it, in containers often with 64 MB

/** @returns a folder whose files are in memory, or undefined where it or the machine lacks this much room */
export function memoryFolder(gigabytes: number): string | undefined {
  try {
    accessSync(FOLDER, constants.W_OK);
    const { bavail, bsize } = statfsSync(FOLDER);
    const room = Math.min(bavail * bsize, process.availableMemory() / 2); // the tests need memory, too
    return room >= gigabytes * 2 ** 30 ? FOLDER : undefined;
  } catch {
    return undefined; // this system has no such folder
  }
}
