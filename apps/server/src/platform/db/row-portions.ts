import type { LongWork } from '../long-work.ts';

/** Bytes of rows that are read in one turn of the event loop: the dearest of them take about two milliseconds. */
const AT_ONCE = 32_768;
/** Bytes of a row beside its large texts. */
const BESIDE = 512;

/**
 * Deals out the rows of a page in portions, each in a turn of its own. To read a page of large rows takes tens of
 * milliseconds, for which all other requests of the process would wait.
 * @param lengthOf the length of the texts of a row that may be large
 */
export async function* inRowPortions<Row>(
  rows: readonly Row[],
  lengthOf: (row: Row) => number,
  { nextTurn }: LongWork,
): AsyncGenerator<readonly Row[]> {
  for (const portion of portionsOf(rows, lengthOf)) {
    await nextTurn();
    yield portion;
  }
}

function* portionsOf<Row>(rows: readonly Row[], lengthOf: (row: Row) => number): Generator<readonly Row[]> {
  let portion: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = lengthOf(row) + BESIDE;
    if (bytes + size > AT_ONCE && portion.length > 0) {
      yield portion;
      [portion, bytes] = [[], 0];
    }
    portion.push(row);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}
