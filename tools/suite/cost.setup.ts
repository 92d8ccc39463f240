import { afterAll, beforeAll } from 'vitest';
import { descendantSeconds } from '../machine/processor-time.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of a file's tests and of what they started, in seconds. */
    costSeconds?: number;
    /** The same for loading the file before, which depends on the modules that earlier files loaded. */
    loadSeconds?: number;
  }
}

const loadBegan = usedSeconds();
let testsBegan = loadBegan;

beforeAll(() => {
  testsBegan = usedSeconds();
});

/** Hooks of a setup file are the outermost: this is after all that the file itself cleans up. */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures a hook asks for
afterAll(({}, { file }) => {
  file.meta.loadSeconds = testsBegan - loadBegan;
  file.meta.costSeconds = usedSeconds() - testsBegan;
});

/** A worker runs one file at a time, so what it has used meanwhile was for that file. */
function usedSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + descendantSeconds(process.pid);
}
