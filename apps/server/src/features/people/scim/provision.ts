import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { userType } from './attributes.rules.ts';
import { personOf } from './person.rules.ts';
import { readDocument } from './resource.rules.ts';
import type { Person } from './scim.queries.ts';
import { storable } from './users.rules.ts';
import { addUserWithin } from './users.ts';

interface NewPerson {
  readonly userName: string;
  readonly displayName: string | null;
  readonly email: string | null;
}

/** Adds a person who has signed in, and whom nobody has provisioned. @throws uniqueness, invalidValue, PLAN_LIMIT_EXCEEDED */
export async function provisionPerson(
  tx: Tx,
  quotas: Quotas,
  caller: Caller,
  { userName, displayName, email }: NewPerson,
  at: Date,
): Promise<{ person: Person; created: Act }> {
  const document = storable(
    readDocument(userType, {
      userName,
      ...(displayName !== null && { displayName }),
      ...(email !== null && { emails: [{ value: email, primary: true }] }),
    }),
  );
  const { row, created } = await addUserWithin(tx, quotas, caller, document, at);
  return { person: personOf({ ...row, attributes: document }), created };
}
