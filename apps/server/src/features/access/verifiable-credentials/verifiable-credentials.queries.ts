import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import { row } from '../../../platform/db/row.ts';
import type { VerifiableCredentials } from '../../../platform/db/types.gen.ts';

/** A credential that is signed, with the place that it names. */
export type NewCredentialRow = Omit<Selectable<VerifiableCredentials>, 'developerId'>;

/** A credential as `hold_status_place` and then `keep_credential` take it. */
export const newCredential = ({ developerId }: Tenant, credential: NewCredentialRow) =>
  row({ ...credential, developerId });
