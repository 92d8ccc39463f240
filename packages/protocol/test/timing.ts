/**
 * The shortest of a few runs, so that what else the machine does is not taken for the code's own slowness.
 *
 * @returns milliseconds
 */
export function shortest(run: () => unknown, attempts = 4): number {
  let milliseconds = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && milliseconds > 5; attempt += 1) {
    const start = performance.now();
    run();
    milliseconds = Math.min(milliseconds, performance.now() - start);
  }
  return milliseconds;
}
