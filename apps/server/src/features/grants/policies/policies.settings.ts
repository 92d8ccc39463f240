import { issuer as plainUrl } from '../../../config/addresses.ts';
import { boolean, oneOf, pathOf } from '../../../config/readers.ts';
import { defaulted, optional } from '../../../config/setting.ts';
import { definePart } from '../../../platform/parts.ts';

/** Whether Cedar decides in the service, with the active bundle of each developer. */
export const cedarInService = definePart<boolean>('whether Cedar decides in the service');

const fallback = (name: string) =>
  defaulted(
    boolean,
    'false',
    `Whether the policies of the developer decide alone while ${name} does not answer. Otherwise such requests are denied.`,
  );

export const policySettings = {
  POLICY_BACKEND: defaulted(
    oneOf('builtin', 'opa', 'cedar', 'cedar_bundles'),
    'builtin',
    'The decision point that is asked after the policies of the developer: none, Open Policy Agent, a Cedar agent, or Cedar in the service with the active bundle of the developer.',
  ),
  OPA_URL: optional(plainUrl, 'unset', 'The base URL of Open Policy Agent, without a trailing slash.'),
  OPA_PATH: defaulted(
    pathOf('behest/authz'),
    'behest/authz',
    'The path of the decision in the data of Open Policy Agent.',
  ),
  OPA_FALLBACK_TO_BUILTIN: fallback('Open Policy Agent'),
  CEDAR_URL: optional(plainUrl, 'unset', 'The base URL of a Cedar agent, without a trailing slash.'),
  CEDAR_FALLBACK_TO_BUILTIN: fallback('Cedar'),
};
