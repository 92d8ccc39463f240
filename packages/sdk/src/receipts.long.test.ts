import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeReceipt, type ReceiptWish, trust } from '../../protocol/test/receipts.ts';
import { type Receipt, redactReceipt, verifyReceipt } from './receipts.ts';

const MODES = ['passkey', 'developer', 'email', 'link', 'policy'];
const wishes: ReceiptWish[] = MODES.flatMap((mode) => [
  { mode, isWitnessed: true },
  { mode, hasNote: false },
]);
const receipts = wishes.map(makeReceipt);
const RUNS = 10_000;

type Path = readonly (string | number)[];

/** The place of each member and element, at every depth. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const place = [...path, Array.isArray(value) ? Number(name) : name];
    return [place, ...placesIn(member, place)];
  });
}

/** Another value of the same type. */
function other(value: unknown, chance: number): unknown {
  if (typeof value === 'string') {
    if (value === '') return 'A';
    const at = chance % value.length;
    return `${value.slice(0, at)}${value[at] === 'A' ? 'B' : 'A'}${value.slice(at + 1)}`;
  }
  if (typeof value === 'number') return value + 1 + (chance % 7);
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return [...value, value[0] ?? 'A'];
  return value === null ? 'A' : { ...value, more: chance };
}

type Kind = 'change' | 'remove' | 'repeat' | 'swap';

/** Edits a copy of a receipt at one place. @returns the copy, which may be the same where there was nothing to swap */
function edited(
  receipt: Receipt,
  { place, chance, kind }: { place: number; chance: number; kind: Kind },
): unknown {
  const copy = structuredClone(receipt);
  const places = placesIn(copy);
  const path = places[place % places.length] ?? [];
  const name = path.at(-1) ?? '';
  const holder = path.slice(0, -1).reduce<unknown>((at, each) => Reflect.get(Object(at), each), copy);
  const value: unknown = Reflect.get(Object(holder), name);
  if (kind === 'change' || !Array.isArray(holder)) {
    if (kind === 'remove') Reflect.deleteProperty(Object(holder), name);
    else Reflect.set(Object(holder), name, other(value, chance));
    return copy;
  }
  const at = Number(name);
  const elsewhere = chance % holder.length;
  if (kind === 'remove') holder.splice(at, 1);
  else if (kind === 'repeat') holder.splice(elsewhere, 0, value);
  else [holder[at], holder[elsewhere]] = [holder[elsewhere], holder[at]];
  return copy;
}

const chosen = { which: fc.nat(receipts.length - 1), place: fc.nat(), chance: fc.nat() };
const kinds = fc.constantFrom<Kind>('change', 'remove', 'repeat', 'swap');

test(`each of ${RUNS} random edits is found`, async () => {
  let edits = 0;
  await fc.assert(
    fc.asyncProperty(fc.record({ ...chosen, kind: kinds }), async ({ which, ...edit }) => {
      const receipt = receipts[which];
      const changed = receipt && edited(receipt, edit);
      fc.pre(JSON.stringify(changed) !== JSON.stringify(receipt));
      edits += 1;
      expect((await verifyReceipt(changed, trust)).ok).toBe(false);
    }),
    { numRuns: RUNS },
  );
  expect(edits).toBeGreaterThanOrEqual(RUNS);
}, 600_000);

test(`none of ${RUNS} receipts that were only redacted is refused`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ ...chosen, dropped: fc.subarray([1, 3, 5, 7, 9, 11, 13, 15]) }),
      async (wish) => {
        const { which, place, chance, dropped } = wish;
        const receipt = receipts[which];
        if (!receipt) throw new Error('There is no such receipt.');
        const kept = redactReceipt(receipt, { drop: dropped });
        const names = ['principalId', 'metadata.actor'].filter(
          (name) => chance % 2 === 0 && isShown(kept, name),
        );
        const hideConsent = ['consent/1', 'principalId', 'decision', 'proof', 'all'].slice(0, place % 4);
        const verdict = await verifyReceipt(redactReceipt(kept, { hide: names, hideConsent }), trust);
        expect(verdict).toMatchObject({ ok: true, anchored: true, failed: null, withheld: dropped.length });
      },
    ),
    { numRuns: RUNS },
  );
}, 600_000);

const isShown = ({ entries }: Receipt, name: string) =>
  entries.some(
    (entry) =>
      'parts' in entry && entry.parts.some((part) => Buffer.from(part, 'base64url').includes(`"${name}"`)),
  );
