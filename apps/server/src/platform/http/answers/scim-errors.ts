import type { AppError } from '../../errors.ts';

export const SCIM_TYPE = 'application/scim+json; charset=utf-8';

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Whether a request is for the part of the service that speaks SCIM, even if it has no such path. */
export const isScimPath = (url: string): boolean => /^\/scim\/v2(?:[/?#]|$)/.test(url);

/** RFC 7644 §3.12: the body that a SCIM client reads. */
export function scimErrorBody({ status, message, details }: AppError) {
  const scimType: unknown = details?.scimType ?? (status === 400 ? 'invalidSyntax' : undefined);
  const isNamed = (status === 400 || status === 409) && scimType !== undefined;
  return { schemas: [ERROR], status: String(status), ...(isNamed && { scimType }), detail: message };
}
