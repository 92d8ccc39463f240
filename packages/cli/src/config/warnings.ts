import type { Io } from '../io.ts';
import { isOpenToOthers, userFile } from './user-file.ts';

/** Warns of a file of keys that other users can read. The next write narrows it. */
export function warnOfOpenFile(io: Io): void {
  const file = userFile(io);
  if (isOpenToOthers(file))
    io.err(`warning: ${file} can be read by other users of this machine: chmod 600 ${file}\n`);
}
