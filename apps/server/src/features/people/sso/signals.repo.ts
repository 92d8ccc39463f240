import type { Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';

/** The session that a provider names in its own words, or else the user or subject whose sessions are meant. */
export interface Named {
  readonly idpSession?: string | undefined;
  readonly userId?: string | undefined;
  readonly subject?: string | undefined;
}

/** Ends the sessions of a connection that a provider names, in the order of their ids. */
export async function deleteSessionsNamed(
  tx: Tx,
  { developerId }: Tenant,
  connectionId: string,
  { idpSession, userId, subject }: Named,
) {
  const ofConnection = tx
    .deleteFrom('ssoSessions')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId);
  const named =
    idpSession !== undefined
      ? ofConnection.where('idpSession', '=', idpSession)
      : ofConnection.where(({ eb, or }) =>
          or([
            ...(userId === undefined ? [] : [eb('userId', '=', userId)]),
            ...(subject === undefined ? [] : [eb('subject', '=', subject)]),
          ]),
        );
  const ended = await named.returning(['id', 'principalId', 'userId']).execute();
  return ended.sort((one, other) => (one.id < other.id ? -1 : 1));
}
