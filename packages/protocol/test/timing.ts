/**
 * Takes the shortest of a few runs in processor time, so that other work of the machine does not look like slow code.
 *
 * @returns milliseconds
 */
export function shortest(run: () => unknown, attempts = 4): number {
  let milliseconds = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && milliseconds > 5; attempt += 1) {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before); // microseconds
    milliseconds = Math.min(milliseconds, (user + system) / 1000);
  }
  return milliseconds;
}
