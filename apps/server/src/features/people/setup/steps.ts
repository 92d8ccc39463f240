import { AppError, notFound } from '../../../platform/errors.ts';
import { createToken } from '../scim/index.ts';
import { addConnection, changeConnection, readMetadata, type SsoDeps, testConnection } from '../sso/index.ts';
import { type OpenSetup, readSetup, withSetup } from './session.ts';
import { updateLink } from './setup.repo.ts';
import type { NewSetupProvider, Purpose, SetupState } from './setup.schema.ts';

export type SetupDeps = SsoDeps;

/** A link reaches its purposes and nothing else. @throws NOT_FOUND */
function mustBeFor({ link }: OpenSetup, purpose: Purpose): void {
  if (!link.purposes.includes(purpose)) throw notFound();
}

/**
 * Writes the provider of the link's connection, which is on trial from then on until the developer activates it: the
 * administrator of one customer says nothing about the domains of another.
 * @throws NOT_FOUND, BAD_REQUEST, CONFLICT, NOT_CONFIGURED
 */
export async function setProvider(
  deps: SsoDeps,
  input: NewSetupProvider,
  requestId: string,
): Promise<SetupState> {
  const { session, clientId, clientSecret, issuerUrl } = input;
  const shown = await readSetup(deps, session, requestId); // before a stranger makes the service fetch an address
  if (!shown.purposes.includes('sso')) throw notFound();
  const hasMetadata = input.metadata !== undefined || input.metadataUrl !== undefined;
  const saml = hasMetadata ? await readMetadata(deps, input) : undefined;
  await withSetup(deps, session, requestId, async (tx, open) => {
    mustBeFor(open, 'sso');
    const { link, caller } = open;
    const within = { ...deps, db: tx };
    const ofSaml = saml && { ...saml, spEntityId: shown.entityId, spAcsUrl: shown.acsUrl };
    const members = ofSaml ?? {
      ...(issuerUrl !== undefined && { issuerUrl }),
      ...(clientId !== undefined && { clientId }),
      ...(clientSecret !== undefined && { clientSecret }),
    };
    if (link.connectionId !== null) {
      await changeConnection(within, caller, link.connectionId, members, { isOnTrial: true });
      return;
    }
    const protocol = saml ? 'saml' : 'oidc';
    const made = await addConnection(within, caller, {
      name: link.name,
      protocol,
      status: 'testing',
      ...members,
    });
    await updateLink(tx, caller.tenant, link.id, { connectionId: made.id });
  });
  return readSetup(deps, session, requestId);
}

/** Tries the provider. A failure is an answer, which says what to do. @throws NOT_FOUND, BAD_REQUEST */
export async function tryProvider(deps: SsoDeps, session: string, requestId: string) {
  const { caller, connectionId } = await withSetup(deps, session, requestId, async (_, open) => {
    mustBeFor(open, 'sso');
    return { caller: open.caller, connectionId: open.link.connectionId };
  });
  if (connectionId === null) throw new AppError('BAD_REQUEST', 'Enter the provider first.');
  const { success, message } = await testConnection(deps, caller, connectionId);
  return { success, ...(message !== undefined && { message }) };
}

/** Makes a SCIM token, which is shown once. @throws NOT_FOUND, CONFLICT */
export function makeToken(deps: SsoDeps, session: string, requestId: string) {
  return withSetup(deps, session, requestId, async (tx, open) => {
    mustBeFor(open, 'scim');
    const { token } = await createToken({ ...deps, db: tx }, open.caller, { label: open.link.name });
    return { token, scimUrl: `${deps.publicBaseUrl}/scim/v2` };
  });
}
