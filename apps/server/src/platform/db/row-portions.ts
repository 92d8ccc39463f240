import { setImmediate } from 'node:timers/promises';

/** Bytes of rows that are read in one turn of the event loop: the dearest of them take about two milliseconds. */
const AT_ONCE = 32_768;
/** Bytes of a row beside its large text. */
const BESIDE = 512;

/**
 * Deals out the rows of a page in portions, and lets other requests go first between two. To read a page of large rows
 * takes tens of milliseconds, for which all other requests of the process would wait.
 * @param textOf the part of a row that may be large
 */
export async function* inRowPortions<Row>(
  rows: readonly Row[],
  textOf: (row: Row) => string,
): AsyncGenerator<readonly Row[]> {
  let portion: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = textOf(row).length + BESIDE;
    if (bytes + size > AT_ONCE && portion.length > 0) {
      yield portion;
      await setImmediate();
      [portion, bytes] = [[], 0];
    }
    portion.push(row);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}
