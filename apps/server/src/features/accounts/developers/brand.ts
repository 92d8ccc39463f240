import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { beforeTransaction, type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { fairPlaces } from '../../../platform/fair-places.ts';
import { type Finished, finished } from '../../../platform/finished.ts';
import { recordActs } from '../../record/audit/index.ts';
import { mustBeReadable, type PackedPicture, pictureIn, refusedLogo } from './brand.rules.ts';
import { logoPath } from './developers.queries.ts';
import {
  type DeveloperRow,
  deleteLogo,
  findLogo,
  getDeveloperRow,
  lockOpenAccount,
  putLogo,
  updateDeveloper,
} from './developers.repo.ts';
import type { Branding, BrandingChange } from './developers.schema.ts';

export interface BrandDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

/** The name, the colour and the logo, a PNG, with which the pages show an account. */
export interface Brand {
  readonly name: string;
  readonly accentColor: string | null;
  readonly png: Buffer | undefined;
}

export async function getBranding(deps: BrandDeps, { tenant }: Caller): Promise<Branding> {
  return toBranding(deps, await getDeveloperRow(deps.db, tenant));
}

/**
 * Sets how the pages for people show the account. The logo is stored as the service re-encodes it, so none of the bytes
 * that were sent are served. @throws BAD_REQUEST, SERVICE_UNAVAILABLE, BeforeTransaction
 */
export async function changeBranding(
  deps: BrandDeps,
  caller: Caller,
  { accentColor: colour, logo }: BrandingChange,
): Promise<Branding> {
  const accentColor = colour?.toLowerCase() ?? null;
  if (accentColor !== null) mustBeReadable(accentColor);
  const picture = logo ? pictureIn(bytesOf(logo)) : null;
  const draw = (packed: PackedPicture) => () => reEncode(packed, caller.tenant);
  const png = picture && (await beforeTransaction(deps.db, caller, 'logo', draw(picture)));
  const logoHash = png && createHash('sha256').update(png).digest('hex');
  const change = { ...(colour !== undefined && { accentColor }), ...(logo !== undefined && { logoHash }) };
  const shownIn = (row: Pick<DeveloperRow, 'accentColor' | 'logoHash'>) => ({
    ...(colour !== undefined && { accentColor: row.accentColor }),
    ...(logo !== undefined && { logoHash: row.logoHash }),
  });
  const at = deps.clock();

  return inTransaction(deps.db, async (tx) => {
    const before = await lockOpenAccount(tx, caller.tenant);
    const isAsBefore =
      (colour === undefined || before.accentColor === accentColor) &&
      (logo === undefined || before.logoHash === logoHash);
    if (isAsBefore) return toBranding(deps, before);
    if (png) await putLogo(tx, caller.tenant, png);
    else if (logo === null) await deleteLogo(tx, caller.tenant);
    const after = await updateDeveloper(tx, caller.tenant, { ...change, updatedAt: at });
    const changed = [
      ...(colour === undefined ? [] : ['accentColor']),
      ...(logo === undefined ? [] : ['logo']),
    ];
    const about = {
      developerId: after.id,
      data: { changed },
      evidence: { old: shownIn(before), new: shownIn(after) },
    };
    await recordActs(tx, caller, [{ type: 'developer.updated', ...about }], at);
    return toBranding(deps, after);
  });
}

/** Shows the account by its name alone again. */
export async function removeBranding(deps: BrandDeps, caller: Caller): Promise<void> {
  await changeBranding(deps, caller, { accentColor: null, logo: null });
}

/** What the pages would show of the account after a change. What the change leaves out is as it is now. @throws BAD_REQUEST, SERVICE_UNAVAILABLE, BeforeTransaction */
export async function previewBranding(
  deps: BrandDeps,
  caller: Caller,
  { accentColor: colour, logo }: BrandingChange,
): Promise<Brand> {
  const { tenant } = caller;
  if (colour) mustBeReadable(colour);
  const picture = logo ? pictureIn(bytesOf(logo)) : null;
  const drawn =
    picture && (await beforeTransaction(deps.db, caller, 'logo', () => reEncode(picture, tenant)));
  const { name, accentColor, logoHash } = await getDeveloperRow(deps.db, tenant);
  const kept =
    logo === undefined && logoHash !== null ? await findLogo(deps.db, tenant, logoHash) : undefined;
  return { name, accentColor: colour === undefined ? accentColor : colour, png: drawn ?? kept?.png };
}

/** The picture that an account shows now. @throws NOT_FOUND for any other, also one that it showed before */
export async function getLogo({ db }: BrandDeps, tenant: Tenant, hash: string): Promise<Finished> {
  const found = await findLogo(db, tenant, hash);
  if (!found) throw notFound();
  return finished(found.png);
}

function toBranding({ publicBaseUrl }: BrandDeps, row: DeveloperRow): Branding {
  const { id: developerId, name, accentColor, logoHash } = row;
  return { name, accentColor, logoUrl: logoHash && `${publicBaseUrl}${logoPath({ developerId, logoHash })}` };
}

function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw refusedLogo('The logo has to be base64.');
  return bytes;
}

const MAX_WAIT = 3000; // milliseconds until it is the developer's turn
const MAX_WORK = 3000; // milliseconds
const places = fairPlaces(1, MAX_WAIT);

const busy = () => new AppError('SERVICE_UNAVAILABLE', 'Too many logos are being read; try again.');

/** @throws BAD_REQUEST for one that cannot be read, SERVICE_UNAVAILABLE */
async function reEncode(picture: PackedPicture, { developerId }: Tenant): Promise<Buffer> {
  if (!(await places.take(developerId))) {
    throw busy();
  }
  const worker = new Worker(new URL('./brand.thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const timer = setTimeout(() => reject(busy()), MAX_WORK);
      worker.on('message', (png: Uint8Array) => resolve(Buffer.from(png)));
      worker.on('error', reject);
      worker.on('exit', () => {
        clearTimeout(timer);
        reject(new Error('The thread ended.'));
      });
      worker.postMessage(picture);
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw refusedLogo('The PNG cannot be read.');
  } finally {
    void worker.terminate();
    places.give();
  }
}
