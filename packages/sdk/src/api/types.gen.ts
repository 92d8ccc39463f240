// Made from openapi.json by `npm run generate`.
import type { CallOptions, List } from './rows.ts';

export interface AuditEntry {
  entryId: string;
  id: string;
  seq: number;
  developerId: string;
  agentId: string | null;
  agentDid: string | null;
  grantId: string | null;
  principalId: string | null;
  action: string;
  status: "success" | "failure" | "blocked";
  metadata: { readonly [name: string]: unknown };
  purpose: string | null;
  timestamp: string;
  prevHash: string | null;
  hash: string;
  salt: string | null;
  source: "service" | "developer";
  requestId: string | null;
  erased?: true;
  /** The present name of the member who acted, or `Removed member`. It is beside the entry, and not hashed. Exports and keys that are bound to agents have none. */ actorName?: string;
  /** The address of that member, for members of the account. */ actorEmail?: string;
}

export interface Developer {
  developerId: string;
  id: string;
  name: string;
  email: string | null;
  emailVerified: boolean;
  mode: "live" | "sandbox";
  plan: "free" | "pro" | "enterprise";
  consentMode: "developer" | "email" | "sso" | "passkey";
  consentKeys: { readonly [name: string]: unknown }[];
  scopeDescriptions: { readonly [name: string]: string };
  redirectUris: string[];
  connectLoginUrl: string | null;
  enforceAgentScopes: boolean;
  maxDelegationDepth: number | null;
  auditPrivateKeys: string[];
  capsMode: "enforce" | "warn";
  policyAutoApproval: boolean;
  manifestPinning: "off" | "warn" | "enforce";
  reconsentAfterDays: number | null;
  reconsentOnAgentChange: boolean;
  fidoRequired: boolean;
  fourEyesAssurance: "dual" | "sso";
  relaxFourEyes: boolean;
  requireTwoForLoosening: boolean;
  fidoRpName: string | null;
  auditRetentionDays: number | null;
  stoppedAt: string | null;
  stopReason: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface Domain {
  id: string;
  domain: string;
  verified: boolean;
  status: "pending" | "verified" | "lapsed";
  verifiedAt: string | null;
  lastCheckedAt: string | null;
  createdAt: string;
  dnsRecord: {
    type: "TXT";
    name: string;
    value: string;
  };
  verificationToken?: string;
}

export interface Agent {
  agentId: string;
  id: string;
  did: string;
  developerId: string;
  name: string;
  description: string;
  scopes: string[];
  status: "active" | "suspended" | "revoked";
  publicKeyJwk: { readonly [name: string]: unknown } | null;
  origin: "api" | "cimd" | "dcr";
  clientId: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface ScimListUsersQuery {
  readonly attributes?: string | undefined;
  readonly excludedAttributes?: string | undefined;
  readonly filter?: string | undefined;
  readonly startIndex?: number | undefined;
  readonly count?: number | undefined;
  readonly cursor?: string | undefined;
  readonly sortBy?: string | undefined;
  readonly sortOrder?: string | undefined;
}

export interface ScimPage {
  schemas: string[];
  totalResults: number;
  startIndex?: number;
  itemsPerPage: number;
  nextCursor?: string;
  Resources: {
    schemas?: string[];
    id?: string;
    [member: string]: unknown;
  }[];
}

export interface ScimGetUserQuery {
  readonly attributes?: string | undefined;
  readonly excludedAttributes?: string | undefined;
}

export interface ScimResource {
  schemas?: string[];
  id?: string;
  [member: string]: unknown;
}

export interface Provider {
  id: string;
  providerId: string;
  service: string;
  name: string;
  kind: "oidc" | "oauth2" | "mcp";
  preset: string | null;
  issuer: string | null;
  mcpUrl: string | null;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  revocationEndpoint: string | null;
  userinfoEndpoint: string | null;
  parEndpoint: string | null;
  jwksUri: string | null;
  clientId: string;
  clientSource: "static" | "cimd" | "dcr";
  hasClientSecret: boolean;
  authMethod: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";
  scopes: {
    required: string[];
    optional: string[];
  };
  acceptPartial: boolean;
  pkce: "required" | "unsupported";
  authorizeParams: { readonly [name: string]: string };
  account: {
    source: "id_token" | "userinfo" | "token";
    id: string;
    label?: string;
  } | null;
  scopeSeparator: string;
  tokenPointers: { readonly [name: string]: unknown };
  tokenLifetimeSeconds: number | null;
  redirectUri: string;
  status: "active" | "paused" | "error";
  lastDiscoveredAt: string | null;
  lastError: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface SsoConnection {
  id: string;
  developerId: string;
  name: string;
  protocol: "oidc" | "saml" | "ldap";
  status: "active" | "inactive" | "testing";
  issuerUrl?: string;
  clientId?: string;
  redirectUris?: string[];
  idpEntityId?: string;
  idpSsoUrl?: string;
  spEntityId?: string;
  spAcsUrl?: string;
  idpCertificates?: {
    fingerprintSha256: string;
    notAfter: string;
  }[];
  ldapUrl?: string;
  ldapBindDn?: string;
  ldapSearchBase?: string;
  ldapSearchFilter?: string;
  ldapGroupSearchBase?: string | null;
  ldapGroupSearchFilter?: string;
  ldapTlsEnabled?: boolean;
  domains: string[];
  jitProvisioning: boolean;
  enforce: boolean;
  scimManaged: boolean;
  emailAttribute: string | null;
  nameAttribute: string | null;
  groupAttribute: string | null;
  groupMappings: { readonly [name: string]: string[] };
  defaultScopes: string[];
  /** Whether people come into the console of the account by this connection. Only an owner sets it, in a session of the console. */ consoleAccess: boolean;
  consoleGroupMappings: { readonly [name: string]: "admin" | "operator" | "auditor" };
  lastTestedAt: string | null;
  lastLoginAt: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface SsoHandleCallbackQuery {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

export interface SsoSession {
  sessionId: string;
  email: string | null;
  name: string | null;
  sub: string | null;
  /** The groups that the provider named at the login, and the SCIM groups of the user that `groupMappings` names. */ groups: string[];
  /** The scopes of these groups by `groupMappings` as they are now, else `defaultScopes`. */ mappedScopes: string[];
  principalId: string | null;
  developerId: string;
  expiresAt: string;
}

export interface StoredManifest {
  connector: string;
  version: string;
  sha256: string;
  pins: {
    sha256: string;
    wider: string[];
  }[];
  manifest: { readonly [name: string]: unknown };
  createdAt: string;
  updatedAt: string;
}

export interface Grant {
  grantId: string;
  id: string;
  agentId: string;
  agentDid: string;
  principalId: string;
  developerId: string;
  scopes: string[];
  status: "active" | "revoked" | "expired";
  agentStatus: "active" | "suspended" | "revoked";
  issuedAt: string;
  expiresAt: string;
  revokedAt?: string;
  revokedReason?: string;
  parentGrantId?: string;
  parentTokenId?: string;
  rootGrantId: string;
  delegationDepth: number;
  audience?: string;
  purpose?: string;
  authorizationDetails?: unknown[];
  manifests?: {
    connector: string;
    version: string;
    sha256: string;
  }[];
  budget?: {
    amount: string;
    remaining: string;
    currency: string;
  };
  consentMethod: string;
  policyId?: string;
  unverified?: true;
  authRequestId?: string;
  lastUsedAt: string | null;
  sandbox?: true;
}

export interface Policy {
  id: string;
  name: string;
  effect: "deny" | "require_approval" | "allow";
  priority: number;
  agentId: string | null;
  principalId: string | null;
  scopes: string[] | null;
  timeOfDayStart: string | null;
  timeOfDayEnd: string | null;
  timeZone: string | null;
  daysOfWeek: string[] | null;
  purposes: string[] | null;
  networks: string[] | null;
  delegationDepthMin: number | null;
  delegationDepthMax: number | null;
  connector: string | null;
  tools: string[] | null;
  arguments: { readonly [name: string]: unknown } | null;
  version: number;
  createdAt: string;
  updatedAt: string;
}

export interface AuthorizationRequest {
  authRequestId: string;
  id: string;
  agentId: string;
  principalId: string;
  scopes: string[];
  expiresIn: string;
  status: "pending" | "approved" | "denied" | "cancelled" | "consumed" | "expired";
  createdAt: string;
  expiresAt: string;
  redirectUri?: string;
  state?: string;
  audience?: string;
  purpose?: string;
  authorizationDetails?: unknown[];
  budget?: {
    amount: string;
    currency: string;
  };
  replacesGrantId?: string;
  channel?: "device" | "ciba";
  sandbox?: true;
  decidedAt?: string;
}

export interface VaultCredential {
  id: string;
  principalId: string;
  service: string;
  credentialType: string;
  tokenExpiresAt: string | null;
  metadata: { readonly [name: string]: unknown };
  createdAt: string;
  updatedAt: string;
  hasRefreshToken: boolean;
  refreshStatus: "none" | "ok" | "failed";
  proxy: {
    upstreams?: string[];
    rules?: {
      id: string;
      methods: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE")[];
      upstream?: string;
      path: string;
      query?: string[] | null;
      tool?: {
        connector: string;
        tool: string;
        resource?: string;
        amount?: string;
        body?: "json" | "stream" | "none";
      };
      range?: boolean;
      unmapped?: true;
    }[];
    only?: boolean;
    frozen: {
      origins: string[];
      exchange: "allowed" | "proxy_only";
    };
  } | null;
  lastExchangedAt: string | null;
  keyId: string;
  connection: {
    providerId: string;
    account: {
      id: string;
      label: string | null;
    } | null;
    scopesAsked: string[];
    scopesGranted: string[];
    missingScopes: string[];
    status: "connected" | "reauthorization_required";
    reason: string | null;
    connectedAt: string;
    method: string;
    refreshTokenExpiresAt: string | null;
  } | null;
}

export interface Budget {
  id: string;
  grantId: string;
  agentId: string;
  developerId: string;
  initialBudget: string;
  remainingBudget: string;
  spent: string;
  currency: string;
  status: "active" | "exhausted" | "closed";
  createdAt: string;
  updatedAt: string;
}

export interface VerifiableCredential {
  id: string;
  grantId: string;
  developerId: string;
  principalId: string;
  agentDid: string;
  credentialType: string;
  format: "vc-jwt" | "sd-jwt" | "agent-passport";
  credential: string;
  credentialJwt: string;
  status: "active" | "revoked" | "expired";
  statusListIdx: number;
  statusListId: string;
  issuedAt: string;
  expiresAt: string;
  revokedAt: string | null;
}

export interface TokensExchangeInput {
  readonly code: string;
  readonly agentId: string;
  readonly codeVerifier?: string | undefined;
  readonly redirectUri?: string | undefined;
  readonly credentialFormat?: "jwt" | "vc-jwt" | "sd-jwt" | "both" | undefined;
}

export interface TokenSet {
  grantToken: string;
  tokenType: "Bearer";
  expiresAt: string;
  refreshToken: string;
  refreshExpiresAt: string;
  grantId: string;
  grantExpiresAt: string;
  agentId: string;
  principalId: string;
  scopes: string[];
  audience?: string;
  purpose?: string;
  authorizationDetails?: unknown[];
  budget?: {
    amount?: string;
    remaining: string;
    currency: string;
  };
  sandbox?: true;
  verifiableCredential?: string;
  sdJwtCredential?: string;
}

export interface Webhook {
  webhookId: string;
  id: string;
  url: string;
  events: string[];
  format: "envelope" | "ocsf";
  status: "active" | "disabled";
  description: string;
  createdAt: string;
  updatedAt: string;
  lastDeliveryAt: string | null;
  secretRotatedAt: string | null;
  previousSecretExpiresAt: string | null;
}

export interface AnomalyAlert {
  alertId: string;
  ruleId: string;
  ruleName: string;
  severity: "low" | "medium" | "high" | "critical";
  status: "open" | "acknowledged" | "resolved";
  agentId: string | null;
  principalId: string | null;
  grantId: string | null;
  detectedAt: string;
  lastSeenAt: string;
  occurrences: number;
  description: string;
  context: { readonly [name: string]: unknown };
  acknowledgedAt: string | null;
  resolvedAt: string | null;
  note: string | null;
}

export interface EntriesListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface EntriesListItem {
  id: string;
  seq: number;
  developerId: "operator";
  action: string;
  metadata: { readonly [name: string]: unknown };
  status: "success";
  requestId: string;
  timestamp: string;
  prevHash: string | null;
  hash: string;
}

export interface EntriesListAnswer {
  entries: EntriesListItem[];
  nextCursor: string | null;
}

export interface SigningKeysListAnswer {
  store: "env" | "postgres";
  keys: {
    kid: string;
    alg: "RS256" | "ES256";
    state: "pending" | "active" | "retired" | "removed";
    /** Whether it signs new tokens now. */ isSigning: boolean;
    publishedAt: string | null;
    /** The end of the activation delay. A key signs only after it. */ signsFrom: string | null;
    activatedAt: string | null;
    retiredAt: string | null;
    removedAt: string | null;
  }[];
}

export interface SigningKeysRotateInput {
  readonly alg?: "RS256" | "ES256" | undefined;
}

export interface SigningKeysRotateAnswer {
  kid: string;
  alg: "RS256" | "ES256";
  state: "pending" | "active" | "retired" | "removed";
  /** Whether it signs new tokens now. */ isSigning: boolean;
  publishedAt: string | null;
  /** The end of the activation delay. A key signs only after it. */ signsFrom: string | null;
  activatedAt: string | null;
  retiredAt: string | null;
  removedAt: string | null;
}

export interface UsageCurrentAnswer {
  developerId: string;
  period: string;
  tokenExchanges: number;
  authorizations: number;
  verifications: number;
  totalRequests: number;
  plan: "free" | "pro" | "enterprise";
  limits: {
    tokenExchangesPerMonth: number | null;
    authorizationsPerMonth: number | null;
  };
  month: {
    period: string;
    tokenExchanges: number;
    authorizations: number;
    verifications: number;
    totalRequests: number;
  };
}

export interface UsageHistoryQuery {
  readonly days?: number | undefined;
}

export interface UsageHistoryAnswer {
  developerId: string;
  days: number;
  entries: {
    date: string;
    tokenExchanges: number;
    authorizations: number;
    verifications: number;
    totalRequests: number;
    /** Calls through the vault proxy that an upstream answered, whatever its status; outside `totalRequests`. In every entry of an answer whose days have such a call, and in none of another. */ proxyCalls?: number;
  }[];
}

export interface RequestsListQuery {
  readonly code?: string | undefined;
  readonly operationId?: string | undefined;
  readonly status?: number | undefined;
  readonly keyId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface RequestsListItem {
  id: string;
  requestId: string;
  at: string;
  operationId: string;
  method: string;
  /** The pattern of the path, without ids and query. */ route: string;
  status: number;
  code: string;
  subReason: string | null;
  /** The agent that the body or the path named, if any. */ agentId: string | null;
  keyId: string | null;
  durationMs: number;
}

export interface RequestsListAnswer {
  requests: RequestsListItem[];
  nextCursor: string | null;
  /** Whether some requests of the 72 hours are only counted, because a flood has no row for each. */ truncated: boolean;
}

export interface RequestsGroupsAnswer {
  since: string;
  /** The most frequent first, at most 200. */ groups: {
    code: string;
    operationId: string;
    count: number;
    lastAt: string;
    lastRequestId: string;
  }[];
  /** Whether some requests of the 72 hours are only counted, because a flood has no row for each. */ truncated: boolean;
}

export interface InsightsSeriesQuery {
  readonly metric: "verifications" | "denials" | "grants" | "revocations" | "decisions";
  readonly from: string;
  readonly to: string;
  readonly step?: "hour" | "day" | undefined;
}

export interface InsightsSeriesAnswer {
  metric: "verifications" | "denials" | "grants" | "revocations" | "decisions";
  step: "hour" | "day";
  from: string;
  to: string;
  /** One for each hour or day (UTC), oldest first. */ points: {
    at: string;
    /** Null where nothing was counted: before counting began or the counts were deleted, and in the future. */ count: number | null;
  }[];
  total: number;
  /** Whether each point has a count. */ complete: boolean;
}

export interface InsightsDenialsQuery {
  readonly from: string;
  readonly to: string;
}

export interface InsightsDenialsAnswer {
  from: string;
  to: string;
  /** The most frequent first. */ groups: {
    /** `<reason_code>`, or `<reason_code>/<sub_reason>`. */ reason: string;
    count: number;
  }[];
  /** Also the denials that were counted before their reasons were. */ total: number;
}

export interface EventsListQuery {
  readonly types?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface EventsListItem {
  id: string;
  type: string;
  createdAt: string;
  timestamp: string;
  developerId: string;
  specVersion: string;
  sandbox?: boolean;
  data: { readonly [name: string]: unknown };
}

export interface EventsListAnswer {
  events: EventsListItem[];
  nextCursor: string | null;
}

export interface EventsStreamQuery {
  readonly types?: string | undefined;
  readonly lastEventId?: string | undefined;
  readonly format?: "sse" | "ndjson" | "ocsf" | undefined;
  /** Counts the stream among those of verifiers, of which an account may have 50. */ readonly for?: "verifier" | undefined;
}

export interface AuditLogInput {
  readonly agentId: string;
  readonly agentDid: string;
  readonly grantId: string;
  readonly principalId: string;
  readonly action: string;
  readonly status?: "success" | "failure" | "blocked" | undefined;
  readonly metadata?: { readonly [name: string]: unknown } | undefined;
}

export interface AuditListQuery {
  readonly agentId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly principalId?: string | undefined;
  readonly action?: string | undefined;
  readonly status?: "success" | "failure" | "blocked" | undefined;
  readonly purpose?: string | undefined;
  readonly actor?: string | undefined;
  readonly requestId?: string | undefined;
  readonly denial?: "token_invalid" | "token_invalid/malformed_authorization_details" | "grant_revoked/revoked" | "grant_revoked/suspended" | "grant_revoked/parent_revoked" | "grant_revoked/status_unavailable" | "manifest_unknown_tool/unknown_connector" | "manifest_unknown_tool/unknown_tool" | "manifest_unknown_tool/manifest_changed" | "manifest_unknown_tool/tool_changed" | "manifest_unknown_tool/tool_ambiguous" | "tool_not_granted" | "tool_not_granted/not_in_authorization_details" | "tool_not_granted/argument_unreadable" | "tool_not_granted/policy_denied" | "tool_not_granted/tool_scope_missing" | "permission_insufficient" | "region_mismatch" | "purpose_not_allowed/missing" | "purpose_not_allowed/unknown_purpose" | "purpose_not_allowed/not_matched" | "decision_required" | "decision_required/malformed" | "decision_required/unknown_grant" | "decision_required/wrong_agent" | "decision_required/wrong_case" | "decision_required/case_changed" | "decision_required/action_mismatch" | "decision_required/expired" | "decision_required/four_eyes_incomplete" | "decision_required/same_approver" | "decision_required/spliced" | "decision_required/consumed" | "decision_required/revoked" | "decision_required/consume_unavailable" | "case_required" | "cap_exceeded/limit_reached" | "cap_exceeded/meter_unavailable" | "cap_exceeded/invalid_case_id" | "cap_exceeded/invalid_cost_component" | "cap_exceeded/amount_missing" | "cap_exceeded/invalid_amount" | "cap_exceeded/malformed_cap" | "cap_exceeded/amount_cap" | "tool_not_granted/argument_missing" | "tool_not_granted/argument_not_allowed" | undefined;
  readonly source?: "service" | "developer" | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface AuditListAnswer {
  entries: AuditEntry[];
  nextCursor: string | null;
}

export interface AuditHeadAnswer {
  seq: number;
  hash: string | null;
  timestamp: string | null;
  checkpoint: string | null;
}

export interface AuditVerifyQuery {
  readonly fromSeq?: number | undefined;
  readonly toSeq?: number | undefined;
}

export interface AuditVerifyAnswer {
  valid: boolean;
  checkedEntries: number;
  firstBrokenAt: string | null;
  problem: string | null;
  erasedEntries: number;
  fromSeq: number;
  toSeq: number;
  head: {
    seq: number;
    hash: string | null;
  };
  checkpoint: string | null;
  checkpointVerified: boolean | null;
}

export interface TransparencyGetAnswer {
  logId: string;
  /** The name of the log, with which each note begins */ origin: string;
  /** Everybody reads the note and the tiles below this address */ url: string;
  vkey: string | null;
  treeSize: number;
  /** SHA-256, in base64 with padding */ rootHash: string;
  signedAt: string | null;
  note: string | null;
  mergeDelaySeconds: number;
  halted: string | null;
  witnesses: {
    name: string;
    /** The size that the witness confirmed last */ treeSize: number;
    cosignedAt: string | null;
    error: string | null;
  }[];
}

export interface TransparencyInclusionQuery {
  readonly entryId?: string | undefined;
  readonly seq?: number | undefined;
  readonly treeSize?: number | undefined;
}

export interface TransparencyInclusionAnswer {
  entryId: string;
  seq: number;
  leafIndex: number;
  treeSize: number;
  /** SHA-256, in base64 with padding */ rootHash: string;
  /** SHA-256, in base64 with padding */ leafHash: string;
  hash: string;
  parts: string[];
  proof: string[];
  note: string | null;
}

export interface TransparencyConsistencyQuery {
  readonly from: number;
  readonly to?: number | undefined;
}

export interface TransparencyConsistencyAnswer {
  from: number;
  to: number;
  /** SHA-256, in base64 with padding */ fromRoot: string;
  /** SHA-256, in base64 with padding */ toRoot: string;
  proof: string[];
}

export interface TransparencyRestartAnswer {
  oldOrigin: string;
  oldSize: number;
  /** SHA-256, in base64 with padding */ oldRoot: string;
  newOrigin: string;
}

export interface SignupInput {
  readonly name: string;
  readonly email?: string | null | undefined;
  readonly mode?: "live" | "sandbox" | undefined;
}

export interface SignupAnswer {
  developerId: string;
  id: string;
  name: string;
  email: string | null;
  emailVerified: boolean;
  mode: "live" | "sandbox";
  plan: "free" | "pro" | "enterprise";
  consentMode: "developer" | "email" | "sso" | "passkey";
  consentKeys: { readonly [name: string]: unknown }[];
  scopeDescriptions: { readonly [name: string]: string };
  redirectUris: string[];
  connectLoginUrl: string | null;
  enforceAgentScopes: boolean;
  maxDelegationDepth: number | null;
  auditPrivateKeys: string[];
  capsMode: "enforce" | "warn";
  policyAutoApproval: boolean;
  manifestPinning: "off" | "warn" | "enforce";
  reconsentAfterDays: number | null;
  reconsentOnAgentChange: boolean;
  fidoRequired: boolean;
  fourEyesAssurance: "dual" | "sso";
  relaxFourEyes: boolean;
  requireTwoForLoosening: boolean;
  fidoRpName: string | null;
  auditRetentionDays: number | null;
  stoppedAt: string | null;
  stopReason: string | null;
  createdAt: string;
  updatedAt: string;
  apiKey: string;
  keyId: string;
}

export interface UpdateSettingsInput {
  readonly name?: string | undefined;
  readonly consentMode?: "developer" | "email" | "sso" | "passkey" | undefined;
  readonly consentKeys?: readonly ({
    readonly kty: "RSA";
    readonly n: string;
    readonly e: string;
    readonly alg?: "RS256" | undefined;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly key_ops?: readonly "verify"[] | undefined;
    readonly ext?: boolean | undefined;
  } | {
    readonly kty: "EC";
    readonly crv: "P-256";
    readonly x: string;
    readonly y: string;
    readonly alg?: "ES256" | undefined;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly key_ops?: readonly "verify"[] | undefined;
    readonly ext?: boolean | undefined;
  })[] | undefined;
  readonly scopeDescriptions?: { readonly [name: string]: string } | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly connectLoginUrl?: string | null | undefined;
  readonly enforceAgentScopes?: boolean | undefined;
  readonly maxDelegationDepth?: number | null | undefined;
  readonly auditPrivateKeys?: readonly string[] | undefined;
  readonly capsMode?: "enforce" | "warn" | undefined;
  readonly policyAutoApproval?: boolean | undefined;
  readonly manifestPinning?: "off" | "warn" | "enforce" | undefined;
  readonly reconsentAfterDays?: number | null | undefined;
  readonly reconsentOnAgentChange?: boolean | undefined;
  readonly fidoRequired?: boolean | undefined;
  readonly fidoRpName?: string | null | undefined;
  readonly fourEyesAssurance?: "dual" | "sso" | undefined;
  readonly relaxFourEyes?: boolean | undefined;
  readonly requireTwoForLoosening?: boolean | undefined;
  readonly auditRetentionDays?: number | null | undefined;
}

export interface UpdateSettingsAnswer {
  developerId: string;
  id: string;
  name: string;
  email: string | null;
  emailVerified: boolean;
  mode: "live" | "sandbox";
  plan: "free" | "pro" | "enterprise";
  consentMode: "developer" | "email" | "sso" | "passkey";
  consentKeys: { readonly [name: string]: unknown }[];
  scopeDescriptions: { readonly [name: string]: string };
  redirectUris: string[];
  connectLoginUrl: string | null;
  enforceAgentScopes: boolean;
  maxDelegationDepth: number | null;
  auditPrivateKeys: string[];
  capsMode: "enforce" | "warn";
  policyAutoApproval: boolean;
  manifestPinning: "off" | "warn" | "enforce";
  reconsentAfterDays: number | null;
  reconsentOnAgentChange: boolean;
  fidoRequired: boolean;
  fourEyesAssurance: "dual" | "sso";
  relaxFourEyes: boolean;
  requireTwoForLoosening: boolean;
  fidoRpName: string | null;
  auditRetentionDays: number | null;
  stoppedAt: string | null;
  stopReason: string | null;
  createdAt: string;
  updatedAt: string;
  updated: true;
}

export interface DevelopersBrandingAnswer {
  name: string;
  accentColor: string | null;
  logoUrl: string | null;
}

export interface DevelopersChangeBrandingInput {
  /** The colour of the button that a person presses, as `#rrggbb`. White text on it needs a contrast of 4.5 : 1. Null for that of the service. */ readonly accentColor?: string | null | undefined;
  /** A PNG in base64, of at most 256 KiB and 1024 pixels a side, not interlaced. The service re-encodes it with at most 128 pixels a side. Null removes it. */ readonly logo?: string | null | undefined;
}

export interface DevelopersPreviewBrandingAnswer {
  /** A document that is whole in itself, for the `srcdoc` of a frame with an empty `sandbox`. It runs no script and nothing can be decided on it. */ html: string;
}

export interface DevelopersStopInput {
  readonly reason?: string | undefined;
}

export interface DevelopersStopAnswer {
  stoppedAt: string | null;
  stopReason: string | null;
}

export interface DevelopersCloseInput {
  readonly confirm: string;
}

export interface DevelopersCloseAnswer {
  closedAt: string;
  erasedAfter: string;
}

export interface KeysListItem {
  id: string;
  keyId: string;
  name: string;
  role: "full" | "runtime";
  prefix: string;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  status: "active" | "expiring" | "expired" | "revoked";
  agentIds: string[] | null;
  current?: boolean;
}

export interface KeysListAnswer {
  keys: KeysListItem[];
  nextCursor: string | null;
}

export interface KeysCreateInput {
  readonly name: string;
  readonly role?: "full" | "runtime" | undefined;
  readonly expiresIn?: string | undefined;
  readonly agentIds?: readonly string[] | null | undefined;
}

export interface KeysCreateAnswer {
  id: string;
  keyId: string;
  name: string;
  role: "full" | "runtime";
  prefix: string;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  status: "active" | "expiring" | "expired" | "revoked";
  agentIds: string[] | null;
  apiKey: string;
}

export interface KeysRotateInput {
  readonly name?: string | undefined;
  readonly graceSeconds?: number | undefined;
}

export interface KeysRotateAnswer {
  apiKey: string;
  keyId: string;
  rotatedAt: string;
  previousKeyExpiresAt: string;
}

export interface StatsAnswer {
  totalDevelopers: number;
  last24h: number;
  last7d: number;
  last30d: number;
  byMode: {
    live: number;
    sandbox: number;
  };
  totalAgents: number;
  totalGrants: number;
}

export interface DevelopersListItem {
  id: string;
  name: string;
  email: string | null;
  mode: "live" | "sandbox";
  createdAt: string;
}

export interface DevelopersListAnswer {
  developers: DevelopersListItem[];
  nextCursor: string | null;
}

export interface DevelopersSetPlanInput {
  readonly plan: "free" | "pro" | "enterprise";
}

export interface DevelopersSetPlanAnswer {
  developerId: string;
  plan: "free" | "pro" | "enterprise";
}

export interface EmailsSendLinkInput {
  readonly email: string;
}

export interface EmailsSendLinkAnswer {
  message: string;
  expiresAt: string;
}

export interface DomainsCreateInput {
  readonly domain: string;
}

export interface DomainsCreateAnswer {
  id: string;
  domain: string;
  verified: boolean;
  status: "pending" | "verified" | "lapsed";
  verifiedAt: string | null;
  lastCheckedAt: string | null;
  createdAt: string;
  dnsRecord: {
    type: "TXT";
    name: string;
    value: string;
  };
  verificationToken?: string;
  instructions: string;
}

export interface DomainsListAnswer {
  domains: Domain[];
  nextCursor: string | null;
}

export interface DomainsVerifyAnswer {
  verified: true;
  message: string;
}

export interface AgentsRegisterInput {
  readonly name: string;
  readonly description?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly publicKeyJwk?: {
    readonly kty: "RSA";
    readonly n: string;
    readonly e: string;
    readonly alg?: "RS256" | undefined;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly key_ops?: readonly "verify"[] | undefined;
    readonly ext?: boolean | undefined;
  } | {
    readonly kty: "EC";
    readonly crv: "P-256";
    readonly x: string;
    readonly y: string;
    readonly alg?: "ES256" | undefined;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly key_ops?: readonly "verify"[] | undefined;
    readonly ext?: boolean | undefined;
  } | {
    readonly kty: "OKP";
    readonly crv: "Ed25519";
    readonly x: string;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly alg?: "EdDSA" | "Ed25519" | undefined;
  } | undefined;
}

export interface AgentsListQuery {
  readonly status?: "active" | "suspended" | "revoked" | undefined;
  readonly name?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface AgentsListAnswer {
  agents: Agent[];
  nextCursor: string | null;
}

export interface AgentsUpdateInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly status?: "active" | "suspended" | undefined;
  readonly publicKeyJwk?: {
    readonly kty: "RSA";
    readonly n: string;
    readonly e: string;
    readonly alg?: "RS256" | undefined;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly key_ops?: readonly "verify"[] | undefined;
    readonly ext?: boolean | undefined;
  } | {
    readonly kty: "EC";
    readonly crv: "P-256";
    readonly x: string;
    readonly y: string;
    readonly alg?: "ES256" | undefined;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly key_ops?: readonly "verify"[] | undefined;
    readonly ext?: boolean | undefined;
  } | {
    readonly kty: "OKP";
    readonly crv: "Ed25519";
    readonly x: string;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly alg?: "EdDSA" | "Ed25519" | undefined;
  } | null | undefined;
}

export interface ScimCreateTokenInput {
  readonly label: string;
  readonly expiresAt?: string | undefined;
}

export interface ScimCreateTokenAnswer {
  id: string;
  label: string;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  token: string;
}

export interface ScimListTokensItem {
  id: string;
  label: string;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
}

export interface ScimListTokensAnswer {
  tokens: ScimListTokensItem[];
  nextCursor: string | null;
}

export interface ScimSearchUsersAnswer {
  schemas: string[];
  totalResults: number;
  startIndex?: number;
  itemsPerPage: number;
  nextCursor?: string;
  Resources: ScimResource[];
}

export interface ScimBulkAnswer {
  schemas: string[];
  Operations: {
    method: string;
    bulkId?: string;
    location?: string;
    version?: string;
    status: string;
    response?: ScimResource;
  }[];
}

export interface ScimListResourceTypesQuery {
  readonly filter?: string | undefined;
}

export interface ProvidersAddInput {
  readonly service: string;
  readonly name?: string | undefined;
  readonly kind?: "oidc" | "oauth2" | "mcp" | undefined;
  readonly preset?: string | null | undefined;
  readonly issuer?: string | null | undefined;
  readonly mcpUrl?: string | null | undefined;
  readonly authorizationEndpoint?: string | null | undefined;
  readonly tokenEndpoint?: string | null | undefined;
  readonly revocationEndpoint?: string | null | undefined;
  readonly userinfoEndpoint?: string | null | undefined;
  readonly clientId?: string | null | undefined;
  readonly clientSecret?: string | undefined;
  readonly authMethod?: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none" | undefined;
  readonly scopes?: {
    readonly required?: readonly string[] | undefined;
    readonly optional?: readonly string[] | undefined;
  } | undefined;
  readonly acceptPartial?: boolean | undefined;
  readonly pkce?: "required" | "unsupported" | undefined;
  readonly authorizeParams?: { readonly [name: string]: string } | undefined;
  readonly account?: {
    readonly source: "id_token" | "userinfo" | "token";
    readonly id: string;
    readonly label?: string | undefined;
  } | null | undefined;
  readonly scopeSeparator?: " " | "," | undefined;
  readonly tokenLifetimeSeconds?: number | null | undefined;
  readonly tokenPointers?: {
    readonly accessToken?: string | undefined;
    readonly refreshToken?: string | undefined;
    readonly expiresIn?: string | undefined;
    readonly scope?: string | undefined;
  } | undefined;
}

export interface ProvidersListAnswer {
  providers: Provider[];
  nextCursor: string | null;
}

export interface ProvidersPresetsAnswer {
  presets: {
    preset: string;
    name: string;
    kind: "oidc" | "oauth2" | "mcp";
    open: string[];
  }[];
}

export interface ProvidersChangeInput {
  readonly name?: string | undefined;
  readonly status?: "active" | "paused" | undefined;
  readonly issuer?: string | null | undefined;
  readonly mcpUrl?: string | null | undefined;
  readonly authorizationEndpoint?: string | null | undefined;
  readonly tokenEndpoint?: string | null | undefined;
  readonly revocationEndpoint?: string | null | undefined;
  readonly userinfoEndpoint?: string | null | undefined;
  readonly clientId?: string | null | undefined;
  readonly clientSecret?: string | undefined;
  readonly authMethod?: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none" | undefined;
  readonly scopes?: {
    readonly required?: readonly string[] | undefined;
    readonly optional?: readonly string[] | undefined;
  } | undefined;
  readonly acceptPartial?: boolean | undefined;
  readonly pkce?: "required" | "unsupported" | undefined;
  readonly authorizeParams?: { readonly [name: string]: string } | undefined;
  readonly account?: {
    readonly source: "id_token" | "userinfo" | "token";
    readonly id: string;
    readonly label?: string | undefined;
  } | null | undefined;
  readonly scopeSeparator?: " " | "," | undefined;
  readonly tokenLifetimeSeconds?: number | null | undefined;
  readonly tokenPointers?: {
    readonly accessToken?: string | undefined;
    readonly refreshToken?: string | undefined;
    readonly expiresIn?: string | undefined;
    readonly scope?: string | undefined;
  } | undefined;
}

export interface SsoCreateConnectionInput {
  readonly name: string;
  readonly protocol: "oidc" | "saml" | "ldap";
  readonly status?: "active" | "inactive" | "testing" | undefined;
  readonly issuerUrl?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly redirectUris?: readonly string[] | null | undefined;
  readonly idpEntityId?: string | undefined;
  readonly idpSsoUrl?: string | undefined;
  readonly spEntityId?: string | undefined;
  readonly spAcsUrl?: string | undefined;
  readonly idpCertificate?: string | readonly string[] | undefined;
  readonly ldapUrl?: string | undefined;
  readonly ldapBindDn?: string | undefined;
  readonly ldapSearchBase?: string | undefined;
  readonly ldapBindPassword?: string | undefined;
  readonly ldapSearchFilter?: string | undefined;
  readonly ldapGroupSearchBase?: string | null | undefined;
  readonly ldapGroupSearchFilter?: string | undefined;
  readonly ldapTlsEnabled?: boolean | undefined;
  readonly domains?: readonly string[] | null | undefined;
  readonly jitProvisioning?: boolean | undefined;
  readonly enforce?: boolean | undefined;
  readonly scimManaged?: boolean | undefined;
  readonly emailAttribute?: string | null | undefined;
  readonly nameAttribute?: string | null | undefined;
  readonly groupAttribute?: string | null | undefined;
  readonly groupMappings?: { readonly [name: string]: readonly string[] } | null | undefined;
  readonly defaultScopes?: readonly string[] | null | undefined;
  readonly consoleAccess?: boolean | undefined;
  readonly consoleGroupMappings?: { readonly [name: string]: "admin" | "operator" | "auditor" } | null | undefined;
}

export interface SsoListConnectionsAnswer {
  connections: SsoConnection[];
  nextCursor: string | null;
}

export interface SsoUpdateConnectionInput {
  readonly name?: string | undefined;
  readonly protocol?: "oidc" | "saml" | "ldap" | undefined;
  readonly status?: "active" | "inactive" | "testing" | undefined;
  readonly issuerUrl?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly redirectUris?: readonly string[] | null | undefined;
  readonly idpEntityId?: string | undefined;
  readonly idpSsoUrl?: string | undefined;
  readonly spEntityId?: string | undefined;
  readonly spAcsUrl?: string | undefined;
  readonly idpCertificate?: string | readonly string[] | undefined;
  readonly ldapUrl?: string | undefined;
  readonly ldapBindDn?: string | undefined;
  readonly ldapSearchBase?: string | undefined;
  readonly ldapBindPassword?: string | undefined;
  readonly ldapSearchFilter?: string | undefined;
  readonly ldapGroupSearchBase?: string | null | undefined;
  readonly ldapGroupSearchFilter?: string | undefined;
  readonly ldapTlsEnabled?: boolean | undefined;
  readonly domains?: readonly string[] | null | undefined;
  readonly jitProvisioning?: boolean | undefined;
  readonly enforce?: boolean | undefined;
  readonly scimManaged?: boolean | undefined;
  readonly emailAttribute?: string | null | undefined;
  readonly nameAttribute?: string | null | undefined;
  readonly groupAttribute?: string | null | undefined;
  readonly groupMappings?: { readonly [name: string]: readonly string[] } | null | undefined;
  readonly defaultScopes?: readonly string[] | null | undefined;
  readonly consoleAccess?: boolean | undefined;
  readonly consoleGroupMappings?: { readonly [name: string]: "admin" | "operator" | "auditor" } | null | undefined;
}

export interface SsoTestConnectionAnswer {
  success: boolean;
  protocol: "oidc" | "saml" | "ldap";
  issuer?: string;
  authorizationEndpoint?: string;
  tokenEndpoint?: string;
  jwksUri?: string;
  idpEntityId?: string;
  idpSsoUrl?: string;
  certificateExpiresAt?: string;
  bind?: boolean;
  searchBase?: string;
  /** The category of the failure, for programs. */ error?: string;
  /** Says to an administrator which part failed, and how to repair it. */ message?: string;
}

export interface SsoReadMetadataInput {
  readonly metadataUrl?: string | undefined;
  /** At most `SSO_METADATA_LIMIT_BYTES`. */ readonly metadata?: string | undefined;
}

export interface SsoReadMetadataAnswer {
  idpEntityId: string;
  idpSsoUrl: string;
  /** The certificates that may sign, as PEM. */ idpCertificate: string[];
}

export interface SsoListIdentitiesQuery {
  readonly principalId: string;
}

export interface SsoListIdentitiesAnswer {
  identities: {
    connectionId: string;
    /** The issuer, the entity id or the directory. */ provider: string;
    /** The person at the provider: `<issuer>|<sub>`, `<format>|<NameID>`, or the id of the directory’s entry. */ subject: string;
    userId: string;
    principalId: string;
    createdAt: string;
  }[];
}

export interface SsoMoveIdentityInput {
  readonly principalId: string;
  readonly subject: string;
}

export interface SsoMoveIdentityAnswer {
  connectionId: string;
  /** The issuer, the entity id or the directory. */ provider: string;
  /** The person at the provider: `<issuer>|<sub>`, `<format>|<NameID>`, or the id of the directory’s entry. */ subject: string;
  userId: string;
  principalId: string;
  createdAt: string;
}

export interface SsoSetEnforcementInput {
  readonly enforce: boolean;
}

export interface SsoSetEnforcementAnswer {
  enforce: boolean;
  developerId: string;
}

export interface SsoCreateConfigInput {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

export interface SsoCreateConfigAnswer {
  issuerUrl: string;
  clientId: string;
  redirectUri: string;
  createdAt: string;
  updatedAt: string;
}

export interface SsoListSessionsQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly connectionId?: string | undefined;
  readonly principalId?: string | undefined;
}

export interface SsoListSessionsItem {
  id: string;
  connectionId: string;
  principalId: string | null;
  email: string | null;
  name: string | null;
  idpSubject: string;
  /** The groups that the provider named at the login, and the SCIM groups of the user that `groupMappings` names. */ groups: string[];
  /** The scopes of these groups by `groupMappings` as they are now, else `defaultScopes`. */ mappedScopes: string[];
  expiresAt: string;
  createdAt: string;
}

export interface SsoListSessionsAnswer {
  sessions: SsoListSessionsItem[];
  nextCursor: string | null;
}

export interface SsoGetLoginUrlQuery {
  readonly org: string;
  readonly domain?: string | undefined;
  readonly connection?: string | undefined;
  readonly redirect_uri?: string | undefined;
  readonly return_to?: string | undefined;
  readonly login_hint?: string | undefined;
  readonly mode?: "json" | "redirect" | undefined;
  readonly prompt?: "login" | undefined;
  readonly max_age?: number | undefined;
  readonly ui_locales?: string | undefined;
}

export interface SsoGetLoginUrlAnswer {
  authorizeUrl: string;
  protocol: "oidc" | "saml" | "ldap";
  connectionId: string;
  message?: string;
}

export interface SsoCallbackFormInput {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
  readonly [member: string]: unknown;
}

export interface SsoHandleOidcCallbackInput {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly redirect_uri?: string | undefined;
  readonly iss?: string | undefined;
  readonly [member: string]: unknown;
}

export interface SsoHandleSamlCallbackInput {
  readonly SAMLResponse: string;
  readonly RelayState: string;
  readonly [member: string]: unknown;
}

export interface SsoHandleLdapCallbackInput {
  readonly username: string;
  readonly password: string;
  readonly connectionId: string;
  readonly org: string;
  readonly [member: string]: unknown;
}

export interface DidsResolveAnswer {
  /** Null when the DID is deactivated. */ didDocument: { readonly [name: string]: unknown } | null;
  didResolutionMetadata: {
    contentType: "application/did+json";
  };
  didDocumentMetadata: {
    created?: string;
    updated?: string;
    deactivated: boolean;
    /** The signing keys of the service, oldest first, when the database holds them. */ keyHistory?: {
      kid: string;
      alg: "RS256" | "ES256";
      publishedAt: string;
      activatedAt: string | null;
      retiredAt: string | null;
    }[];
  };
}

export interface ManifestsPutAnswer {
  connector: string;
  version: string;
  sha256: string;
  pins: {
    sha256: string;
    wider: string[];
  }[];
  manifest: { readonly [name: string]: unknown };
  createdAt: string;
  updatedAt: string;
  warnings: {
    code: "similar_connector";
    connector: string;
  }[];
}

export interface ManifestsListItem {
  connector: string;
  version: string;
  sha256: string;
  updatedAt: string;
}

export interface ManifestsListAnswer {
  manifests: ManifestsListItem[];
  nextCursor: string | null;
}

export interface ManifestsVersionsItem {
  revision: number;
  version: string;
  sha256: string;
  actor: string | null;
  createdAt: string;
  manifest: { readonly [name: string]: unknown };
}

export interface ManifestsVersionsAnswer {
  versions: ManifestsVersionsItem[];
  nextCursor: string | null;
}

export interface ResourcesAddInput {
  readonly resource: string;
  readonly name: string;
  readonly scopes?: readonly string[] | undefined;
  readonly scopeWords?: { readonly [name: string]: {
    readonly title: string;
    readonly description?: string | undefined;
    readonly titles?: { readonly [name: string]: {
      readonly title?: string | undefined;
      readonly description?: string | undefined;
    } } | undefined;
  } } | undefined;
  readonly connectors?: readonly string[] | null | undefined;
  readonly loginUrl?: string | null | undefined;
  readonly dpopRequired?: boolean | undefined;
  readonly tokenTtlSeconds?: number | undefined;
}

export interface ResourcesAddAnswer {
  id: string;
  resource: string;
  name: string;
  scopes: string[];
  scopeWords: { readonly [name: string]: {
    title: string;
    description?: string;
    titles?: { readonly [name: string]: {
      title?: string;
      description?: string;
    } };
  } };
  connectors: string[];
  loginUrl: string | null;
  dpopRequired: boolean;
  tokenTtlSeconds: number;
  createdAt: string;
  updatedAt: string;
  credential: string;
}

export interface ResourcesListItem {
  id: string;
  resource: string;
  name: string;
  scopes: string[];
  scopeWords: { readonly [name: string]: {
    title: string;
    description?: string;
    titles?: { readonly [name: string]: {
      title?: string;
      description?: string;
    } };
  } };
  connectors: string[];
  loginUrl: string | null;
  dpopRequired: boolean;
  tokenTtlSeconds: number;
  createdAt: string;
  updatedAt: string;
}

export interface ResourcesListAnswer {
  resources: ResourcesListItem[];
  nextCursor: string | null;
}

export interface ResourcesChangeInput {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly scopeWords?: { readonly [name: string]: {
    readonly title: string;
    readonly description?: string | undefined;
    readonly titles?: { readonly [name: string]: {
      readonly title?: string | undefined;
      readonly description?: string | undefined;
    } } | undefined;
  } } | undefined;
  readonly connectors?: readonly string[] | null | undefined;
  readonly loginUrl?: string | null | undefined;
  readonly dpopRequired?: boolean | undefined;
  readonly tokenTtlSeconds?: number | undefined;
}

export interface VerifiersRegisterInput {
  /** How statements name the verifier. Several verifiers may have one name. */ readonly name: string;
  readonly publicKey: {
    readonly kty: "EC";
    readonly crv: "P-256";
    readonly x: string;
    readonly y: string;
  };
}

export interface VerifiersRegisterAnswer {
  verifierId: string;
  name: string;
  createdAt: string;
}

export interface VerifiersRenewInput {
  /** A compact JWS, signed with the key of the verifier: `typ` `verifier-position+jwt`, claims `iss` (the id of the verifier), `seq`, `hash` and `iat`. */ readonly position?: string | undefined;
}

export interface VerifiersRenewAnswer {
  /** How long the verifier may answer from memory, counted from before it sent this request. 0 while it owes a confirmation. */ leaseSeconds: number;
  asked: {
    seq: number;
    hash: string;
  } | null;
}

export interface GrantsListQuery {
  readonly agentId?: string | undefined;
  readonly principalId?: string | undefined;
  readonly status?: "active" | "revoked" | "expired" | undefined;
  readonly parentGrantId?: string | undefined;
  readonly rootGrantId?: string | undefined;
  readonly purpose?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface GrantsListAnswer {
  grants: Grant[];
  nextCursor: string | null;
}

export interface GrantsPreviewStopQuery {
  readonly agentId?: string | undefined;
  readonly principalId?: string | undefined;
  readonly grantId?: string | undefined;
}

export interface GrantsPreviewStopAnswer {
  grants: number;
  agents: number;
  principals: number;
  requests: number;
  calls: number;
  truncated: boolean;
}

export interface GrantsRevokeQuery {
  readonly reason?: string | undefined;
  /** Answer 200 with a signed statement, once every verifier has confirmed or has no lease. */ readonly wait?: "confirmed" | undefined;
  /** With `wait`: the longest wait. The statement then says who has not confirmed. */ readonly waitSeconds?: number | undefined;
}

export interface GrantsRevokeAnswer {
  grantId: string;
  revokedAt: string;
  /** Whether no verifier can answer from memory any more. */ complete: boolean;
  position: {
    seq: number;
    hash: string;
  };
  verifiers: {
    verifierId: string;
    name: string;
    /** `lapsed`: the verifier has not confirmed, and asks the service at each call. `unconfirmed`: until `at` it may answer from memory. */ state: "confirmed" | "lapsed" | "unconfirmed";
    at: string;
  }[];
  /** The same, signed, with the signatures of the verifiers: a JWS with `typ` `revocation-statement+jwt`. */ statement: string;
}

export interface PoliciesCreateInput {
  readonly name: string;
  readonly effect: "deny" | "require_approval" | "allow";
  readonly priority?: number | undefined;
  readonly agentId?: string | null | undefined;
  readonly principalId?: string | null | undefined;
  readonly scopes?: readonly string[] | null | undefined;
  readonly timeOfDayStart?: string | null | undefined;
  readonly timeOfDayEnd?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
  readonly daysOfWeek?: readonly ("sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat")[] | null | undefined;
  readonly purposes?: readonly string[] | null | undefined;
  readonly networks?: readonly string[] | null | undefined;
  readonly delegationDepthMin?: number | null | undefined;
  readonly delegationDepthMax?: number | null | undefined;
  readonly connector?: string | null | undefined;
  readonly tools?: readonly string[] | null | undefined;
  readonly arguments?: { readonly [name: string]: unknown } | null | undefined;
}

export interface PoliciesCreateAnswer {
  id: string;
  name: string;
  effect: "deny" | "require_approval" | "allow";
  priority: number;
  agentId: string | null;
  principalId: string | null;
  scopes: string[] | null;
  timeOfDayStart: string | null;
  timeOfDayEnd: string | null;
  timeZone: string | null;
  daysOfWeek: string[] | null;
  purposes: string[] | null;
  networks: string[] | null;
  delegationDepthMin: number | null;
  delegationDepthMax: number | null;
  connector: string | null;
  tools: string[] | null;
  arguments: { readonly [name: string]: unknown } | null;
  version: number;
  createdAt: string;
  updatedAt: string;
  warnings: {
    kind: "never_matches" | "shadowed" | "shadows" | "contradicts" | "incomplete";
    policyIds: string[];
    message: string;
    example: {
      agentId: string;
      principalId: string;
      scopes: string[];
      at: string;
      purpose?: string;
      address?: string;
      delegationDepth?: number;
      connector?: string;
      tool?: string;
    } | null;
    decidedBy: string | null;
  }[];
}

export interface PoliciesListAnswer {
  policies: Policy[];
  /** Each `agentId` on this page that no agent has, so that its policies never match. */ unknownAgents: string[];
  total: number;
  nextCursor: string | null;
}

export interface PoliciesUpdateInput {
  readonly name?: string | undefined;
  readonly effect?: "deny" | "require_approval" | "allow" | undefined;
  readonly priority?: number | undefined;
  readonly agentId?: string | null | undefined;
  readonly principalId?: string | null | undefined;
  readonly scopes?: readonly string[] | null | undefined;
  readonly timeOfDayStart?: string | null | undefined;
  readonly timeOfDayEnd?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
  readonly daysOfWeek?: readonly ("sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat")[] | null | undefined;
  readonly purposes?: readonly string[] | null | undefined;
  readonly networks?: readonly string[] | null | undefined;
  readonly delegationDepthMin?: number | null | undefined;
  readonly delegationDepthMax?: number | null | undefined;
  readonly connector?: string | null | undefined;
  readonly tools?: readonly string[] | null | undefined;
  readonly arguments?: { readonly [name: string]: unknown } | null | undefined;
}

export interface PoliciesVersionsItem {
  version: number;
  actor: string | null;
  createdAt: string;
  policy: {
    name: string;
    effect: "deny" | "require_approval" | "allow";
    priority: number;
    agentId: string | null;
    principalId: string | null;
    scopes: string[] | null;
    timeOfDayStart: string | null;
    timeOfDayEnd: string | null;
    timeZone: string | null;
    daysOfWeek: string[] | null;
    purposes: string[] | null;
    networks: string[] | null;
    delegationDepthMin: number | null;
    delegationDepthMax: number | null;
    connector: string | null;
    tools: string[] | null;
    arguments: { readonly [name: string]: unknown } | null;
  };
}

export interface PoliciesVersionsAnswer {
  versions: PoliciesVersionsItem[];
  nextCursor: string | null;
}

export interface PoliciesEvaluateInput {
  readonly agentId: string;
  readonly principalId: string;
  readonly scopes: readonly string[];
  readonly at?: string | undefined;
  readonly operation?: "authorize" | "consent" | "token" | "refresh" | "delegate" | "enforce" | "id_jag" | undefined;
  readonly purpose?: string | undefined;
  readonly address?: string | undefined;
  readonly delegationDepth?: number | undefined;
  readonly connector?: string | undefined;
  readonly tool?: string | undefined;
  readonly arguments?: unknown | undefined;
}

export interface PoliciesEvaluateAnswer {
  effect: "deny" | "require_approval" | "allow" | null;
  policyId: string | null;
  reason: string;
  evaluated: number;
  backend: "builtin" | "opa" | "cedar";
  conditions: {
    field: "agentId" | "principalId" | "scopes" | "timeOfDay" | "daysOfWeek" | "purposes" | "networks" | "delegationDepth" | "connector" | "tools" | "arguments";
    condition: string;
    met: string;
  }[];
  explanation: {
    policyId: string;
    name: string;
    effect: "deny" | "require_approval" | "allow";
    priority: number;
    conditions: {
      field: "agentId" | "principalId" | "scopes" | "timeOfDay" | "daysOfWeek" | "purposes" | "networks" | "delegationDepth" | "connector" | "tools" | "arguments";
      condition: string;
      met: string;
    }[];
  } | null;
}

export interface PoliciesReplayInput {
  readonly candidate: {
    readonly id?: string | undefined;
    readonly name: string;
    readonly effect: "deny" | "require_approval" | "allow";
    readonly priority?: number | undefined;
    readonly agentId?: string | null | undefined;
    readonly principalId?: string | null | undefined;
    readonly scopes?: readonly string[] | null | undefined;
    readonly timeOfDayStart?: string | null | undefined;
    readonly timeOfDayEnd?: string | null | undefined;
    readonly timeZone?: string | null | undefined;
    readonly daysOfWeek?: readonly ("sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat")[] | null | undefined;
    readonly purposes?: readonly string[] | null | undefined;
    readonly networks?: readonly string[] | null | undefined;
    readonly delegationDepthMin?: number | null | undefined;
    readonly delegationDepthMax?: number | null | undefined;
    readonly connector?: string | null | undefined;
    readonly tools?: readonly string[] | null | undefined;
    readonly arguments?: { readonly [name: string]: unknown } | null | undefined;
  };
  readonly since: string;
  readonly until: string;
}

export interface PoliciesReplayAnswer {
  evaluated: number;
  unchanged: number;
  changes: {
    entryId: string;
    at: string;
    agentId: string;
    principalId: string;
    before: "deny" | "require_approval" | "allow" | null;
    after: "deny" | "require_approval" | "allow" | null;
    rule: string | null;
    explanation: {
      policyId: string;
      name: string;
      effect: "deny" | "require_approval" | "allow";
      priority: number;
      conditions: {
        field: "agentId" | "principalId" | "scopes" | "timeOfDay" | "daysOfWeek" | "purposes" | "networks" | "delegationDepth" | "connector" | "tools" | "arguments";
        condition: string;
        met: string;
      }[];
    } | null;
  }[];
  totals: {
    newlyDenied: number;
    newlyAllowed: number;
    /** Those for which a person has to decide. */ newlyWaiting: number;
  };
  /** Those with the most changes first, at most 100. */ agents: {
    agentId: string;
    newlyDenied: number;
    newlyAllowed: number;
    /** Those for which a person has to decide. */ newlyWaiting: number;
  }[];
  /** Those with the most changes first, at most 100. */ principals: {
    principalId: string;
    newlyDenied: number;
    newlyAllowed: number;
    /** Those for which a person has to decide. */ newlyWaiting: number;
  }[];
  /** Those that saving the draft would answer with. */ warnings: {
    kind: "never_matches" | "shadowed" | "shadows" | "contradicts" | "incomplete";
    policyIds: string[];
    message: string;
    example: {
      agentId: string;
      principalId: string;
      scopes: string[];
      at: string;
      purpose?: string;
      address?: string;
      delegationDepth?: number;
      connector?: string;
      tool?: string;
    } | null;
    decidedBy: string | null;
  }[];
  notEvaluated: {
    approvals: number;
    unrecorded: number;
    addresses: number;
  };
  complete: boolean;
}

export interface AuthorizeInput {
  readonly agentId: string;
  readonly principalId: string;
  readonly scopes: readonly string[];
  readonly expiresIn?: string | undefined;
  readonly tokenExpiresIn?: string | undefined;
  readonly redirectUri?: string | undefined;
  readonly state?: string | undefined;
  readonly codeChallenge?: string | undefined;
  readonly codeChallengeMethod?: "S256" | undefined;
  readonly audience?: string | undefined;
  readonly purpose?: string | undefined;
  readonly authorizationDetails?: readonly unknown[] | undefined;
  readonly authorization_details?: readonly unknown[] | undefined;
  readonly budget?: {
    readonly amount: number | string;
    readonly currency?: string | undefined;
  } | undefined;
  readonly replacesGrantId?: string | undefined;
  readonly consentExpiresIn?: string | undefined;
  readonly autoApprove?: boolean | undefined;
}

export interface AuthorizeAnswer {
  authRequestId: string;
  id: string;
  agentId: string;
  principalId: string;
  scopes: string[];
  expiresIn: string;
  status: "pending" | "approved" | "denied" | "cancelled" | "consumed" | "expired";
  createdAt: string;
  expiresAt: string;
  redirectUri?: string;
  state?: string;
  audience?: string;
  purpose?: string;
  authorizationDetails?: unknown[];
  budget?: {
    amount: string;
    currency: string;
  };
  replacesGrantId?: string;
  channel?: "device" | "ciba";
  sandbox?: true;
  decidedAt?: string;
  consentUrl: string;
  code?: string;
  policyEnforced?: true;
  effect?: "allow";
  policyId?: string;
}

export interface AuthorizationsListQuery {
  readonly status?: "pending" | "approved" | "denied" | "cancelled" | "consumed" | "expired" | undefined;
  readonly agentId?: string | undefined;
  readonly principalId?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface AuthorizationsListAnswer {
  requests: AuthorizationRequest[];
  nextCursor: string | null;
}

export interface AuthorizationsCodeAnswer {
  authRequestId: string;
  code: string;
  expiresAt: string;
}

export interface AuthorizationsLinkAnswer {
  authRequestId: string;
  consentUrl: string;
  expiresAt: string;
}

export interface AuthorizationsApproveAnswer {
  requestId: string;
  authRequestId: string;
  status: "pending" | "approved" | "denied" | "cancelled" | "consumed" | "expired";
  code?: string;
}

export interface VaultExchangeInput {
  readonly service: string;
  readonly upstreamScopes?: readonly string[] | undefined;
}

export interface VaultExchangeAnswer {
  accessToken: string;
  service: string;
  credentialType: string;
  tokenExpiresAt: string | null;
  metadata: { readonly [name: string]: unknown };
}

export interface VaultStoreInput {
  readonly principalId: string;
  readonly service: string;
  readonly accessToken: string;
  readonly refreshToken?: string | null | undefined;
  readonly credentialType?: string | undefined;
  readonly tokenExpiresAt?: string | null | undefined;
  readonly metadata?: { readonly [name: string]: unknown } | undefined;
  readonly refresh?: {
    readonly tokenEndpoint: string;
    readonly clientId: string;
    readonly clientSecret?: string | undefined;
    readonly authMethod?: "client_secret_basic" | "client_secret_post" | "none" | undefined;
    readonly scope?: string | undefined;
    readonly revocationEndpoint?: string | undefined;
    readonly tokenLifetimeSeconds?: number | undefined;
  } | null | undefined;
  readonly proxy?: {
    readonly upstreams?: readonly string[] | undefined;
    readonly rules?: readonly {
      readonly id: string;
      readonly methods: readonly ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE")[];
      readonly upstream?: string | undefined;
      readonly path: string;
      readonly query?: readonly string[] | null | undefined;
      readonly tool?: {
        readonly connector: string;
        readonly tool: string;
        readonly resource?: string | undefined;
        readonly amount?: string | undefined;
        readonly body?: "json" | "stream" | "none" | undefined;
      } | undefined;
      readonly range?: boolean | undefined;
      readonly unmapped?: true | undefined;
    }[] | undefined;
    readonly only?: boolean | undefined;
  } | null | undefined;
}

export interface VaultStoreAnswer {
  id: string;
  principalId: string;
  service: string;
  credentialType: string;
  tokenExpiresAt: string | null;
  metadata: { readonly [name: string]: unknown };
  createdAt: string;
  updatedAt: string;
  hasRefreshToken: boolean;
  refreshStatus: "none" | "ok" | "failed";
  proxy: {
    upstreams?: string[];
    rules?: {
      id: string;
      methods: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE")[];
      upstream?: string;
      path: string;
      query?: string[] | null;
      tool?: {
        connector: string;
        tool: string;
        resource?: string;
        amount?: string;
        body?: "json" | "stream" | "none";
      };
      range?: boolean;
      unmapped?: true;
    }[];
    only?: boolean;
    frozen: {
      origins: string[];
      exchange: "allowed" | "proxy_only";
    };
  } | null;
  replaced: boolean;
}

export interface VaultListQuery {
  readonly principalId?: string | undefined;
  readonly service?: string | undefined;
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface VaultListAnswer {
  credentials: VaultCredential[];
  total: number;
  page: number;
  pageSize: number;
  nextCursor: string | null;
}

export interface BudgetsAllocateInput {
  readonly grantId: string;
  readonly initialBudget: number | string;
  readonly currency?: string | undefined;
}

export interface BudgetsDebitInput {
  readonly grantId: string;
  readonly amount: number | string;
  readonly description?: string | undefined;
  readonly metadata?: { readonly [name: string]: unknown } | undefined;
}

export interface BudgetsDebitAnswer {
  remaining: string;
  transactionId: string;
  grantId: string;
  currency: string;
  allocationId: string;
}

export interface BudgetsRefundInput {
  readonly transactionId: string;
  readonly amount?: number | string | undefined;
  readonly description?: string | undefined;
  readonly metadata?: { readonly [name: string]: unknown } | undefined;
}

export interface BudgetsRefundAnswer {
  remaining: string;
  transactionId: string;
  grantId: string;
  currency: string;
  allocationId: string;
  refundOf: string;
  amount: string;
}

export interface BudgetsListQuery {
  readonly status?: "active" | "exhausted" | "closed" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface BudgetsListAnswer {
  allocations: Budget[];
  nextCursor: string | null;
}

export interface BudgetsVerifyAnswer {
  valid: boolean;
  allocations: number;
  faults: {
    allocationId: string;
    fault: string;
  }[];
}

export interface BudgetsTransactionsQuery {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface BudgetsTransactionsItem {
  id: string;
  grantId: string;
  allocationId: string;
  amount: string;
  description: string;
  metadata: { readonly [name: string]: unknown };
  createdAt: string;
  balanceAfter: string;
  sourceTransactionId: string | null;
  sourceGrantId: string | null;
  refundOf: string | null;
}

export interface BudgetsTransactionsAnswer {
  transactions: BudgetsTransactionsItem[];
  total: number;
  page: number;
  pageSize: number;
  nextCursor: string | null;
}

export interface PrincipalSessionsCreateInput {
  readonly principalId: string;
  readonly expiresIn?: string | undefined;
}

export interface PrincipalSessionsCreateAnswer {
  sessionToken: string;
  dashboardUrl: string;
  expiresAt: string;
}

export interface PrincipalGrantsQuery {
  readonly status?: "active" | "all" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface PrincipalGrantsItem {
  grantId: string;
  agentId: string;
  agentName: string | null;
  agentDescription: string | null;
  agentDid: string | null;
  scopes: string[];
  scopeDescriptions: string[];
  scopeExplanations: (string | null)[];
  status: "active" | "revoked" | "expired";
  issuedAt: string;
  expiresAt: string;
  revokedAt?: string;
  revokedReason?: string;
  delegationDepth: number;
  parentGrantId?: string;
  purpose?: string;
  purposeLabel?: string;
  audience?: string;
  argumentLimits: {
    connector: string;
    tool: string;
    open: boolean;
    lines: {
      path: string;
      text: string;
    }[];
  }[];
  tools: {
    connector: string;
    tool: string;
    level: "read" | "write" | "delete" | "admin" | null;
    title: string | null;
    description: string | null;
    language: string | null;
    covers: {
      tool: string;
      level: "read" | "write" | "delete" | "admin" | null;
      title: string | null;
      description: string | null;
      language: string | null;
    }[];
    more: number;
  }[];
  budget?: {
    amount: string;
    remaining: string;
    currency: string;
  };
  unverified?: true;
  lastUsedAt: string | null;
}

export interface PrincipalGrantsAnswer {
  grants: PrincipalGrantsItem[];
  principalId: string;
  developerName: string;
  branding?: {
    logoUrl?: string;
    accentColor?: string;
  };
  sandbox: boolean;
  sessionExpiresAt: string;
  nextCursor: string | null;
}

export interface PrincipalRevokeAllAnswer {
  revoked: number;
  cancelled: number;
}

export interface PrincipalAuditQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly grantId?: string | undefined;
}

export interface PrincipalAuditItem {
  entryId: string;
  agentId: string | null;
  agentDid: string | null;
  agentName: string | null;
  grantId: string | null;
  principalId: string;
  action: string;
  metadata: { readonly [name: string]: unknown };
  status: "success" | "failure" | "blocked";
  purpose: string | null;
  timestamp: string;
  hash: string;
}

export interface PrincipalAuditAnswer {
  entries: PrincipalAuditItem[];
  nextCursor: string | null;
}

export interface PrincipalAddressAnswer {
  address: {
    provedAt: string;
    usableUntil: string;
  } | null;
}

export interface WebauthnRegisterOptionsAnswer {
  challengeId: string;
  publicKey: { readonly [name: string]: unknown };
}

export interface WebauthnRegisterVerifyInput {
  readonly challengeId: string;
  readonly response: {
    readonly id: string;
    readonly rawId: string;
    readonly type: "public-key";
    readonly response: {
      readonly clientDataJSON: string;
      readonly attestationObject: string;
      readonly transports?: readonly string[] | undefined;
      readonly [member: string]: unknown;
    };
    readonly [member: string]: unknown;
  };
  readonly deviceName?: string | undefined;
}

export interface WebauthnRegisterVerifyAnswer {
  id: string;
  principalId: string;
  deviceName: string | null;
  backedUp: boolean;
  deviceType: "singleDevice" | "multiDevice";
  transports: string[];
  aaguid: string | null;
  createdAt: string;
}

export interface WebauthnListCredentialsItem {
  id: string;
  principalId: string;
  deviceName: string | null;
  backedUp: boolean;
  deviceType: "singleDevice" | "multiDevice";
  transports: string[];
  status: "active" | "suspect";
  createdAt: string;
  lastUsedAt: string | null;
}

export interface WebauthnListCredentialsAnswer {
  credentials: WebauthnListCredentialsItem[];
  nextCursor: string | null;
}

export interface WebauthnChangeCredentialInput {
  readonly deviceName?: string | undefined;
  readonly status?: "active" | undefined;
}

export interface PrincipalPasskeysAnswer {
  passkeys: WebauthnListCredentialsItem[];
  nextCursor: string | null;
}

export interface CredentialsIssueInput {
  readonly grantId: string;
  readonly format: "vc-jwt" | "sd-jwt";
  readonly expiresIn?: string | undefined;
  readonly holderJwk?: {
    readonly kty: "RSA";
    readonly n: string;
    readonly e: string;
    readonly alg?: "RS256" | undefined;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly key_ops?: readonly "verify"[] | undefined;
    readonly ext?: boolean | undefined;
  } | {
    readonly kty: "EC";
    readonly crv: "P-256";
    readonly x: string;
    readonly y: string;
    readonly alg?: "ES256" | undefined;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly key_ops?: readonly "verify"[] | undefined;
    readonly ext?: boolean | undefined;
  } | {
    readonly kty: "OKP";
    readonly crv: "Ed25519";
    readonly x: string;
    readonly kid?: string | undefined;
    readonly use?: "sig" | undefined;
    readonly alg?: "EdDSA" | "Ed25519" | undefined;
  } | undefined;
  readonly selectiveFields?: readonly ("principalId" | "developerId" | "scopes" | "delegationDepth" | "grantId")[] | undefined;
}

export interface CredentialsListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly grantId?: string | undefined;
  readonly principalId?: string | undefined;
  readonly status?: "active" | "revoked" | "expired" | undefined;
}

export interface CredentialsListAnswer {
  credentials: VerifiableCredential[];
  nextCursor: string | null;
}

export interface CredentialsRevokeAnswer {
  id: string;
  status: "revoked";
  revokedAt: string;
}

export interface CredentialsVerifyAnswer {
  valid: boolean;
  vcId?: string;
  credentialType?: string;
  issuer?: string;
  subject?: string;
  expiresAt?: string;
  payload?: { readonly [name: string]: unknown };
  revoked?: boolean;
  expired?: boolean;
  error?: string;
  code?: "malformed" | "typ_not_allowed" | "issuer_unknown" | "bad_signature" | "not_yet_valid" | "expired" | "revoked" | "suspended" | "status_unavailable";
}

export interface CredentialsPresentInput {
  readonly sdJwt: string;
  readonly nonce?: string | undefined;
  readonly audience?: string | undefined;
}

export interface CredentialsPresentAnswer {
  valid: boolean;
  vcId?: string;
  disclosedClaims?: { readonly [name: string]: unknown };
  keyBound?: boolean;
  error?: string;
  code?: "malformed" | "typ_not_allowed" | "issuer_unknown" | "bad_signature" | "not_yet_valid" | "expired" | "revoked" | "suspended" | "status_unavailable" | "disclosure_invalid" | "key_binding_required" | "key_binding_invalid";
}

export interface ConnectionsAskInput {
  readonly service: string;
  readonly principalId: string;
  readonly agentId?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly returnUrl?: string | undefined;
  readonly state?: string | undefined;
  readonly expiresIn?: string | undefined;
}

export interface ConnectionsAskAnswer {
  id: string;
  connectSessionId: string;
  providerId: string;
  service: string;
  principalId: string;
  agentId: string | null;
  scopes: string[];
  status: "pending" | "started" | "returned" | "connected" | "denied" | "failed" | "cancelled" | "expired";
  reason: string | null;
  credentialId: string | null;
  createdAt: string;
  expiresAt: string;
  decidedAt: string | null;
  connectUrl: string;
}

export interface ConnectionsGetAnswer {
  id: string;
  connectSessionId: string;
  providerId: string;
  service: string;
  principalId: string;
  agentId: string | null;
  scopes: string[];
  status: "pending" | "started" | "returned" | "connected" | "denied" | "failed" | "cancelled" | "expired";
  reason: string | null;
  credentialId: string | null;
  createdAt: string;
  expiresAt: string;
  decidedAt: string | null;
}

export interface ConnectionsAskAsAgentInput {
  readonly service: string;
  readonly scopes?: readonly string[] | undefined;
  readonly expiresIn?: string | undefined;
}

export interface PrincipalConnectionsItem {
  id: string;
  service: string;
  providerName: string;
  account: {
    id: string;
    label: string | null;
  } | null;
  scopesGranted: string[];
  status: "connected" | "reauthorization_required";
  reason: string | null;
  connectedAt: string;
  lastExchangedAt: string | null;
}

export interface PrincipalConnectionsAnswer {
  connections: PrincipalConnectionsItem[];
  nextCursor: string | null;
}

export interface WalletAuthorizationsIssueInput {
  readonly grantId: string;
  readonly account: string;
  readonly maxAmount: {
    readonly amount: number | string;
    readonly asset: string;
  };
  readonly payee?: string | undefined;
  readonly expiresIn?: string | undefined;
  readonly nonce?: string | undefined;
}

export interface WalletAuthorizationsIssueAnswer {
  id: string;
  authorization: string;
  expiresAt: string;
}

export interface WalletAuthorizationsListItem {
  id: string;
  grantId: string;
  agentId: string;
  principalId: string;
  account: string;
  maxAmount: {
    amount: number | string;
    asset: string;
  };
  payee?: string;
  nonce?: string;
  authorization: string;
  status: "active" | "consumed" | "revoked" | "expired";
  issuedAt: string;
  expiresAt: string;
  consumedAt: string | null;
  revokedAt: string | null;
}

export interface WalletAuthorizationsListAnswer {
  authorizations: WalletAuthorizationsListItem[];
  nextCursor: string | null;
}

export interface WalletAuthorizationsVerifyInput {
  readonly authorization: string;
}

export interface WalletAuthorizationsVerifyAnswer {
  valid: boolean;
  id?: string;
  account?: string;
  maxAmount?: {
    amount: number | string;
    asset: string;
  };
  payee?: string;
  nonce?: string;
  expiresAt?: string;
  error?: string;
  code?: "malformed" | "typ_not_allowed" | "issuer_unknown" | "bad_signature" | "not_yet_valid" | "expired" | "revoked" | "suspended" | "status_unavailable" | "consumed";
}

export interface WorkloadsAddInput {
  readonly issuer: string;
  readonly jwksUri?: string | undefined;
  readonly audience?: string | undefined;
  readonly subject: string;
  readonly claims?: { readonly [name: string]: string } | undefined;
  readonly maxTokenSeconds?: number | undefined;
  readonly allowReuse?: boolean | undefined;
}

export interface WorkloadsAddAnswer {
  id: string;
  workloadId: string;
  agentId: string;
  issuer: string;
  jwksUri: string;
  audience: string;
  subject: string;
  claims: { readonly [name: string]: string };
  maxTokenSeconds: number;
  allowReuse: boolean;
  createdAt: string;
}

export interface WorkloadsListAnswer {
  workloads: WorkloadsAddAnswer[];
  nextCursor: string | null;
}

export interface PolicyBundlesSyncInput {
  readonly format: "rego" | "cedar";
  readonly version: string;
  readonly content: string;
  readonly fileCount?: number | undefined;
  readonly activate?: boolean | undefined;
  readonly sha256?: string | undefined;
}

export interface PolicyBundlesSyncAnswer {
  bundleId: string;
  format: "rego" | "cedar";
  version: string;
  sha256: string;
  fileCount: number;
  activated: boolean;
}

export interface PolicyBundlesListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly format?: "rego" | "cedar" | undefined;
}

export interface PolicyBundlesListItem {
  id: string;
  developerId: string;
  format: "rego" | "cedar";
  version: string;
  sha256: string;
  fileCount: number;
  active: boolean;
  createdAt: string;
}

export interface PolicyBundlesListAnswer {
  bundles: PolicyBundlesListItem[];
  nextCursor: string | null;
}

export interface PolicyBundlesActiveQuery {
  readonly format: "rego" | "cedar";
}

export interface PolicyBundlesRotateSecretAnswer {
  secret: string;
}

export interface TokensRefreshInput {
  readonly refreshToken: string;
  readonly agentId: string;
}

export interface TokensRefreshAnswer {
  grantToken: string;
  tokenType: "Bearer";
  expiresAt: string;
  refreshToken: string;
  refreshExpiresAt: string;
  grantId: string;
  grantExpiresAt: string;
  agentId: string;
  principalId: string;
  scopes: string[];
  audience?: string;
  purpose?: string;
  authorizationDetails?: unknown[];
  budget?: {
    amount?: string;
    remaining: string;
    currency: string;
  };
  sandbox?: true;
}

export interface GrantsDelegateInput {
  readonly parentGrantToken: string;
  readonly subAgentId: string;
  readonly scopes: readonly string[];
  readonly expiresIn?: string | undefined;
  readonly tokenExpiresIn?: string | undefined;
  readonly audience?: string | undefined;
  readonly authorizationDetails?: readonly unknown[] | undefined;
  readonly purpose?: string | undefined;
  readonly budget?: {
    readonly amount: number | string;
    readonly currency?: string | undefined;
  } | undefined;
  readonly credentialFormat?: "jwt" | "vc-jwt" | "both" | undefined;
}

export interface GrantsDelegateAnswer {
  grantToken: string;
  tokenType: "Bearer";
  expiresAt: string;
  refreshToken: string | null;
  refreshExpiresAt: string | null;
  grantId: string;
  grantExpiresAt: string;
  agentId: string;
  principalId: string;
  scopes: string[];
  audience?: string;
  purpose?: string;
  authorizationDetails?: unknown[];
  budget?: {
    amount?: string;
    remaining: string;
    currency: string;
  };
  sandbox?: true;
  parentGrantId: string;
  delegationDepth: number;
  verifiableCredential?: string;
}

export interface GrantsTokensItem {
  tokenId: string;
  issuedAt: string;
  expiresAt: string;
  status: "active" | "revoked" | "expired";
  revokedAt?: string;
}

export interface GrantsTokensAnswer {
  tokens: GrantsTokensItem[];
  nextCursor: string | null;
}

export interface TokensVerifyInput {
  readonly audience?: string | undefined;
  readonly requiredScopes?: readonly string[] | undefined;
}

export interface TokensVerifyAnswer {
  valid: boolean;
  reason?: "expired" | "revoked" | "grant_inactive" | "agent_inactive" | "audience" | "scope";
  grantId?: string;
  scopes?: string[];
  principal?: string;
  agent?: string;
  expiresAt?: string;
  tokenId?: string;
  agentId?: string;
  agentDid?: string;
  principalId?: string;
  developerId?: string;
  issuedAt?: string;
  delegationDepth?: number;
  audience?: string;
  cnf?: {
    jkt: string;
  };
  purpose?: string;
  authorizationDetails?: unknown[];
  parentGrantId?: string;
  reconsentRequired?: true;
  sandbox?: true;
}

export interface GrantsVerifyAnswer {
  active: boolean;
  reason?: "revoked" | "expired" | "not_found" | "agent_inactive";
  claims?: { readonly [name: string]: unknown };
}

export interface TokensIntrospectInput {
  readonly token_type_hint?: string | undefined;
  readonly [member: string]: unknown;
}

export interface TokensIntrospectAnswer {
  active: boolean;
  scope?: string;
  client_id?: string;
  token_type?: "Bearer" | "DPoP";
  exp?: number;
  iat?: number;
  nbf?: number;
  sub?: string;
  aud?: string | string[];
  cnf?: {
    jkt: string;
  };
  iss?: string;
  jti?: string;
  act?: { readonly [name: string]: unknown };
  authorization_details?: unknown[];
  dev?: string;
  "urn:service:grant"?: { readonly [name: string]: unknown };
}

export interface PassportsIssueInput {
  readonly agentId: string;
  readonly grantId: string;
  readonly allowedMPPCategories: readonly ("inference" | "compute" | "data" | "storage" | "search" | "media" | "delivery" | "browser" | "general")[];
  readonly maxTransactionAmount: {
    readonly amount: number | string;
    readonly currency: string;
  };
  readonly paymentRails?: readonly "tempo"[] | undefined;
  readonly expiresIn?: string | undefined;
  readonly parentPassportId?: string | undefined;
}

export interface PassportsIssueAnswer {
  passportId: string;
  credential: {
    "@context": string[];
    id: string;
    type: string[];
    issuer: string;
    validFrom: string;
    validUntil: string;
    credentialSubject: {
      id: string;
      type: "AIAgent";
      humanPrincipal: string;
      organizationDID: string;
      grantId: string;
      allowedMPPCategories: ("inference" | "compute" | "data" | "storage" | "search" | "media" | "delivery" | "browser" | "general")[];
      maxTransactionAmount: {
        amount: number | string;
        currency: string;
      };
      paymentRails: "tempo"[];
      delegationDepth: number;
      /** There for accounts of the sandbox. */ sandbox?: true;
      parentPassportId?: string;
    };
    credentialStatus: { readonly [name: string]: unknown }[];
    proof?: { readonly [name: string]: unknown };
  };
  encodedCredential: string;
  passportJwt: string;
  expiresAt: string;
}

export interface PassportsGetAnswer {
  "@context": string[];
  id: string;
  type: string[];
  issuer: string;
  validFrom: string;
  validUntil: string;
  credentialSubject: {
    id: string;
    type: "AIAgent";
    humanPrincipal: string;
    organizationDID: string;
    grantId: string;
    allowedMPPCategories: ("inference" | "compute" | "data" | "storage" | "search" | "media" | "delivery" | "browser" | "general")[];
    maxTransactionAmount: {
      amount: number | string;
      currency: string;
    };
    paymentRails: "tempo"[];
    delegationDepth: number;
    /** There for accounts of the sandbox. */ sandbox?: true;
    parentPassportId?: string;
  };
  credentialStatus: { readonly [name: string]: unknown }[];
  proof?: { readonly [name: string]: unknown };
  status: "active" | "revoked" | "expired";
}

export interface PassportsListQuery {
  readonly cursor?: string | undefined;
  readonly agentId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly status?: "active" | "revoked" | "expired" | undefined;
}

export type PassportsListAnswer = {
  passportId: string;
  agentId: string;
  grantId: string;
  status: "active" | "revoked" | "expired";
  expiresAt: string;
  createdAt: string;
}[];

export interface PassportsRevokeAnswer {
  revoked: true;
  revokedAt: string;
}

export interface PassportsVerifyInput {
  readonly passport: string;
}

export interface PassportsVerifyAnswer {
  valid: boolean;
  passportId?: string;
  agentDid?: string;
  grantId?: string;
  categories?: string[];
  maxTransactionAmount?: {
    amount: number | string;
    currency: string;
  };
  expiresAt?: string;
  error?: string;
  code?: "malformed" | "typ_not_allowed" | "issuer_unknown" | "bad_signature" | "not_yet_valid" | "expired" | "revoked" | "suspended" | "status_unavailable";
}

export interface BillingGetSubscriptionAnswer {
  plan: "free" | "pro" | "enterprise";
  status: "active" | "past_due" | "canceled";
  currentPeriodEnd: string | null;
  effectivePlan: "free" | "pro" | "enterprise";
  cancelAtPeriodEnd: boolean;
  graceEndsAt: string | null;
}

export interface BillingCreateCheckoutInput {
  readonly plan: "pro" | "enterprise";
  readonly successUrl: string;
  readonly cancelUrl: string;
}

export interface BillingCreateCheckoutAnswer {
  checkoutUrl: string;
}

export interface BillingCreatePortalInput {
  readonly returnUrl: string;
}

export interface BillingCreatePortalAnswer {
  portalUrl: string;
}

export interface EnforcementEnforceInput {
  readonly grantToken: string;
  readonly connector: string;
  readonly tool: string;
  readonly arguments?: unknown | undefined;
  readonly resource?: string | undefined;
  readonly amount?: unknown | undefined;
  readonly caseId?: unknown | undefined;
  readonly caseVersion?: string | undefined;
  readonly costComponents?: unknown | undefined;
  readonly callId?: string | undefined;
  readonly decisionGrants?: readonly string[] | undefined;
  readonly capsMode?: "enforce" | "warn" | undefined;
  readonly reserve?: boolean | undefined;
  readonly toolPin?: string | undefined;
}

export interface EnforcementEnforceAnswer {
  allowed: boolean;
  reason: string;
  reason_code: "token_invalid" | "grant_revoked" | "manifest_unknown_tool" | "tool_not_granted" | "permission_insufficient" | "region_mismatch" | "purpose_not_allowed" | "decision_required" | "case_required" | "cap_exceeded" | null;
  sub_reason: "malformed_authorization_details" | "revoked" | "suspended" | "parent_revoked" | "status_unavailable" | "unknown_connector" | "unknown_tool" | "manifest_changed" | "tool_changed" | "tool_ambiguous" | "not_in_authorization_details" | "argument_unreadable" | "policy_denied" | "tool_scope_missing" | "missing" | "unknown_purpose" | "not_matched" | "malformed" | "unknown_grant" | "wrong_agent" | "wrong_case" | "case_changed" | "action_mismatch" | "expired" | "four_eyes_incomplete" | "same_approver" | "spliced" | "consumed" | "consume_unavailable" | "limit_reached" | "meter_unavailable" | "invalid_case_id" | "invalid_cost_component" | "amount_missing" | "invalid_amount" | "malformed_cap" | "amount_cap" | "argument_missing" | "argument_not_allowed" | null;
  details: { readonly [name: string]: unknown };
  warnings: {
    code: string;
    detail: string;
  }[];
  call_id: string;
  [member: string]: unknown;
}

export interface EnforcementListToolsInput {
  readonly grantToken: string;
  readonly connector: string;
  readonly tools: readonly {
    readonly name: string;
    readonly pin?: string | undefined;
  }[];
  readonly resource?: boolean | undefined;
}

export interface EnforcementListToolsAnswer {
  tools: string[];
  hidden: {
    tool: string;
    reasonCode: "token_invalid" | "grant_revoked" | "manifest_unknown_tool" | "tool_not_granted" | "permission_insufficient" | "region_mismatch" | "purpose_not_allowed" | "decision_required" | "case_required" | "cap_exceeded";
    subReason: "malformed_authorization_details" | "revoked" | "suspended" | "parent_revoked" | "status_unavailable" | "unknown_connector" | "unknown_tool" | "manifest_changed" | "tool_changed" | "tool_ambiguous" | "not_in_authorization_details" | "argument_unreadable" | "policy_denied" | "tool_scope_missing" | "missing" | "unknown_purpose" | "not_matched" | "malformed" | "unknown_grant" | "wrong_agent" | "wrong_case" | "case_changed" | "action_mismatch" | "expired" | "four_eyes_incomplete" | "same_approver" | "spliced" | "consumed" | "consume_unavailable" | "limit_reached" | "meter_unavailable" | "invalid_case_id" | "invalid_cost_component" | "amount_missing" | "invalid_amount" | "malformed_cap" | "amount_cap" | "argument_missing" | "argument_not_allowed" | null;
  }[];
}

export interface ManifestsReplayInput {
  readonly candidate: { readonly [name: string]: unknown };
  readonly since: string;
  readonly until: string;
}

export interface ManifestsReplayAnswer {
  evaluated: number;
  unchanged: number;
  /** The first 500. Null means allowed. */ changes: {
    entryId: string;
    at: string;
    agentId: string | null;
    principalId: string | null;
    tool: string;
    before: {
      reasonCode: "token_invalid" | "grant_revoked" | "manifest_unknown_tool" | "tool_not_granted" | "permission_insufficient" | "region_mismatch" | "purpose_not_allowed" | "decision_required" | "case_required" | "cap_exceeded";
      subReason: "malformed_authorization_details" | "revoked" | "suspended" | "parent_revoked" | "status_unavailable" | "unknown_connector" | "unknown_tool" | "manifest_changed" | "tool_changed" | "tool_ambiguous" | "not_in_authorization_details" | "argument_unreadable" | "policy_denied" | "tool_scope_missing" | "missing" | "unknown_purpose" | "not_matched" | "malformed" | "unknown_grant" | "wrong_agent" | "wrong_case" | "case_changed" | "action_mismatch" | "expired" | "four_eyes_incomplete" | "same_approver" | "spliced" | "consumed" | "consume_unavailable" | "limit_reached" | "meter_unavailable" | "invalid_case_id" | "invalid_cost_component" | "amount_missing" | "invalid_amount" | "malformed_cap" | "amount_cap" | "argument_missing" | "argument_not_allowed" | null;
    } | null;
    after: {
      reasonCode: "token_invalid" | "grant_revoked" | "manifest_unknown_tool" | "tool_not_granted" | "permission_insufficient" | "region_mismatch" | "purpose_not_allowed" | "decision_required" | "case_required" | "cap_exceeded";
      subReason: "malformed_authorization_details" | "revoked" | "suspended" | "parent_revoked" | "status_unavailable" | "unknown_connector" | "unknown_tool" | "manifest_changed" | "tool_changed" | "tool_ambiguous" | "not_in_authorization_details" | "argument_unreadable" | "policy_denied" | "tool_scope_missing" | "missing" | "unknown_purpose" | "not_matched" | "malformed" | "unknown_grant" | "wrong_agent" | "wrong_case" | "case_changed" | "action_mismatch" | "expired" | "four_eyes_incomplete" | "same_approver" | "spliced" | "consumed" | "consume_unavailable" | "limit_reached" | "meter_unavailable" | "invalid_case_id" | "invalid_cost_component" | "amount_missing" | "invalid_amount" | "malformed_cap" | "amount_cap" | "argument_missing" | "argument_not_allowed" | null;
    } | null;
  }[];
  totals: {
    newlyDenied: number;
    newlyAllowed: number;
    /** Those for which a person has to decide. */ newlyWaiting: number;
  };
  /** Those with the most changes first, at most 100. */ agents: {
    agentId: string;
    newlyDenied: number;
    newlyAllowed: number;
    /** Those for which a person has to decide. */ newlyWaiting: number;
  }[];
  /** Those with the most changes first, at most 100. */ principals: {
    principalId: string;
    newlyDenied: number;
    newlyAllowed: number;
    /** Those for which a person has to decide. */ newlyWaiting: number;
  }[];
  /** Calls that an entry does not say enough about: with a decision, under rules for arguments, of tools with pinned definitions or cost units, and without a grant that is still known. */ notEvaluated: {
    decisions: number;
    arguments: number;
    inputs: number;
    grants: number;
  };
  /** False when there are more entries than are read. */ complete: boolean;
}

export interface EnforcementUsageQuery {
  readonly grantId: string;
  readonly connector: string;
  readonly tool: string;
  readonly caseId?: string | undefined;
}

export interface EnforcementUsageAnswer {
  grantId: string;
  connector: string;
  tool: string;
  counters: {
    scope: "manifest" | "grant" | "ancestor";
    kind: "calls" | "cost_units";
    window: "per_hour" | "per_day" | "per_case";
    limit: number;
    used: number;
    remaining: number;
    retryAt: string | null;
  }[];
}

export interface AuditExplainAnswer {
  entryId: string;
  at: string;
  asOf: string;
  allowed: boolean;
  call: {
    callId: string | null;
    connector: string | null;
    tool: string | null;
    resource: string | null;
    caseId: string | null;
    agentId: string | null;
    principalId: string | null;
    grantId: string | null;
    requestId: string | null;
    /** The call only asked: nothing was reserved. */ checkOnly: boolean;
  };
  request: {
    /** What was asked for: `authorize`, `consent`, `token`, `refresh`, `delegate` or `id_jag`. */ operation: string | null;
    purpose: string | null;
    /** Those recorded: of a refusal of scopes, the refused ones. */ scopes: string[];
    refusedScopes: string[];
    /** What the agent, or the grant above, may have now, where that decided. */ allowedScopes: string[] | null;
  } | null;
  denial: {
    reasonCode: string;
    subReason: string | null;
    reason: string;
    check: "token" | "revocation" | "authorization_details" | "manifest" | "tool" | "listed_tools" | "scopes" | "permission" | "region" | "amount" | "purpose" | "arguments" | "policies" | "decision" | "caps" | null;
  } | null;
  /** In the order in which they run. */ checks: {
    check: "token" | "revocation" | "authorization_details" | "manifest" | "tool" | "listed_tools" | "scopes" | "permission" | "region" | "amount" | "purpose" | "arguments" | "policies" | "decision" | "caps";
    /** `warned`: it found a fault that denies nothing. `unknown`: the entry does not say, because it was erased or has a reason of another release. */ outcome: "passed" | "warned" | "failed" | "not_reached" | "unknown";
    facts: {
      name: string;
      value: string | number | boolean | null | string[] | { readonly [name: string]: unknown };
      /** `entry`: recorded with the answer. `now`: read at `asOf`, and maybe changed since the call. */ from: "entry" | "now";
    }[];
    /** Facts on which the denial rests and which the entry lacks. */ notRecorded: string[];
  }[];
  rule: {
    kind: "token" | "grant" | "agent" | "manifest" | "policy" | "decision" | "cap" | "service";
    /** Of the grant, the agent or the policy, or the name of the connector. */ id: string | null;
    /** Where in it, such as `tools.pay.arguments./amount.max`. */ place: string | null;
    text: string;
    /** The conditions of the policy, each with the part of the call that met it. */ conditions: {
      field: string;
      condition: string;
      met: string;
    }[];
  } | null;
  /** Each would by itself pass the check that failed. Later checks were not reached. */ changes: {
    by: "agent" | "person" | "developer" | "operator";
    text: string;
    target: {
      kind: "call" | "token" | "consent" | "decision" | "agent" | "grant" | "manifest" | "policy" | "service";
      id: string | null;
      place: string | null;
    };
    consent?: {
      agentId: string;
      principalId: string;
      scopes: string[];
      purpose?: string;
    };
  }[];
}

export interface AuthzenEvaluateInput {
  readonly subject?: unknown | undefined;
  readonly action?: unknown | undefined;
  readonly resource?: unknown | undefined;
  readonly context?: unknown | undefined;
  readonly [member: string]: unknown;
}

export interface AuthzenEvaluateAnswer {
  decision: boolean;
  context?: { readonly [name: string]: unknown };
}

export interface AuthzenEvaluateTogetherInput {
  readonly subject?: unknown | undefined;
  readonly action?: unknown | undefined;
  readonly resource?: unknown | undefined;
  readonly context?: unknown | undefined;
  readonly evaluations?: readonly unknown[] | undefined;
  readonly options?: {
    readonly evaluations_semantic?: "execute_all" | "deny_on_first_deny" | "permit_on_first_permit" | undefined;
    readonly [member: string]: unknown;
  } | undefined;
  readonly [member: string]: unknown;
}

export type AuthzenEvaluateTogetherAnswer = {
  evaluations: AuthzenEvaluateAnswer[];
} | AuthzenEvaluateAnswer;

export interface AuthzenMetadataAnswer {
  policy_decision_point: string;
  access_evaluation_endpoint: string;
  access_evaluations_endpoint: string;
}

export interface AssertionsPutInput {
  readonly enabled: boolean;
  readonly acknowledge?: "no personal consent" | undefined;
  readonly tenant?: string | null | undefined;
  readonly maxAssertionSeconds?: number | undefined;
}

export interface AssertionsPutAnswer {
  connectionId: string;
  enabled: boolean;
  tenant: string | null;
  maxAssertionSeconds: number;
  createdAt: string;
  updatedAt: string;
}

export interface AssertionsAddClientInput {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly defaultScopes?: readonly string[] | undefined;
  readonly resources?: readonly string[] | null | undefined;
  readonly authorizationDetails?: readonly unknown[] | undefined;
  readonly tokenTtlSeconds?: number | undefined;
  readonly grantTtl?: string | undefined;
  readonly maxAuthAgeSeconds?: number | null | undefined;
  readonly requireAmr?: readonly string[] | undefined;
  readonly allowPublic?: boolean | undefined;
  readonly status?: "active" | "paused" | undefined;
}

export interface AssertionsAddClientAnswer {
  id: string;
  clientRuleId: string;
  connectionId: string;
  clientId: string;
  agentId: string;
  scopes: string[];
  defaultScopes: string[];
  resources: string[] | null;
  authorizationDetails: unknown[];
  tokenTtlSeconds: number;
  grantTtl: string;
  maxAuthAgeSeconds: number | null;
  requireAmr: string[];
  allowPublic: boolean;
  status: "active" | "paused";
  createdAt: string;
  updatedAt: string;
}

export interface AssertionsListClientsAnswer {
  clients: AssertionsAddClientAnswer[];
  nextCursor: string | null;
}

export interface AssertionsChangeClientInput {
  readonly scopes?: readonly string[] | undefined;
  readonly defaultScopes?: readonly string[] | undefined;
  readonly resources?: readonly string[] | null | undefined;
  readonly authorizationDetails?: readonly unknown[] | undefined;
  readonly tokenTtlSeconds?: number | undefined;
  readonly grantTtl?: string | undefined;
  readonly maxAuthAgeSeconds?: number | null | undefined;
  readonly requireAmr?: readonly string[] | undefined;
  readonly allowPublic?: boolean | undefined;
  readonly status?: "active" | "paused" | undefined;
}

export interface AssertionsListStopsItem {
  id: string;
  stopId: string;
  agentId: string;
  agentName: string | null;
  principalId: string;
  grantId: string;
  by: "developer" | "principal" | "anomaly" | "policy" | "admin";
  createdAt: string;
}

export interface AssertionsListStopsAnswer {
  stops: AssertionsListStopsItem[];
  nextCursor: string | null;
}

export interface SetupCreateLinkInput {
  readonly name: string;
  readonly purposes: readonly ("sso" | "scim")[];
  /** Required with the purpose `scim`: the token of the link reads and writes the people of the whole account. */ readonly acknowledge?: "all people of the account" | undefined;
  readonly connectionId?: string | undefined;
  readonly expiresIn?: number | undefined;
}

export interface SetupCreateLinkAnswer {
  id: string;
  /** The customer, as their administrator reads it. */ name: string;
  purposes: ("sso" | "scim")[];
  connectionId: string | null;
  status: "open" | "opened" | "finished" | "expired";
  createdAt: string;
  expiresAt: string;
  openedAt: string | null;
  finishedAt: string | null;
  /** The link. Shown once. */ url: string;
}

export interface SetupListLinksItem {
  id: string;
  /** The customer, as their administrator reads it. */ name: string;
  purposes: ("sso" | "scim")[];
  connectionId: string | null;
  status: "open" | "opened" | "finished" | "expired";
  createdAt: string;
  expiresAt: string;
  openedAt: string | null;
  finishedAt: string | null;
}

export interface SetupListLinksAnswer {
  links: SetupListLinksItem[];
  nextCursor: string | null;
}

export interface WebhooksCreateInput {
  readonly url: string;
  readonly events: readonly string[];
  readonly format?: "envelope" | "ocsf" | undefined;
  readonly description?: string | undefined;
}

export interface WebhooksCreateAnswer {
  webhookId: string;
  id: string;
  url: string;
  events: string[];
  format: "envelope" | "ocsf";
  status: "active" | "disabled";
  description: string;
  createdAt: string;
  updatedAt: string;
  lastDeliveryAt: string | null;
  secretRotatedAt: string | null;
  previousSecretExpiresAt: string | null;
  secret: string;
}

export interface WebhooksListAnswer {
  webhooks: Webhook[];
  nextCursor: string | null;
}

export interface WebhooksUpdateInput {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly format?: "envelope" | "ocsf" | undefined;
  readonly description?: string | undefined;
  readonly status?: "active" | "disabled" | undefined;
}

export interface WebhooksRotateSecretInput {
  readonly graceSeconds?: number | undefined;
}

export interface WebhooksRotateSecretAnswer {
  id: string;
  secret: string;
  previousSecretExpiresAt: string;
}

export interface WebhooksTestAnswer {
  eventId: string;
  deliveryId: string;
}

export interface WebhooksDeliveriesQuery {
  readonly status?: "pending" | "delivered" | "failed" | undefined;
  readonly eventType?: string | undefined;
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface WebhooksDeliveriesItem {
  id: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  maxAttempts: number;
  url: string;
  lastError: string | null;
  lastStatusCode: number | null;
  createdAt: string;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  deliveredAt: string | null;
}

export interface WebhooksDeliveriesAnswer {
  deliveries: WebhooksDeliveriesItem[];
  total: number;
  page: number;
  pageSize: number;
  nextCursor: string | null;
}

export interface WebhooksDeliveryAnswer {
  id: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  maxAttempts: number;
  url: string;
  lastError: string | null;
  lastStatusCode: number | null;
  createdAt: string;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  deliveredAt: string | null;
  /** The latest attempts, at most 20, oldest first. No part of an answer is kept. */ attemptLog: {
    /** Counts on when a failed delivery is put back into the queue. */ n: number;
    at: string;
    statusCode: number | null;
    error: string | null;
    durationMs: number | null;
  }[];
  /** The exact text of the body, in the format that the webhook has now. */ payload: string;
  /** What was sent beside it at the last attempt, without the signatures. */ headers: { readonly [name: string]: string };
}

export interface WebhooksRecoverInput {
  readonly since: string;
  readonly until?: string | undefined;
}

export interface WebhooksRecoverAnswer {
  requeued: number;
  /** False when more are left: send the request again. */ complete: boolean;
}

export interface SsfReceiversCreateInput {
  readonly name: string;
  readonly audience?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly subjectFormat?: "iss_sub" | "email" | undefined;
  readonly subjectShape?: "complex" | "simple" | undefined;
  readonly staticToken?: boolean | undefined;
}

export interface SsfReceiversCreateAnswer {
  receiverId: string;
  id: string;
  clientId: string;
  name: string;
  audience: string;
  events: string[];
  subjectFormat: "iss_sub" | "email";
  subjectShape: "complex" | "simple";
  staticToken: boolean;
  createdAt: string;
  updatedAt: string;
  secretRotatedAt: string | null;
  previousSecretExpiresAt: string | null;
  clientSecret: string;
  accessToken?: string;
  accessTokenExpiresAt?: string;
}

export interface SsfReceiversListItem {
  receiverId: string;
  id: string;
  clientId: string;
  name: string;
  audience: string;
  events: string[];
  subjectFormat: "iss_sub" | "email";
  subjectShape: "complex" | "simple";
  staticToken: boolean;
  createdAt: string;
  updatedAt: string;
  secretRotatedAt: string | null;
  previousSecretExpiresAt: string | null;
}

export interface SsfReceiversListAnswer {
  receivers: SsfReceiversListItem[];
  nextCursor: string | null;
}

export interface SsfReceiversChangeInput {
  readonly name?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly subjectFormat?: "iss_sub" | "email" | undefined;
  readonly subjectShape?: "complex" | "simple" | undefined;
}

export interface SsfReceiversRotateSecretAnswer {
  id: string;
  clientSecret: string;
  accessToken?: string;
  accessTokenExpiresAt?: string;
  previousSecretExpiresAt: string;
}

export interface SsfReceiversStreamsAnswer {
  streams: {
    streamId: string;
    receiverId: string;
    method: "push" | "poll";
    endpointUrl: string;
    events: string[];
    status: "enabled" | "paused" | "disabled";
    statusReason: string | null;
    description: string | null;
    failures: number;
    failingSince: string | null;
    polledAt: string | null;
    createdAt: string;
    updatedAt: string;
  }[];
}

export interface SsfReceiversDeliveriesQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly status?: "pending" | "delivered" | "failed" | undefined;
}

export interface SsfReceiversDeliveriesItem {
  id: string;
  streamId: string;
  jti: string;
  eventId: string;
  eventType: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  maxAttempts: number;
  lastError: string | null;
  lastStatusCode: number | null;
  createdAt: string;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  deliveredAt: string | null;
}

export interface SsfReceiversDeliveriesAnswer {
  deliveries: SsfReceiversDeliveriesItem[];
  nextCursor: string | null;
}

export interface OauthPutClientInput {
  readonly redirectUris?: readonly string[] | undefined;
  readonly authMethod: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "workload_jwt";
  readonly dpopBound?: boolean | undefined;
}

export interface OauthPutClientAnswer {
  clientId: string;
  redirectUris: string[];
  authMethod: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "workload_jwt";
  dpopBound: boolean;
  createdAt: string;
  updatedAt: string;
  clientSecret?: string;
}

export interface SignalsPutInput {
  readonly transmitter?: string | undefined;
  readonly delivery?: "push" | "poll" | undefined;
  /** The credential with which the service makes the stream at the transmitter. It is in no answer, so send it with every write. Without it an administrator makes the stream. */ readonly auth?: {
    readonly type: "bearer";
    readonly token: string;
  } | {
    readonly type: "client_credentials";
    readonly tokenEndpoint: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly scope?: string | undefined;
  } | undefined;
  readonly audience?: string | undefined;
  readonly requireHeader?: boolean | undefined;
  /** Grants that end with the sessions: `sessions` none, `idp` those that the person approved by single sign-on, `all` every one. */ readonly onSessionRevoked?: "sessions" | "idp" | "all" | undefined;
  readonly tenant?: string | null | undefined;
}

export interface SignalsPutAnswer {
  connectionId: string;
  transmitter: string;
  delivery: "push" | "poll";
  audience: string;
  /** The address to which the identity provider pushes signals. */ endpointUrl: string;
  requireHeader: boolean;
  /** Grants that end with the sessions: `sessions` none, `idp` those that the person approved by single sign-on, `all` every one. */ onSessionRevoked: "sessions" | "idp" | "all";
  tenant: string | null;
  authType: "bearer" | "client_credentials" | null;
  streamId: string | null;
  lastPolledAt: string | null;
  lastError: string | null;
  lastSignalAt: string | null;
  silentSince: string | null;
  verifiedAt: string | null;
  createdAt: string;
  updatedAt: string;
  /** The `Authorization` of every signal. Shown once, where an administrator has to enter it at the transmitter. */ authorizationHeader?: string;
}

export interface SignalsGetAnswer {
  connectionId: string;
  transmitter: string;
  delivery: "push" | "poll";
  audience: string;
  /** The address to which the identity provider pushes signals. */ endpointUrl: string;
  requireHeader: boolean;
  /** Grants that end with the sessions: `sessions` none, `idp` those that the person approved by single sign-on, `all` every one. */ onSessionRevoked: "sessions" | "idp" | "all";
  tenant: string | null;
  authType: "bearer" | "client_credentials" | null;
  streamId: string | null;
  lastPolledAt: string | null;
  lastError: string | null;
  lastSignalAt: string | null;
  silentSince: string | null;
  verifiedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface ComplianceGetSummaryQuery {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface ComplianceGetSummaryAnswer {
  generatedAt: string;
  since?: string;
  until?: string;
  agents: {
    total: number;
    active: number;
    suspended: number;
    revoked: number;
  };
  grants: {
    total: number;
    active: number;
    revoked: number;
    expired: number;
  };
  auditEntries: {
    total: number;
    success: number;
    failure: number;
    blocked: number;
  };
  policies: {
    total: number;
  };
  plan: string;
}

export interface ComplianceExportGrantsQuery {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly format?: "json" | "ndjson" | "csv" | undefined;
  readonly status?: "active" | "revoked" | "expired" | undefined;
  readonly agentId?: string | undefined;
  readonly principalId?: string | undefined;
}

export interface ComplianceExportGrantsAnswer {
  generatedAt: string;
  total: number;
  grants: {
    id: string;
    grantId: string;
    agentId: string;
    agentDid: string;
    principalId: string;
    developerId: string;
    scopes: string[];
    status: "active" | "revoked" | "expired";
    issuedAt: string;
    expiresAt: string;
    revokedAt: string | null;
    delegationDepth: number;
    parentGrantId: string | null;
    purpose: string | null;
    revokedReason: string | null;
    consentMethod: string;
  }[];
}

export interface ComplianceExportAuditQuery {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly format?: "json" | "ndjson" | "csv" | "ocsf" | undefined;
  readonly agentId?: string | undefined;
  readonly principalId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly action?: string | undefined;
  readonly status?: "success" | "failure" | "blocked" | undefined;
}

export interface ComplianceExportAuditAnswer {
  generatedAt: string;
  total: number;
  entries: AuditEntry[];
}

export interface ComplianceEvidencePackQuery {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly agentId?: string | undefined;
  readonly principalId?: string | undefined;
  readonly caseId?: string | undefined;
  readonly framework?: "soc2" | "gdpr" | "all" | undefined;
  readonly format?: "json" | "zip" | undefined;
}

export interface ComplianceEvidencePackAnswer {
  meta: {
    schemaVersion: "1.0";
    generatedAt: string;
    since?: string;
    until?: string;
    framework: "soc2" | "gdpr" | "all";
    subject?: {
      agentId?: string;
      principalId?: string;
      caseId?: string;
    };
  };
  summary: {
    since?: string;
    until?: string;
    agents: {
      total: number;
      active: number;
      suspended: number;
      revoked: number;
    };
    grants: {
      total: number;
      active: number;
      revoked: number;
      expired: number;
    };
    auditEntries: {
      total: number;
      success: number;
      failure: number;
      blocked: number;
    };
    policies: {
      total: number;
    };
    plan: string;
  };
  grants: {
    id: string;
    grantId: string;
    agentId: string;
    agentDid: string;
    principalId: string;
    developerId: string;
    scopes: string[];
    status: "active" | "revoked" | "expired";
    issuedAt: string;
    expiresAt: string;
    revokedAt: string | null;
    delegationDepth: number;
    parentGrantId: string | null;
    purpose: string | null;
    revokedReason: string | null;
    consentMethod: string;
  }[];
  auditEntries: AuditEntry[];
  policies: Policy[];
  chainIntegrity: AuditVerifyAnswer;
  controls: {
    id: string;
    framework: "soc2" | "gdpr";
    title: string;
    evidence: { readonly [name: string]: number };
  }[];
  attestation: {
    sections: {
      grants: string;
      auditEntries: string;
      policies: string;
    };
    digest: string;
    alg: string;
    kid: string;
    signature: string;
  };
}

export interface CompliancePlaceHoldInput {
  readonly name: string;
  readonly reason?: string | undefined;
  readonly principalId?: string | undefined;
}

export interface CompliancePlaceHoldAnswer {
  id: string;
  name: string;
  reason: string | null;
  principalId: string | null;
  createdAt: string;
  releasedAt: string | null;
}

export interface ComplianceListHoldsQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly standing?: "true" | undefined;
}

export interface ComplianceListHoldsAnswer {
  holds: CompliancePlaceHoldAnswer[];
  nextCursor: string | null;
}

export interface ApproversInviteInput {
  readonly email?: string | undefined;
  readonly principalId?: string | undefined;
  readonly displayName?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly connectors?: readonly string[] | null | undefined;
}

export interface ApproversInviteAnswer {
  approverId: string;
  kind: "person" | "principal";
  principalId: string | null;
  /** The `sub` of the decision grants of this person. */ sub: string;
  email: string;
  /** Whether the link to enrol went by mail and nowhere else. */ emailVerified: boolean;
  displayName: string;
  groups: string[];
  connectors: string[] | null;
  /** `dual`: the address is verified and another approver confirmed the person. `sso`: the provider of the address’s verified domain vouches for the person. */ assurance: "single" | "dual" | "sso";
  status: "invited" | "pending_confirmation" | "active" | "suspended" | "removed";
  enrolledBy: string;
  confirmedBy: string | null;
  activeFrom: string | null;
  absence: {
    from: string;
    until: string;
    deputyApproverId: string | null;
  } | null;
  /** From then on a link of the operator replaces the passkeys of the person. */ recoveryFrom: string | null;
  createdAt: string;
  link: string | null;
  expiresAt: string;
}

export interface ApproversListItem {
  approverId: string;
  kind: "person" | "principal";
  principalId: string | null;
  /** The `sub` of the decision grants of this person. */ sub: string;
  email: string;
  /** Whether the link to enrol went by mail and nowhere else. */ emailVerified: boolean;
  displayName: string;
  groups: string[];
  connectors: string[] | null;
  /** `dual`: the address is verified and another approver confirmed the person. `sso`: the provider of the address’s verified domain vouches for the person. */ assurance: "single" | "dual" | "sso";
  status: "invited" | "pending_confirmation" | "active" | "suspended" | "removed";
  enrolledBy: string;
  confirmedBy: string | null;
  activeFrom: string | null;
  absence: {
    from: string;
    until: string;
    deputyApproverId: string | null;
  } | null;
  /** From then on a link of the operator replaces the passkeys of the person. */ recoveryFrom: string | null;
  createdAt: string;
}

export interface ApproversListAnswer {
  approvers: ApproversListItem[];
  nextCursor: string | null;
}

export interface ApproversChangeInput {
  readonly groups?: readonly string[] | undefined;
  readonly connectors?: readonly string[] | null | undefined;
  readonly status?: "active" | "suspended" | undefined;
}

export interface ApproversSetAbsenceInput {
  readonly from: string;
  readonly until: string;
  readonly deputyApproverId?: string | undefined;
}

export interface ApproverRecoveriesBeginInput {
  readonly approverId: string;
}

export interface ApproverRecoveriesBeginAnswer {
  approverId: string;
  link: string | null;
  opensAt: string;
  expiresAt: string;
}

export interface ConsoleCreateLinkInput {
  readonly displayName?: string | undefined;
  readonly email?: string | undefined;
}

export interface ConsoleCreateLinkAnswer {
  /** Opens the console once. */ url: string;
  expiresAt: string;
}

export interface MemberRecoveriesBeginInput {
  readonly displayName: string;
  readonly email: string;
}

export interface ChangesListQuery {
  readonly status?: "open" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface ChangesListItem {
  id: string;
  changeId: string;
  status: "open" | "applied" | "withdrawn" | "expired";
  /** The operation that was asked for. */ operation: string;
  about: string;
  /** What would be other than it is, or was. */ difference: { readonly [name: string]: unknown };
  params: { readonly [name: string]: unknown } | null;
  /** The request. Null once it is decided. */ body: { readonly [name: string]: unknown } | null;
  /** SHA-256 over the request. Who agrees repeats it. */ hash: string;
  /** The actor who asked for it. */ proposedBy: string;
  /** The members who agreed. */ approvedBy: string[];
  /** How many members have to agree: two where an API key asked. */ needed: number;
  createdAt: string;
  expiresAt: string;
  decidedAt: string | null;
}

export interface ChangesListAnswer {
  changes: ChangesListItem[];
  nextCursor: string | null;
}

export interface DecisionsRequestInput {
  readonly grantToken: string;
  readonly connector: string;
  readonly tool: string;
  readonly arguments: { readonly [name: string]: unknown };
  readonly resource?: string | undefined;
  readonly amount?: number | undefined;
  readonly caseId?: string | undefined;
  readonly caseVersion?: string | undefined;
  /** The same for each attempt of one logical call. Until its request expires, the call gets that request again, whatever became of it. */ readonly callId?: string | undefined;
  readonly summary?: string | undefined;
  readonly expiresIn?: string | undefined;
  readonly approvers?: readonly string[] | undefined;
}

export interface DecisionsRequestAnswer {
  decisionId: string;
  status: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired";
  connector: string;
  tool: string;
  arguments: { readonly [name: string]: unknown };
  /** The hash that the approvers sign: of the whole call, or of what the manifest binds and the manifest. */ actionHash: string;
  caseId: string | null;
  caseVersion: string | null;
  decision: string | null;
  quorum: number;
  approvals: {
    /** The `sub` of the person. */ approver: string;
    at: string;
    position: number;
    onBehalfOf?: string;
    relaxed?: boolean;
  }[];
  agentId: string;
  grantId: string;
  principalId: string;
  createdAt: string;
  expiresAt: string;
  /** The page on which an approver decides. It gives no rights. */ url: string;
}

export interface DecisionsListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly status?: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired" | undefined;
  readonly caseId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly grantId?: string | undefined;
}

export interface DecisionsListAnswer {
  decisions: DecisionsRequestAnswer[];
  nextCursor: string | null;
}

export interface DecisionsGrantsInput {
  readonly grantToken: string;
}

export interface DecisionsGrantsAnswer {
  decisionGrants: string[];
}

export interface DecisionsConsumeInput {
  readonly decisionGrants: readonly string[];
  readonly action: {
    /** 2 for a tool whose manifest has `binds`. */ readonly v: 1 | 2;
    readonly connector: string;
    readonly tool: string;
    readonly manifest?: string | undefined;
    readonly arguments: { readonly [name: string]: unknown };
    readonly case_id: string | null;
    readonly case_version: string | null;
    readonly decision: string | null;
  };
  readonly caseVersion: string | null;
  readonly callId: string;
  readonly grantToken: string;
  readonly phase?: "hold" | "send" | "spend" | "release" | undefined;
}

export interface DecisionsConsumeAnswer {
  consumed: true;
  state: "free" | "held" | "sent" | "spent";
  replayed: boolean;
  decisionId: string;
  requestId: string;
  callId: string;
  actionHash: string;
  jtis: string[];
  approvers: {
    sub: string;
    jti: string;
    at: string;
  }[];
}

export interface DecisionsSetCaseVersionInput {
  /** The grants whose requests through the vault proxy may name the case in `Behest-Case`. Without this member the case keeps its grants. */ readonly grantIds?: readonly string[] | undefined;
}

export interface DecisionsSetCaseVersionAnswer {
  caseId: string;
  caseVersion: string;
  grantIds: string[];
}

export interface DecisionsAddChannelInput {
  readonly kind: "slack" | "teams";
  readonly name: string;
  readonly url: string;
}

export interface DecisionsAddChannelAnswer {
  id: string;
  kind: "slack" | "teams";
  name: string;
  /** Its origin and last four characters, because such a URL is a secret. */ url: string;
  createdAt: string;
}

export interface DecisionsListChannelsAnswer {
  channels: DecisionsAddChannelAnswer[];
}

export interface VaultPutProxyProfileInput {
  readonly upstreams: { readonly [name: string]: string };
  readonly inject: {
    readonly style: "bearer";
  } | {
    readonly style: "basic";
    readonly username?: string | undefined;
  } | {
    readonly style: "header";
    readonly name: string;
    readonly prefix?: string | undefined;
  } | {
    readonly style: "query";
    readonly name: string;
    readonly acknowledgeUrlRisk: true;
  };
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly rules: readonly {
    readonly id: string;
    readonly methods: readonly ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE")[];
    readonly upstream?: string | undefined;
    readonly path: string;
    readonly query?: readonly string[] | null | undefined;
    readonly tool?: {
      readonly connector: string;
      readonly tool: string;
      readonly resource?: string | undefined;
      readonly amount?: string | undefined;
      readonly body?: "json" | "stream" | "none" | undefined;
    } | undefined;
    readonly range?: boolean | undefined;
    readonly unmapped?: true | undefined;
  }[];
  readonly exchange?: "allowed" | "proxy_only" | undefined;
  readonly perMinute?: number | undefined;
  readonly maxRequestBytes?: number | undefined;
  readonly maxResponseBytes?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly forwardHeaders?: readonly string[] | undefined;
  readonly returnHeaders?: readonly string[] | undefined;
}

export interface VaultPutProxyProfileAnswer {
  service: string;
  version: number;
  upstreams: { readonly [name: string]: string };
  inject: {
    style: "bearer";
  } | {
    style: "basic";
    username?: string;
  } | {
    style: "header";
    name: string;
    prefix?: string;
  } | {
    style: "query";
    name: string;
    acknowledgeUrlRisk: true;
  };
  headers?: { readonly [name: string]: string };
  rules: {
    id: string;
    methods: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE")[];
    upstream?: string;
    path: string;
    query?: string[] | null;
    tool?: {
      connector: string;
      tool: string;
      resource?: string;
      amount?: string;
      body?: "json" | "stream" | "none";
    };
    range?: boolean;
    unmapped?: true;
  }[];
  perMinute?: number;
  maxRequestBytes?: number;
  maxResponseBytes?: number;
  timeoutSeconds?: number;
  forwardHeaders?: string[];
  returnHeaders?: string[];
  exchange: "allowed" | "proxy_only";
  warnings: {
    code: "credential_in_url";
  }[];
  createdAt: string;
  updatedAt: string;
}

export interface VaultListProxyProfilesAnswer {
  profiles: VaultPutProxyProfileAnswer[];
  nextCursor: string | null;
}

export interface VaultListProxyCallsQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly service?: string | undefined;
  readonly agentId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly outcome?: string | undefined;
}

export interface VaultListProxyCallsItem {
  callId: string;
  agentId: string;
  grantId: string;
  credentialId: string;
  service: string;
  upstream: string;
  method: string;
  rule: string;
  tool: string | null;
  status: number | null;
  outcome: string | null;
  responseBytes: number | null;
  durationMs: number | null;
  createdAt: string;
}

export interface VaultListProxyCallsAnswer {
  calls: VaultListProxyCallsItem[];
  nextCursor: string | null;
}

export interface PrincipalsListQuery {
  readonly query?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface PrincipalsListItem {
  principalId: string;
  holds: ("grants" | "passkeys" | "vault" | "directory")[];
}

export interface PrincipalsListAnswer {
  principals: PrincipalsListItem[];
  nextCursor: string | null;
}

export interface PrincipalsGetAnswer {
  principalId: string;
  grants: {
    active: number;
    revoked: number;
    expired: number;
  };
  openRequests: number;
  sessions: number;
  services: string[];
  passkeys: number;
  hasAddress: boolean;
  directory: {
    userId: string;
    userName: string;
    active: boolean;
  } | null;
  offboarding: {
    offboardingId: string;
    endedAt: string;
    isClosed: boolean;
  } | null;
  lastActivityAt: string | null;
  truncated: boolean;
}

export interface PrincipalsOffboardInput {
  readonly keepCredentials?: boolean | undefined;
}

export interface PrincipalsOffboardAnswer {
  principalId: string;
  grantsRevoked: number;
  requestsCancelled: number;
  sessionsEnded: number;
  credentialsDeleted: number;
  passkeysRemoved: number;
  addressRemoved: boolean;
  statement: string | null;
}

export interface PrincipalsOffboardingAnswer {
  offboardingId: string;
  kind: "principal" | "agent";
  subjectId: string;
  principalIds: string[];
  principalIdsInAnyCase: string[];
  isClosed: boolean;
  endedAt: string;
  firstSeq: number;
  seq: number;
  hash: string;
  ended: { readonly [name: string]: number };
  remaining: { readonly [name: string]: number };
  upstream: {
    credentialId: string;
    service: string;
    state: "pending" | "revoked" | "failed" | "unsupported";
    at: string | null;
  }[];
  upstreamStates: {
    pending: number;
    revoked: number;
    failed: number;
    unsupported: number;
  };
  receivers: {
    webhookId: string;
    pending: number;
    delivered: number;
    failed: number;
  }[];
  deliveries: {
    pending: number;
    delivered: number;
    failed: number;
  };
  statement: string;
}

export interface AuditEraseInput {
  readonly principalId: string;
  readonly reason?: string | undefined;
}

export interface AuditEraseAnswer {
  erasureId: string;
  status: "running" | "done";
}

export interface AuditErasureAnswer {
  erasureId: string;
  status: "running" | "done";
  entries: number;
  brokenEntries: number;
  finishedAt: string | null;
}

export interface GrantsReceiptQuery {
  readonly format?: "json" | "html" | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface GrantsReceiptAnswer {
  format: "behest.receipt/1";
  issuer: string;
  issuerDid: string;
  generatedAt: string;
  audience: "principal" | "developer";
  sandbox?: true;
  grantId: string;
  rootGrantId: string;
  since?: string;
  until?: string;
  log: {
    origin: string;
    url: string;
    vkey: string | null;
  };
  checkpoint: {
    size: number;
    root: string;
    note: string | null;
  };
  labels: {
    agents: { readonly [name: string]: string };
    scopes: { readonly [name: string]: string };
  };
  warnings: string[];
  keys: {
    did: unknown;
    jwks: unknown;
    witnesses: string[];
  };
  consent: {
    parts: string[];
  } | null;
  entries: {
    index: number;
    hash: string;
    parts: string[];
  }[];
  proof: string[];
  limits?: {
    holds: boolean | null;
    first: {
      seq: number;
      grantId: string;
      problem: "cap_exceeded" | "not_counted" | "budget_exceeded" | "balance_differs";
    } | null;
    calls: number;
    refunded: number;
    unread: number;
    caps: {
      grantId: string;
      connector: string;
      tool?: string;
      window: "per_hour" | "per_day" | "per_case";
      limit: number;
      peak: number;
    }[];
    budgets: {
      grantId: string;
      allocationId: string;
      currency: string;
      limit: string;
      peak: string;
      spent: string;
    }[];
  };
  statement: string;
}

export interface AnomaliesDetectAnswer {
  detectedAt: string;
  total: number;
  anomalies: {
    id: string;
    type: string;
    severity: "low" | "medium" | "high" | "critical";
    agentId: string | null;
    principalId: string | null;
    description: string;
    metadata: { readonly [name: string]: unknown };
    detectedAt: string;
    acknowledgedAt: string | null;
  }[];
  autoRevokedGrants: number;
}

export interface AnomaliesListQuery {
  readonly unacknowledged?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface AnomaliesListItem {
  id: string;
  type: string;
  severity: "low" | "medium" | "high" | "critical";
  agentId: string | null;
  principalId: string | null;
  description: string;
  metadata: { readonly [name: string]: unknown };
  detectedAt: string;
  acknowledgedAt: string | null;
}

export interface AnomaliesListAnswer {
  anomalies: AnomaliesListItem[];
  total: number;
  nextCursor: string | null;
}

export interface AnomaliesAcknowledgeInput {
  readonly note?: string | undefined;
}

export interface AnomaliesAlertsQuery {
  readonly status?: "open" | "acknowledged" | "resolved" | undefined;
  readonly severity?: "low" | "medium" | "high" | "critical" | undefined;
  readonly agentId?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface AnomaliesAlertsAnswer {
  data: AnomalyAlert[];
  nextCursor: string | null;
}

export interface AnomaliesMetricsQuery {
  readonly window?: "1h" | "6h" | "24h" | "7d" | "30d" | undefined;
  readonly agentId?: string | undefined;
}

export interface AnomaliesMetricsAnswer {
  window: string;
  total: number;
  byStatus: {
    open: number;
    acknowledged: number;
    resolved: number;
  };
  bySeverity: {
    critical: number;
    high: number;
    medium: number;
    low: number;
  };
  byRule: { readonly [name: string]: number };
}

export interface AnomaliesRulesAnswer {
  rules: {
    builtIn: boolean;
    ruleId: string;
    name: string;
    severity: "low" | "medium" | "high" | "critical";
    description: string;
    enabled: boolean;
    response: "none" | "revoke_grants" | "suspend_agent";
    id?: string;
    condition?: {
      timeWindow: "5m" | "15m" | "1h" | "6h" | "24h";
      threshold: number;
      agentIds?: string[];
      scopes?: string[];
      actions?: string[];
      statuses?: ("success" | "failure" | "blocked")[];
    };
    alertChannels?: string[];
    createdAt?: string;
  }[];
}

export interface AnomaliesCreateRuleInput {
  readonly ruleId: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly severity?: "low" | "medium" | "high" | "critical" | undefined;
  readonly response?: "none" | "revoke_grants" | "suspend_agent" | undefined;
  readonly alertChannels?: readonly string[] | undefined;
  readonly condition: {
    readonly timeWindow: "5m" | "15m" | "1h" | "6h" | "24h";
    readonly threshold: number;
    readonly agentIds?: readonly string[] | undefined;
    readonly scopes?: readonly string[] | undefined;
    readonly actions?: readonly string[] | undefined;
    readonly statuses?: readonly ("success" | "failure" | "blocked")[] | undefined;
  };
}

export interface AnomaliesCreateRuleAnswer {
  builtIn: boolean;
  ruleId: string;
  name: string;
  severity: "low" | "medium" | "high" | "critical";
  description: string;
  enabled: boolean;
  response: "none" | "revoke_grants" | "suspend_agent";
  id?: string;
  condition?: {
    timeWindow: "5m" | "15m" | "1h" | "6h" | "24h";
    threshold: number;
    agentIds?: string[];
    scopes?: string[];
    actions?: string[];
    statuses?: ("success" | "failure" | "blocked")[];
  };
  alertChannels?: string[];
  createdAt?: string;
}

export interface AnomaliesChangeRuleInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly severity?: "low" | "medium" | "high" | "critical" | undefined;
  readonly response?: "none" | "revoke_grants" | "suspend_agent" | undefined;
  readonly enabled?: boolean | undefined;
  readonly alertChannels?: readonly string[] | undefined;
  readonly condition?: {
    readonly timeWindow: "5m" | "15m" | "1h" | "6h" | "24h";
    readonly threshold: number;
    readonly agentIds?: readonly string[] | undefined;
    readonly scopes?: readonly string[] | undefined;
    readonly actions?: readonly string[] | undefined;
    readonly statuses?: readonly ("success" | "failure" | "blocked")[] | undefined;
  } | undefined;
}

export interface AnomaliesChannelsAnswer {
  channels: {
    id: string;
    type: "webhook" | "slack" | "email";
    name: string;
    config: {
      url?: string;
      secret?: string;
      webhookUrl?: string;
      to?: string[];
    };
    severities: ("low" | "medium" | "high" | "critical")[];
    enabled: boolean;
    createdAt: string;
    /** The addresses that get no message until their holders confirm. */ unconfirmed?: string[];
  }[];
}

export interface AnomaliesCreateChannelInput {
  readonly type: "webhook" | "slack" | "email";
  readonly name: string;
  readonly config: {
    readonly url?: string | undefined;
    readonly secret?: string | undefined;
    readonly webhookUrl?: string | undefined;
    readonly to?: readonly string[] | undefined;
  };
  readonly severities?: readonly ("low" | "medium" | "high" | "critical")[] | undefined;
}

export interface AnomaliesCreateChannelAnswer {
  id: string;
  type: "webhook" | "slack" | "email";
  name: string;
  config: {
    url?: string;
    secret?: string;
    webhookUrl?: string;
    to?: string[];
  };
  severities: ("low" | "medium" | "high" | "critical")[];
  enabled: boolean;
  createdAt: string;
  /** The addresses that get no message until their holders confirm. */ unconfirmed?: string[];
}

export interface AnomaliesChangeChannelInput {
  readonly enabled?: boolean | undefined;
  readonly severities?: readonly ("low" | "medium" | "high" | "critical")[] | undefined;
  readonly config?: {
    readonly url?: string | undefined;
    readonly secret?: string | undefined;
    readonly webhookUrl?: string | undefined;
    readonly to?: readonly string[] | undefined;
  } | undefined;
}

export interface AnomaliesTestChannelAnswer {
  messageId: string;
}

export interface SearchFindQuery {
  readonly q: string;
}

export interface SearchFindAnswer {
  results: {
    kind: "agent" | "grant" | "token" | "request" | "decision" | "entry" | "principal" | "key" | "policy" | "webhook" | "delivery" | "credential" | "anomaly" | "approver" | "connection" | "user";
    id: string;
    title: string;
    hint: string;
  }[];
}

export interface UsageApi {
  /**
   * Count the requests of today and of this month.
   *
   * Sends `GET /v1/usage`.
   */
  current(options?: CallOptions): Promise<UsageCurrentAnswer>;
  /**
   * List the requests of each day, newest first.
   *
   * Sends `GET /v1/usage/history`.
   */
  history(query?: UsageHistoryQuery, options?: CallOptions): Promise<UsageHistoryAnswer>;
}

export interface RequestsApi {
  /**
   * List failed requests of 72 hours, newest first. Requests with an API key of the account whose status was 400 or above. No body, header, query or path is kept.
   *
   * Sends `GET /v1/requests`.
   */
  list(query?: RequestsListQuery, options?: CallOptions): List<RequestsListAnswer, RequestsListAnswer['requests'][number]>;
  /**
   * Count failed requests of 72 hours by code and operation.
   *
   * Sends `GET /v1/requests/groups`.
   */
  groups(options?: CallOptions): Promise<RequestsGroupsAnswer>;
  /**
   * Read a failed request by its request id.
   *
   * Sends `GET /v1/requests/{requestId}`.
   */
  get(requestId: string, options?: CallOptions): Promise<RequestsListItem>;
}

export interface InsightsApi {
  /**
   * Count what happened by hour or day. Denials are those of calls that were made, and decisions those that a person granted or denied. Counts are kept for 90 days.
   *
   * Sends `GET /v1/insights/series`.
   */
  series(query: InsightsSeriesQuery, options?: CallOptions): Promise<InsightsSeriesAnswer>;
  /**
   * Count denied calls by reason. Denials of calls that were made, in the whole hours that the span touches. Counts are kept for 90 days.
   *
   * Sends `GET /v1/insights/denials`.
   */
  denials(query: InsightsDenialsQuery, options?: CallOptions): Promise<InsightsDenialsAnswer>;
}

export interface EventsApi {
  /**
   * List the events of the last 72 hours, oldest first.
   *
   * Sends `GET /v1/events`.
   */
  list(query?: EventsListQuery, options?: CallOptions): List<EventsListAnswer, EventsListAnswer['events'][number]>;
}

export interface AuditApi {
  /**
   * Append an entry about an act of an agent.
   *
   * Sends `POST /v1/audit/log`.
   */
  log(input: AuditLogInput, options?: CallOptions): Promise<AuditEntry>;
  /**
   * List audit entries in the order of the chain.
   *
   * Sends `GET /v1/audit/entries`.
   */
  list(query?: AuditListQuery, options?: CallOptions): List<AuditListAnswer, AuditListAnswer['entries'][number]>;
  /**
   * Read the head of the chain and its newest checkpoint.
   *
   * Sends `GET /v1/audit/head`.
   */
  head(options?: CallOptions): Promise<AuditHeadAnswer>;
  /**
   * Verify the chain, or a range of it.
   *
   * Sends `GET /v1/audit/verify`.
   */
  verify(query?: AuditVerifyQuery, options?: CallOptions): Promise<AuditVerifyAnswer>;
  /**
   * Read an audit entry.
   *
   * Sends `GET /v1/audit/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<AuditEntry>;
  /**
   * Explain the answer to a call or a refused request: each check with its facts, and what would allow it. For entries `tool.enforce`, and for requests of consent and delegations that were refused: `authorization.blocked`, `policy.denied` and `authorization.scope_refused`. A fact is what the entry recorded, or what is true now, and says which. No argument’s value is kept, so none is shown.
   *
   * Sends `GET /v1/audit/{id}/explanation`.
   */
  explain(id: string, options?: CallOptions): Promise<AuditExplainAnswer>;
  /**
   * Erase the content of a person from audit entries. The hashes stay, so the chain can be checked as before; the person, the salt and personal members of the metadata go. Refused while the person has an active grant, or a legal hold about them or the account stands.
   *
   * Sends `POST /v1/audit/erasures`.
   */
  erase(input: AuditEraseInput, options?: CallOptions): Promise<AuditEraseAnswer>;
  /**
   * Read how far an erasure is.
   *
   * Sends `GET /v1/audit/erasures/{id}`.
   */
  erasure(id: string, options?: CallOptions): Promise<AuditErasureAnswer>;
}

export interface TransparencyApi {
  /**
   * Read the account's transparency log: its address, key and newest state.
   *
   * Sends `GET /v1/transparency`.
   */
  get(options?: CallOptions): Promise<TransparencyGetAnswer>;
  /**
   * Prove that an entry stands in the log. Takes `entryId` or `seq`.
   *
   * Sends `GET /v1/transparency/inclusion`.
   */
  inclusion(query?: TransparencyInclusionQuery, options?: CallOptions): Promise<TransparencyInclusionAnswer>;
  /**
   * Prove that the log only grew between two sizes.
   *
   * Sends `GET /v1/transparency/consistency`.
   */
  consistency(query: TransparencyConsistencyQuery, options?: CallOptions): Promise<TransparencyConsistencyAnswer>;
}

export interface DevelopersApi {
  /**
   * Read how the pages for people show the account.
   *
   * Sends `GET /v1/me/branding`.
   */
  branding(options?: CallOptions): Promise<DevelopersBrandingAnswer>;
  /**
   * Set the logo and the colour with which the pages for people show the account.
   *
   * Sends `PATCH /v1/me/branding`.
   */
  changeBranding(input?: DevelopersChangeBrandingInput, options?: CallOptions): Promise<DevelopersBrandingAnswer>;
  /**
   * Show the account by its name alone.
   *
   * Sends `DELETE /v1/me/branding`.
   */
  removeBranding(options?: CallOptions): Promise<void>;
  /**
   * See how the pages for people would show the account. Changes nothing. What the body leaves out is shown as it is now.
   *
   * Sends `POST /v1/me/branding/preview`.
   */
  previewBranding(input?: DevelopersChangeBrandingInput, options?: CallOptions): Promise<DevelopersPreviewBrandingAnswer>;
  /**
   * Stop every agent and grant of the account at once.
   *
   * Sends `POST /v1/me/stop`.
   */
  stop(input?: DevelopersStopInput, options?: CallOptions): Promise<DevelopersStopAnswer>;
  /**
   * Lift the stop of the account.
   *
   * Sends `POST /v1/me/resume`.
   */
  resume(options?: CallOptions): Promise<DevelopersStopAnswer>;
  /**
   * Close the account for good, and erase its data after 30 days.
   *
   * Sends `POST /v1/me/close`.
   */
  close(input: DevelopersCloseInput, options?: CallOptions): Promise<DevelopersCloseAnswer>;
}

export interface KeysApi {
  /**
   * List API keys, newest first.
   *
   * Sends `GET /v1/keys`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<KeysListAnswer, KeysListAnswer['keys'][number]>;
  /**
   * Create an API key. A `runtime` key with `agentIds` is bound: it sees these agents and acts for these, and for no others.
   *
   * Sends `POST /v1/keys`.
   */
  create(input: KeysCreateInput, options?: CallOptions): Promise<KeysCreateAnswer>;
  /**
   * Replace the API key that makes this call.
   *
   * Sends `POST /v1/keys/rotate`.
   */
  rotate(input?: KeysRotateInput, options?: CallOptions): Promise<KeysRotateAnswer>;
  /**
   * Revoke an API key.
   *
   * Sends `DELETE /v1/keys/{id}`.
   */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

export interface EmailsApi {
  /**
   * Mail a link that verifies an address.
   *
   * Sends `POST /v1/signup/verify`.
   */
  sendLink(input: EmailsSendLinkInput, options?: CallOptions): Promise<EmailsSendLinkAnswer>;
}

export interface DomainsApi {
  /**
   * Register a domain.
   *
   * Sends `POST /v1/domains`.
   */
  create(input: DomainsCreateInput, options?: CallOptions): Promise<DomainsCreateAnswer>;
  /**
   * List domains, newest first.
   *
   * Sends `GET /v1/domains`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<DomainsListAnswer, DomainsListAnswer['domains'][number]>;
  /**
   * Get a domain.
   *
   * Sends `GET /v1/domains/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<Domain>;
  /**
   * Delete a domain.
   *
   * Sends `DELETE /v1/domains/{id}`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Look for the TXT record of a domain.
   *
   * Sends `POST /v1/domains/{id}/verify`.
   */
  verify(id: string, options?: CallOptions): Promise<DomainsVerifyAnswer>;
}

export interface AgentsApi {
  /**
   * Register an agent.
   *
   * Sends `POST /v1/agents`.
   */
  register(input: AgentsRegisterInput, options?: CallOptions): Promise<Agent>;
  /**
   * List agents, newest first.
   *
   * Sends `GET /v1/agents`.
   */
  list(query?: AgentsListQuery, options?: CallOptions): List<AgentsListAnswer, AgentsListAnswer['agents'][number]>;
  /**
   * Read an agent, whatever its status.
   *
   * Sends `GET /v1/agents/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<Agent>;
  /**
   * Change an agent; suspend or resume it.
   *
   * Sends `PATCH /v1/agents/{id}`.
   */
  update(id: string, input?: AgentsUpdateInput, options?: CallOptions): Promise<Agent>;
  /**
   * Revoke an agent and everything granted to it.
   *
   * Sends `DELETE /v1/agents/{id}`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Get a signed statement that nothing of a revoked agent was left.
   *
   * Sends `GET /v1/agents/{id}/offboarding`.
   */
  offboarding(id: string, options?: CallOptions): Promise<PrincipalsOffboardingAnswer>;
}

export interface ScimApi {
  /**
   * Create a token for an identity provider, which provisions people with it.
   *
   * Sends `POST /v1/scim/tokens`.
   */
  createToken(input: ScimCreateTokenInput, options?: CallOptions): Promise<ScimCreateTokenAnswer>;
  /**
   * List SCIM tokens without their secrets, newest first.
   *
   * Sends `GET /v1/scim/tokens`.
   */
  listTokens(query?: EntriesListQuery, options?: CallOptions): List<ScimListTokensAnswer, ScimListTokensAnswer['tokens'][number]>;
  /**
   * Delete a SCIM token, which is refused from then on.
   *
   * Sends `DELETE /v1/scim/tokens/{id}`.
   */
  revokeToken(id: string, options?: CallOptions): Promise<void>;
  /**
   * Provision a person.
   *
   * Sends `POST /scim/v2/Users`.
   */
  createUser(input: { readonly [name: string]: unknown }, query?: ScimGetUserQuery, options?: CallOptions): Promise<ScimResource>;
  /**
   * List the people that pass a filter.
   *
   * Sends `GET /scim/v2/Users`.
   */
  listUsers(query?: ScimListUsersQuery, options?: CallOptions): List<ScimPage, ScimPage['Resources'][number]>;
  /**
   * List the people that pass a filter, which is in the body.
   *
   * Sends `POST /scim/v2/Users/.search`.
   */
  searchUsers(input: { readonly [name: string]: unknown }, options?: CallOptions): Promise<ScimSearchUsersAnswer>;
  /**
   * Read a person.
   *
   * Sends `GET /scim/v2/Users/{id}`.
   */
  getUser(id: string, query?: ScimGetUserQuery, options?: CallOptions): Promise<ScimResource>;
  /**
   * Replace a person.
   *
   * Sends `PUT /scim/v2/Users/{id}`.
   */
  replaceUser(id: string, input: { readonly [name: string]: unknown }, query?: ScimGetUserQuery, options?: CallOptions): Promise<ScimResource>;
  /**
   * Change attributes of a person.
   *
   * Sends `PATCH /scim/v2/Users/{id}`.
   */
  updateUser(id: string, input: { readonly [name: string]: unknown }, query?: ScimGetUserQuery, options?: CallOptions): Promise<ScimResource>;
  /**
   * Delete a person, and end everything that agents hold of them.
   *
   * Sends `DELETE /scim/v2/Users/{id}`.
   */
  deleteUser(id: string, options?: CallOptions): Promise<void>;
  /**
   * Create a group.
   *
   * Sends `POST /scim/v2/Groups`.
   */
  createGroup(input: { readonly [name: string]: unknown }, query?: ScimGetUserQuery, options?: CallOptions): Promise<ScimResource>;
  /**
   * List the groups that pass a filter.
   *
   * Sends `GET /scim/v2/Groups`.
   */
  listGroups(query?: ScimListUsersQuery, options?: CallOptions): List<ScimSearchUsersAnswer, ScimSearchUsersAnswer['Resources'][number]>;
  /**
   * List the groups that pass a filter, which is in the body.
   *
   * Sends `POST /scim/v2/Groups/.search`.
   */
  searchGroups(input: { readonly [name: string]: unknown }, options?: CallOptions): Promise<ScimSearchUsersAnswer>;
  /**
   * Read a group.
   *
   * Sends `GET /scim/v2/Groups/{id}`.
   */
  getGroup(id: string, query?: ScimGetUserQuery, options?: CallOptions): Promise<ScimResource>;
  /**
   * Replace a group.
   *
   * Sends `PUT /scim/v2/Groups/{id}`.
   */
  replaceGroup(id: string, input: { readonly [name: string]: unknown }, query?: ScimGetUserQuery, options?: CallOptions): Promise<ScimResource>;
  /**
   * Change attributes of a group.
   *
   * Sends `PATCH /scim/v2/Groups/{id}`.
   */
  updateGroup(id: string, input: { readonly [name: string]: unknown }, query?: ScimGetUserQuery, options?: CallOptions): Promise<ScimResource>;
  /**
   * Delete a group.
   *
   * Sends `DELETE /scim/v2/Groups/{id}`.
   */
  deleteGroup(id: string, options?: CallOptions): Promise<void>;
  /**
   * Do many operations in one request, each by itself.
   *
   * Sends `POST /scim/v2/Bulk`.
   */
  bulk(input: { readonly [name: string]: unknown }, options?: CallOptions): Promise<ScimBulkAnswer>;
  /**
   * List the people, and then the groups, that pass a filter.
   *
   * Sends `POST /scim/v2/.search`.
   */
  search(input: { readonly [name: string]: unknown }, options?: CallOptions): Promise<ScimSearchUsersAnswer>;
  /**
   * The parts of SCIM that the service has.
   *
   * Sends `GET /scim/v2/ServiceProviderConfig`.
   */
  config(options?: CallOptions): Promise<ScimResource>;
  /**
   * The kinds of resources.
   *
   * Sends `GET /scim/v2/ResourceTypes`.
   */
  listResourceTypes(query?: ScimListResourceTypesQuery, options?: CallOptions): Promise<ScimSearchUsersAnswer>;
  /**
   * One kind of resources.
   *
   * Sends `GET /scim/v2/ResourceTypes/{id}`.
   */
  getResourceType(id: string, options?: CallOptions): Promise<ScimResource>;
  /**
   * The attributes of all resources.
   *
   * Sends `GET /scim/v2/Schemas`.
   */
  listSchemas(query?: ScimListResourceTypesQuery, options?: CallOptions): Promise<ScimSearchUsersAnswer>;
  /**
   * The attributes of one schema.
   *
   * Sends `GET /scim/v2/Schemas/{id}`.
   */
  getSchema(id: string, options?: CallOptions): Promise<ScimResource>;
  /**
   * Not offered: a SCIM token stands for no person.
   *
   * Sends `GET /scim/v2/Me`.
   */
  getMe(options?: CallOptions): Promise<void>;
  /**
   * Not offered: a SCIM token stands for no person.
   *
   * Sends `POST /scim/v2/Me`.
   */
  postMe(input: { readonly [name: string]: unknown }, options?: CallOptions): Promise<void>;
  /**
   * Not offered: a SCIM token stands for no person.
   *
   * Sends `PUT /scim/v2/Me`.
   */
  putMe(input: { readonly [name: string]: unknown }, options?: CallOptions): Promise<void>;
  /**
   * Not offered: a SCIM token stands for no person.
   *
   * Sends `PATCH /scim/v2/Me`.
   */
  patchMe(input: { readonly [name: string]: unknown }, options?: CallOptions): Promise<void>;
  /**
   * Not offered: a SCIM token stands for no person.
   *
   * Sends `DELETE /scim/v2/Me`.
   */
  deleteMe(options?: CallOptions): Promise<void>;
}

export interface ProvidersApi {
  /**
   * Add an upstream at which people connect their accounts. The service reads what the upstream publishes about itself, in this call. Register `redirectUri` of the answer at the upstream.
   *
   * Sends `POST /v1/vault/providers`.
   */
  add(input: ProvidersAddInput, options?: CallOptions): Promise<Provider>;
  /**
   * List providers, newest first.
   *
   * Sends `GET /v1/vault/providers`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<ProvidersListAnswer, ProvidersListAnswer['providers'][number]>;
  /**
   * List the presets, which describe upstreams that many developers use.
   *
   * Sends `GET /v1/vault/provider-presets`.
   */
  presets(options?: CallOptions): Promise<ProvidersPresetsAnswer>;
  /**
   * Read a provider without its secrets.
   *
   * Sends `GET /v1/vault/providers/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<Provider>;
  /**
   * Change a provider. Connections keep the endpoints and the client with which they were made. Another issuer, token endpoint or client drops the client secret: send its own in the same body.
   *
   * Sends `PATCH /v1/vault/providers/{id}`.
   */
  change(id: string, input?: ProvidersChangeInput, options?: CallOptions): Promise<Provider>;
  /**
   * Delete a provider through which no account is connected.
   *
   * Sends `DELETE /v1/vault/providers/{id}`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Read again what the upstream publishes about itself.
   *
   * Sends `POST /v1/vault/providers/{id}/discover`.
   */
  discover(id: string, options?: CallOptions): Promise<Provider>;
}

export interface SsoApi {
  /**
   * Add an identity provider at which people sign in.
   *
   * Sends `POST /v1/sso/connections`.
   */
  createConnection(input: SsoCreateConnectionInput, options?: CallOptions): Promise<SsoConnection>;
  /**
   * List connections, oldest first.
   *
   * Sends `GET /v1/sso/connections`.
   */
  listConnections(query?: EntriesListQuery, options?: CallOptions): List<SsoListConnectionsAnswer, SsoListConnectionsAnswer['connections'][number]>;
  /**
   * Read a connection without its secrets.
   *
   * Sends `GET /v1/sso/connections/{id}`.
   */
  getConnection(id: string, options?: CallOptions): Promise<SsoConnection>;
  /**
   * Change a connection. Members that the body leaves out stay, and `null` clears an optional one. Another provider, or another status than `active`, ends the sessions of the connection.
   *
   * Sends `PATCH /v1/sso/connections/{id}`.
   */
  updateConnection(id: string, input?: SsoUpdateConnectionInput, options?: CallOptions): Promise<SsoConnection>;
  /**
   * Delete a connection, and end its sessions.
   *
   * Sends `DELETE /v1/sso/connections/{id}`.
   */
  deleteConnection(id: string, options?: CallOptions): Promise<void>;
  /**
   * Try a connection. A failure is 200 too, with `success: false`. `error` is its category, and `message` says what to do.
   *
   * Sends `POST /v1/sso/connections/{id}/test`.
   */
  testConnection(id: string, options?: CallOptions): Promise<SsoTestConnectionAnswer>;
  /**
   * Read the SAML metadata of an identity provider, and keep nothing. The answer has the members that a connection by SAML takes. A 400 says which part of the metadata is missing or cannot be used.
   *
   * Sends `POST /v1/sso/metadata`.
   */
  readMetadata(input?: SsoReadMetadataInput, options?: CallOptions): Promise<SsoReadMetadataAnswer>;
  /**
   * List the subjects by which the provider of a connection knows a person.
   *
   * Sends `GET /v1/sso/connections/{id}/identities`.
   */
  listIdentities(id: string, query: SsoListIdentitiesQuery, options?: CallOptions): Promise<SsoListIdentitiesAnswer>;
  /**
   * Link a person to another subject of the provider. A sign-in never does this: a second subject with the address of a person who is linked is refused, and the audit entry `sso.login_failed` with the reason `other_subject` names it. The subject before, and whoever had this one, lose the link. Their sessions at the connection end.
   *
   * Sends `PUT /v1/sso/connections/{id}/identities`.
   */
  moveIdentity(id: string, input: SsoMoveIdentityInput, options?: CallOptions): Promise<SsoMoveIdentityAnswer>;
  /**
   * Enforce single sign-on, or stop enforcing it.
   *
   * Sends `POST /v1/sso/enforce`.
   */
  setEnforcement(input: SsoSetEnforcementInput, options?: CallOptions): Promise<SsoSetEnforcementAnswer>;
  /**
   * Write the single configuration that older clients know. It is the connection named `default`. New clients use connections.
   *
   * Sends `POST /v1/sso/config`.
   */
  createConfig(input: SsoCreateConfigInput, options?: CallOptions): Promise<SsoCreateConfigAnswer>;
  /**
   * Read the single configuration.
   *
   * Sends `GET /v1/sso/config`.
   */
  getConfig(options?: CallOptions): Promise<SsoCreateConfigAnswer>;
  /**
   * Delete the single configuration.
   *
   * Sends `DELETE /v1/sso/config`.
   */
  deleteConfig(options?: CallOptions): Promise<void>;
  /**
   * List live sessions, newest first.
   *
   * Sends `GET /v1/sso/sessions`.
   */
  listSessions(query?: SsoListSessionsQuery, options?: CallOptions): List<SsoListSessionsAnswer, SsoListSessionsAnswer['sessions'][number]>;
  /**
   * End a session.
   *
   * Sends `DELETE /v1/sso/sessions/{id}`.
   */
  revokeSession(id: string, options?: CallOptions): Promise<void>;
  /**
   * Take the answer of an OpenID provider from a browser. A browser that asks for a page gets one that posts the same parameters, so that fetching the address uses no code up.
   *
   * Sends `GET /sso/callback`.
   */
  handleCallback(query?: SsoHandleCallbackQuery, options?: CallOptions): Promise<SsoSession>;
  /**
   * Take the answer of an OpenID provider from the page of its address.
   *
   * Sends `POST /sso/callback`.
   */
  callbackForm(input?: SsoCallbackFormInput, options?: CallOptions): Promise<SsoSession>;
  /**
   * Take the answer of an OpenID provider from a program.
   *
   * Sends `POST /sso/callback/oidc`.
   */
  handleOidcCallback(input?: SsoHandleOidcCallbackInput, options?: CallOptions): Promise<SsoSession>;
  /**
   * Take the answer of a SAML identity provider.
   *
   * Sends `POST /sso/callback/saml`.
   */
  handleSamlCallback(input: SsoHandleSamlCallbackInput, options?: CallOptions): Promise<SsoSession>;
  /**
   * Sign a person in with the password of a directory.
   *
   * Sends `POST /sso/callback/ldap`.
   */
  handleLdapCallback(input: SsoHandleLdapCallbackInput, options?: CallOptions): Promise<SsoSession>;
}

export interface DidsApi {
  /**
   * Resolve a DID of the service, of an agent or of a key.
   *
   * Sends `GET /v1/dids/{did}`.
   */
  resolve(did: string, options?: CallOptions): Promise<DidsResolveAnswer>;
}

export interface ManifestsApi {
  /**
   * Register the manifest of a connector, or a new version of it.
   *
   * Sends `PUT /v1/manifests/{connector}`.
   */
  put(connector: string, input: { readonly [name: string]: unknown }, options?: CallOptions): Promise<ManifestsPutAnswer>;
  /**
   * Read a manifest.
   *
   * Sends `GET /v1/manifests/{connector}`.
   */
  get(connector: string, options?: CallOptions): Promise<StoredManifest>;
  /**
   * Remove a manifest, so that calls of its tools are denied.
   *
   * Sends `DELETE /v1/manifests/{connector}`.
   */
  remove(connector: string, options?: CallOptions): Promise<void>;
  /**
   * List manifests, by connector.
   *
   * Sends `GET /v1/manifests`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<ManifestsListAnswer, ManifestsListAnswer['manifests'][number]>;
  /**
   * List what a manifest was after each change, the newest first. The last 51 are kept, of at most 4 MiB together. To go back, put the older one again. Those of the 20 connectors that were deleted last stay.
   *
   * Sends `GET /v1/manifests/{connector}/versions`.
   */
  versions(connector: string, query?: EntriesListQuery, options?: CallOptions): List<ManifestsVersionsAnswer, ManifestsVersionsAnswer['versions'][number]>;
  /**
   * Tell which calls a draft of a manifest would have denied or allowed. Judges the recorded calls of at most 30 days once by the manifest as it is and once by the draft: with the whole scopes of their grants, and with caps that begin to count with the span. It has no effect and leaves no entry.
   *
   * Sends `POST /v1/manifests/{connector}/replay`.
   */
  replay(connector: string, input: ManifestsReplayInput, options?: CallOptions): Promise<ManifestsReplayAnswer>;
}

export interface ResourcesApi {
  /**
   * Register a server that takes tokens. Its URI becomes the audience of tokens. The credential of the answer is shown once; with it the server introspects tokens.
   *
   * Sends `POST /v1/resources`.
   */
  add(input: ResourcesAddInput, options?: CallOptions): Promise<ResourcesAddAnswer>;
  /**
   * List registered servers, newest first.
   *
   * Sends `GET /v1/resources`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<ResourcesListAnswer, ResourcesListAnswer['resources'][number]>;
  /**
   * Read a registered server without its credential.
   *
   * Sends `GET /v1/resources/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<ResourcesListItem>;
  /**
   * Change a registered server.
   *
   * Sends `PATCH /v1/resources/{id}`.
   */
  change(id: string, input?: ResourcesChangeInput, options?: CallOptions): Promise<ResourcesListItem>;
  /**
   * Remove a registered server.
   *
   * Sends `DELETE /v1/resources/{id}`.
   */
  remove(id: string, options?: CallOptions): Promise<void>;
}

export interface VerifiersApi {
  /**
   * Register a verifier that confirms revocations. A verifier has a lease while it renews it. It may answer from memory only while it has one, and only about what it asked after its registration.
   *
   * Sends `POST /v1/verifiers`.
   */
  register(input: VerifiersRegisterInput, options?: CallOptions): Promise<VerifiersRegisterAnswer>;
  /**
   * Renew a verifier's lease, and confirm a revocation. A verifier that owes a confirmation gets no lease. It forgets every answer, signs the position in `asked`, and renews again with it. Only the API key that registered a verifier may renew its lease.
   *
   * Sends `PUT /v1/verifiers/{id}/lease`.
   */
  renew(id: string, input?: VerifiersRenewInput, options?: CallOptions): Promise<VerifiersRenewAnswer>;
}

export interface GrantsApi {
  /**
   * List grants, newest first.
   *
   * Sends `GET /v1/grants`.
   */
  list(query?: GrantsListQuery, options?: CallOptions): List<GrantsListAnswer, GrantsListAnswer['grants'][number]>;
  /**
   * Count what ends with an agent, a principal, a grant or a stop of the account.
   *
   * Sends `GET /v1/stops/preview`.
   */
  previewStop(query?: GrantsPreviewStopQuery, options?: CallOptions): Promise<GrantsPreviewStopAnswer>;
  /**
   * Read a grant.
   *
   * Sends `GET /v1/grants/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<Grant>;
  /**
   * Revoke a grant, its tokens and everything delegated from it. With `wait=confirmed` the answer is a signed statement of who has confirmed that they accept the grant no more. The grant is revoked before the wait. A repeated call waits again, until a statement is complete.
   *
   * Sends `DELETE /v1/grants/{id}`.
   */
  revoke(id: string, query?: GrantsRevokeQuery, options?: CallOptions): Promise<GrantsRevokeAnswer | undefined>;
  /**
   * Read the newest statement about the revocation of a grant.
   *
   * Sends `GET /v1/grants/{id}/revocation`.
   */
  revocation(id: string, options?: CallOptions): Promise<GrantsRevokeAnswer>;
  /**
   * Give a part of a grant to another agent. The new grant reaches no further than its parent. It ends with the parent at the latest, and is revoked with it. A parent token that is bound to a key needs a `DPoP` proof of that key.
   *
   * Sends `POST /v1/grants/delegate`.
   */
  delegate(input: GrantsDelegateInput, options?: CallOptions): Promise<GrantsDelegateAnswer>;
  /**
   * List the tokens of a grant, newest first; never their text.
   *
   * Sends `GET /v1/grants/{id}/tokens`.
   */
  tokens(id: string, query?: EntriesListQuery, options?: CallOptions): List<GrantsTokensAnswer, GrantsTokensAnswer['tokens'][number]>;
  /**
   * Get the receipt of a grant: what was approved, done under it and ended, with its proofs.
   *
   * Sends `GET /v1/grants/{id}/receipt`.
   */
  receipt(id: string, query?: GrantsReceiptQuery & { readonly format?: 'json' }, options?: CallOptions): Promise<GrantsReceiptAnswer>;
  /**
   * Get the receipt of a grant: what was approved, done under it and ended, with its proofs.
   *
   * Sends `GET /v1/grants/{id}/receipt`.
   */
  receipt(id: string, query?: GrantsReceiptQuery, options?: CallOptions): Promise<GrantsReceiptAnswer | Response>;
}

export interface PoliciesApi {
  /**
   * Create a policy. It holds for every request that starts after the answer. `warnings` names what the author may not have meant: policies that never decide, and those that contradict each other, with an example.
   *
   * Sends `POST /v1/policies`.
   */
  create(input: PoliciesCreateInput, options?: CallOptions): Promise<PoliciesCreateAnswer>;
  /**
   * List policies, in the order of evaluation.
   *
   * Sends `GET /v1/policies`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<PoliciesListAnswer, PoliciesListAnswer['policies'][number]>;
  /**
   * Get a policy.
   *
   * Sends `GET /v1/policies/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<Policy>;
  /**
   * Change a policy. An absent field stays, and null clears a condition. The policy is checked as a whole.
   *
   * Sends `PATCH /v1/policies/{id}`.
   */
  update(id: string, input?: PoliciesUpdateInput, options?: CallOptions): Promise<PoliciesCreateAnswer>;
  /**
   * Delete a policy.
   *
   * Sends `DELETE /v1/policies/{id}`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * List what a policy was after each change, the newest first. The last 50 are kept, of at most 512 KiB together. To go back, change the policy to what it was. They are deleted with the policy, which the entry `policy.deleted` of the audit log holds as it was last.
   *
   * Sends `GET /v1/policies/{id}/versions`.
   */
  versions(id: string, query?: EntriesListQuery, options?: CallOptions): List<PoliciesVersionsAnswer, PoliciesVersionsAnswer['versions'][number]>;
  /**
   * Tell how policies would decide about a request. A dry run: it has no effect and leaves no entry.
   *
   * Sends `POST /v1/policies/evaluate`.
   */
  evaluate(input: PoliciesEvaluateInput, options?: CallOptions): Promise<PoliciesEvaluateAnswer>;
  /**
   * Tell what a draft of a policy would have changed. Decides about the recorded authorization requests of at most 30 days, at their own times, once by the policies as they are and once with the draft. It has no effect and leaves no entry.
   *
   * Sends `POST /v1/policies/replay`.
   */
  replay(input: PoliciesReplayInput, options?: CallOptions): Promise<PoliciesReplayAnswer>;
}

export interface AuthorizationsApi {
  /**
   * List authorization requests, newest first. A page looks at 2,000 requests at most. It may be short, or empty, and the list goes on while there is a `nextCursor`.
   *
   * Sends `GET /v1/authorize`.
   */
  list(query?: AuthorizationsListQuery, options?: CallOptions): List<AuthorizationsListAnswer, AuthorizationsListAnswer['requests'][number]>;
  /**
   * Read an authorization request.
   *
   * Sends `GET /v1/authorize/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<AuthorizationRequest>;
  /**
   * Cancel an open authorization request.
   *
   * Sends `DELETE /v1/authorize/{id}`.
   */
  cancel(id: string, options?: CallOptions): Promise<void>;
  /**
   * Get a code for an approved request without a redirect URI.
   *
   * Sends `POST /v1/authorize/{id}/code`.
   */
  code(id: string, options?: CallOptions): Promise<AuthorizationsCodeAnswer>;
  /**
   * Get a new link to the consent page for a pending request. The link before opens nothing from then on.
   *
   * Sends `POST /v1/authorize/{id}/link`.
   */
  link(id: string, options?: CallOptions): Promise<AuthorizationsLinkAnswer>;
  /**
   * Approve an authorization request in the sandbox.
   *
   * Sends `POST /v1/authorize/{id}/approve`.
   */
  approve(id: string, options?: CallOptions): Promise<AuthorizationsApproveAnswer>;
  /**
   * Deny an authorization request in the sandbox.
   *
   * Sends `POST /v1/authorize/{id}/deny`.
   */
  deny(id: string, options?: CallOptions): Promise<AuthorizationsApproveAnswer>;
}

export interface VaultApi {
  /**
   * Get the principal's credential for a service with a grant token. The token needs one of the scopes `*`, `<service>:*`, `<service>:read`, `<service>:credentials:read`, `vault:<service>:*`, `vault:<service>:read` or `vault:credentials:exchange`. The rate is counted by token.
   *
   * Sends `POST /v1/vault/credentials/exchange`.
   */
  exchange(grantToken: string, input: VaultExchangeInput, options?: CallOptions): Promise<VaultExchangeAnswer>;
  /**
   * Store an upstream credential of a principal, or replace it. A principal has one credential for each service. Storing again replaces every field, and keeps the id. No API key reads the secrets back.
   *
   * Sends `POST /v1/vault/credentials`.
   */
  store(input: VaultStoreInput, options?: CallOptions): Promise<VaultStoreAnswer>;
  /**
   * List credentials without their secrets, newest first. Pages by `page` and `pageSize`, or by `cursor` and `limit`, but not both.
   *
   * Sends `GET /v1/vault/credentials`.
   */
  list(query?: VaultListQuery, options?: CallOptions): List<VaultListAnswer, VaultListAnswer['credentials'][number]>;
  /**
   * Read a credential without its secrets.
   *
   * Sends `GET /v1/vault/credentials/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<VaultCredential>;
  /**
   * Delete a credential and the key of its secrets.
   *
   * Sends `DELETE /v1/vault/credentials/{id}`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Say how agents reach the upstream of a service through the vault proxy. Replaces the profile, and counts its version. Credentials that are stored already go only to origins that the profile had when they were stored. The service of the path is that of credentials.
   *
   * Sends `PUT /v1/vault/proxy-profiles/{service}`.
   */
  putProxyProfile(service: string, input: VaultPutProxyProfileInput, options?: CallOptions): Promise<VaultPutProxyProfileAnswer>;
  /**
   * Read a proxy profile.
   *
   * Sends `GET /v1/vault/proxy-profiles/{service}`.
   */
  getProxyProfile(service: string, options?: CallOptions): Promise<VaultPutProxyProfileAnswer>;
  /**
   * Switch the vault proxy of a service off.
   *
   * Sends `DELETE /v1/vault/proxy-profiles/{service}`.
   */
  deleteProxyProfile(service: string, options?: CallOptions): Promise<void>;
  /**
   * List proxy profiles, by service.
   *
   * Sends `GET /v1/vault/proxy-profiles`.
   */
  listProxyProfiles(query?: EntriesListQuery, options?: CallOptions): List<VaultListProxyProfilesAnswer, VaultListProxyProfilesAnswer['profiles'][number]>;
  /**
   * List calls through the vault proxy and what came of them, newest first. The service keeps them for thirty days. The audit log keeps that a call was made.
   *
   * Sends `GET /v1/vault/proxy/calls`.
   */
  listProxyCalls(query?: VaultListProxyCallsQuery, options?: CallOptions): List<VaultListProxyCallsAnswer, VaultListProxyCallsAnswer['calls'][number]>;
}

export interface BudgetsApi {
  /**
   * Give a grant a budget.
   *
   * Sends `POST /v1/budget/allocate`.
   */
  allocate(input: BudgetsAllocateInput, options?: CallOptions): Promise<Budget>;
  /**
   * Debit the budget of a grant, and those above it.
   *
   * Sends `POST /v1/budget/debit`.
   */
  debit(input: BudgetsDebitInput, options?: CallOptions): Promise<BudgetsDebitAnswer>;
  /**
   * Give a debit back, or a part of it.
   *
   * Sends `POST /v1/budget/refund`.
   */
  refund(input: BudgetsRefundInput, options?: CallOptions): Promise<BudgetsRefundAnswer>;
  /**
   * Get the budget of a grant.
   *
   * Sends `GET /v1/budget/balance/{grantId}`.
   */
  balance(grantId: string, options?: CallOptions): Promise<Budget>;
  /**
   * List budgets, newest first.
   *
   * Sends `GET /v1/budget/allocations`.
   */
  list(query?: BudgetsListQuery, options?: CallOptions): List<BudgetsListAnswer, BudgetsListAnswer['allocations'][number]>;
  /**
   * Add up the ledger of all budgets.
   *
   * Sends `GET /v1/budget/verify`.
   */
  verify(options?: CallOptions): Promise<BudgetsVerifyAnswer>;
  /**
   * List the debits and refunds of a grant’s budget, newest first.
   *
   * Sends `GET /v1/budget/transactions/{grantId}`.
   */
  transactions(grantId: string, query?: BudgetsTransactionsQuery, options?: CallOptions): List<BudgetsTransactionsAnswer, BudgetsTransactionsAnswer['transactions'][number]>;
}

export interface PrincipalSessionsApi {
  /**
   * Open a session in which a principal sees and ends grants to agents.
   *
   * Sends `POST /v1/principal-sessions`.
   */
  create(input: PrincipalSessionsCreateInput, options?: CallOptions): Promise<PrincipalSessionsCreateAnswer>;
}

export interface PrincipalApi {
  /**
   * List the principal's grants, newest first.
   *
   * Sends `GET /v1/principal/grants`.
   */
  grants(query?: PrincipalGrantsQuery, options?: CallOptions): List<PrincipalGrantsAnswer, PrincipalGrantsAnswer['grants'][number]>;
  /**
   * Revoke all of the principal's active grants, all or none.
   *
   * Sends `DELETE /v1/principal/grants`.
   */
  revokeAll(options?: CallOptions): Promise<PrincipalRevokeAllAnswer>;
  /**
   * Revoke one of the principal's grants, its tokens and all grants delegated from it.
   *
   * Sends `DELETE /v1/principal/grants/{id}`.
   */
  revoke(id: string, options?: CallOptions): Promise<void>;
  /**
   * List the audit entries about the principal, newest first.
   *
   * Sends `GET /v1/principal/audit`.
   */
  audit(query?: PrincipalAuditQuery, options?: CallOptions): List<PrincipalAuditAnswer, PrincipalAuditAnswer['entries'][number]>;
  /**
   * Tell whether a link to the page of the own permissions is mailed to an address of the principal.
   *
   * Sends `GET /v1/principal/address`.
   */
  address(options?: CallOptions): Promise<PrincipalAddressAnswer>;
  /**
   * Forget the principal's proved address, and end the other sessions.
   *
   * Sends `DELETE /v1/principal/address`.
   */
  removeAddress(options?: CallOptions): Promise<void>;
  /**
   * End the session.
   *
   * Sends `DELETE /v1/principal/session`.
   */
  end(options?: CallOptions): Promise<void>;
  /**
   * List the principal's passkeys, newest first.
   *
   * Sends `GET /v1/principal/passkeys`.
   */
  passkeys(query?: EntriesListQuery, options?: CallOptions): List<PrincipalPasskeysAnswer, PrincipalPasskeysAnswer['passkeys'][number]>;
  /**
   * Remove one of the principal's passkeys.
   *
   * Sends `DELETE /v1/principal/passkeys/{id}`.
   */
  removePasskey(id: string, options?: CallOptions): Promise<void>;
  /**
   * Make a link by which the principal connects an account, or connects it again.
   *
   * Sends `POST /v1/principal/connections`.
   */
  connect(input: ConnectionsAskAsAgentInput, options?: CallOptions): Promise<ConnectionsAskAnswer>;
  /**
   * List the principal's connected accounts, newest first.
   *
   * Sends `GET /v1/principal/connections`.
   */
  connections(query?: EntriesListQuery, options?: CallOptions): List<PrincipalConnectionsAnswer, PrincipalConnectionsAnswer['connections'][number]>;
  /**
   * Disconnect an account, and revoke its tokens at the upstream.
   *
   * Sends `DELETE /v1/principal/connections/{id}`.
   */
  disconnect(id: string, options?: CallOptions): Promise<void>;
  /**
   * List what keeps agents from getting a grant of the principal again, newest first.
   *
   * Sends `GET /v1/principal/stops`.
   */
  stops(query?: EntriesListQuery, options?: CallOptions): List<AssertionsListStopsAnswer, AssertionsListStopsAnswer['stops'][number]>;
  /**
   * Lift one of the principal's own stops. A stop that somebody else has made holds.
   *
   * Sends `DELETE /v1/principal/stops/{id}`.
   */
  liftStop(id: string, options?: CallOptions): Promise<void>;
  /**
   * Get the receipt of one of the principal's grants: what was approved, done under it and ended, with its proofs.
   *
   * Sends `GET /v1/principal/grants/{id}/receipt`.
   */
  receipt(id: string, query?: GrantsReceiptQuery & { readonly format?: 'json' }, options?: CallOptions): Promise<GrantsReceiptAnswer>;
  /**
   * Get the receipt of one of the principal's grants: what was approved, done under it and ended, with its proofs.
   *
   * Sends `GET /v1/principal/grants/{id}/receipt`.
   */
  receipt(id: string, query?: GrantsReceiptQuery, options?: CallOptions): Promise<GrantsReceiptAnswer | Response>;
}

export interface PrincipalsApi {
  /**
   * Forget the proved address of a principal, and end the sessions of the principal.
   *
   * Sends `DELETE /v1/principal-addresses/{id}`.
   */
  removeAddress(id: string, options?: CallOptions): Promise<void>;
  /**
   * Find the principals who hold something, by the beginning of their ids.
   *
   * Sends `GET /v1/principals`.
   */
  list(query?: PrincipalsListQuery, options?: CallOptions): List<PrincipalsListAnswer, PrincipalsListAnswer['principals'][number]>;
  /**
   * Read what the account has of a principal, and what an offboarding would end.
   *
   * Sends `GET /v1/principals/{principalId}`.
   */
  get(principalId: string, options?: CallOptions): Promise<PrincipalsGetAnswer>;
  /**
   * End all that agents hold of a person, under every id, and remove their credentials.
   *
   * Sends `POST /v1/principals/{principalId}/offboard`.
   */
  offboard(principalId: string, input?: PrincipalsOffboardInput, options?: CallOptions): Promise<PrincipalsOffboardAnswer>;
  /**
   * Get a signed statement that nothing of an offboarded person was left.
   *
   * Sends `GET /v1/principals/{principalId}/offboarding`.
   */
  offboarding(principalId: string, options?: CallOptions): Promise<PrincipalsOffboardingAnswer>;
  /**
   * Let agents ask an offboarded person again, under every id; nothing that ended comes back.
   *
   * Sends `DELETE /v1/principals/{principalId}/offboarding`.
   */
  admit(principalId: string, options?: CallOptions): Promise<void>;
}

export interface WebauthnApi {
  /**
   * Begin to register a passkey of a principal who is signed in.
   *
   * Sends `POST /v1/webauthn/register/options`.
   */
  registerOptions(input: SsoListIdentitiesQuery, options?: CallOptions): Promise<WebauthnRegisterOptionsAnswer>;
  /**
   * Store the passkey that the authenticator has made.
   *
   * Sends `POST /v1/webauthn/register/verify`.
   */
  registerVerify(input: WebauthnRegisterVerifyInput, options?: CallOptions): Promise<WebauthnRegisterVerifyAnswer>;
  /**
   * List the passkeys of a principal, newest first.
   *
   * Sends `GET /v1/webauthn/credentials`.
   */
  listCredentials(principalId: string, query?: EntriesListQuery, options?: CallOptions): List<WebauthnListCredentialsAnswer, WebauthnListCredentialsAnswer['credentials'][number]>;
  /**
   * Rename a passkey, or clear the suspicion that there is a copy of it.
   *
   * Sends `PATCH /v1/webauthn/credentials/{id}`.
   */
  changeCredential(id: string, input?: WebauthnChangeCredentialInput, options?: CallOptions): Promise<WebauthnListCredentialsItem>;
  /**
   * Remove a passkey.
   *
   * Sends `DELETE /v1/webauthn/credentials/{id}`.
   */
  deleteCredential(id: string, options?: CallOptions): Promise<void>;
}

export interface CredentialsApi {
  /**
   * Issue a credential about a grant.
   *
   * Sends `POST /v1/credentials`.
   */
  issue(input: CredentialsIssueInput, options?: CallOptions): Promise<VerifiableCredential>;
  /**
   * List credentials, newest first.
   *
   * Sends `GET /v1/credentials`.
   */
  list(query?: CredentialsListQuery, options?: CallOptions): List<CredentialsListAnswer, CredentialsListAnswer['credentials'][number]>;
  /**
   * Get a credential.
   *
   * Sends `GET /v1/credentials/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<VerifiableCredential>;
  /**
   * Revoke a credential, whose grant lives on.
   *
   * Sends `POST /v1/credentials/{id}/revoke`.
   */
  revoke(id: string, input?: DevelopersStopInput, options?: CallOptions): Promise<CredentialsRevokeAnswer>;
  /**
   * Verify a credential.
   *
   * Sends `POST /v1/credentials/verify`.
   */
  verify(credential: string, options?: CallOptions): Promise<CredentialsVerifyAnswer>;
  /**
   * Verify what a holder shows of an SD-JWT.
   *
   * Sends `POST /v1/credentials/present`.
   */
  present(input: CredentialsPresentInput, options?: CallOptions): Promise<CredentialsPresentAnswer>;
}

export interface ConnectionsApi {
  /**
   * Make a link by which a person connects an account. The link opens a page on which the person proves to be the principal, and sees who connects what for whom. The key proves nothing there.
   *
   * Sends `POST /v1/vault/connect-sessions`.
   */
  ask(input: ConnectionsAskInput, options?: CallOptions): Promise<ConnectionsAskAnswer>;
  /**
   * Read a connect session.
   *
   * Sends `GET /v1/vault/connect-sessions/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<ConnectionsGetAnswer>;
  /**
   * Cancel a connect session from which nothing came back yet.
   *
   * Sends `DELETE /v1/vault/connect-sessions/{id}`.
   */
  cancel(id: string, options?: CallOptions): Promise<void>;
  /**
   * Make a link by which the grant token's principal connects an account. The token needs a scope that allows the exchange of this service, or `vault:<service>:proxy`.
   *
   * Sends `POST /v1/vault/credentials/connect`.
   */
  askAsAgent(grantToken: string, input: ConnectionsAskAsAgentInput, options?: CallOptions): Promise<ConnectionsAskAnswer>;
  /**
   * Read a connect session of the grant token's principal.
   *
   * Sends `GET /v1/vault/credentials/connect/{id}`.
   */
  getAsAgent(grantToken: string, id: string, options?: CallOptions): Promise<ConnectionsGetAnswer>;
}

export interface WalletAuthorizationsApi {
  /**
   * Issue an authorization for one payment.
   *
   * Sends `POST /v1/wallet/authorizations`.
   */
  issue(input: WalletAuthorizationsIssueInput, options?: CallOptions): Promise<WalletAuthorizationsIssueAnswer>;
  /**
   * List authorizations, newest first.
   *
   * Sends `GET /v1/wallet/authorizations`.
   */
  list(query?: PrincipalAuditQuery, options?: CallOptions): List<WalletAuthorizationsListAnswer, WalletAuthorizationsListAnswer['authorizations'][number]>;
  /**
   * Get an authorization.
   *
   * Sends `GET /v1/wallet/authorizations/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<WalletAuthorizationsListItem>;
  /**
   * Revoke an authorization.
   *
   * Sends `POST /v1/wallet/authorizations/{id}/revoke`.
   */
  revoke(id: string, options?: CallOptions): Promise<WalletAuthorizationsListItem>;
  /**
   * Use an authorization, once.
   *
   * Sends `POST /v1/wallet/authorizations/{id}/consume`.
   */
  consume(id: string, options?: CallOptions): Promise<WalletAuthorizationsListItem>;
  /**
   * Verify an authorization.
   *
   * Sends `POST /v1/wallet/authorizations/verify`.
   */
  verify(input: WalletAuthorizationsVerifyInput, options?: CallOptions): Promise<WalletAuthorizationsVerifyAnswer>;
}

export interface WorkloadsApi {
  /**
   * Trust the JWTs of an issuer to identify an agent. The agent then shows such a JWT at `POST /oauth/token` as its `client_assertion`, once its `authMethod` is `workload_jwt`.
   *
   * Sends `POST /v1/agents/{id}/workloads`.
   */
  add(id: string, input: WorkloadsAddInput, options?: CallOptions): Promise<WorkloadsAddAnswer>;
  /**
   * List the issuers that identify an agent, newest first.
   *
   * Sends `GET /v1/agents/{id}/workloads`.
   */
  list(id: string, query?: EntriesListQuery, options?: CallOptions): List<WorkloadsListAnswer, WorkloadsListAnswer['workloads'][number]>;
  /**
   * Trust an issuer no longer.
   *
   * Sends `DELETE /v1/agents/{id}/workloads/{workloadId}`.
   */
  remove(id: string, workloadId: string, options?: CallOptions): Promise<void>;
}

export interface PolicyBundlesApi {
  /**
   * Store a policy bundle. A version that is there already with the same content is answered with 200. With `POLICY_BACKEND=cedar_bundles` a Cedar bundle is read first, and one with a fault is refused.
   *
   * Sends `POST /v1/policies/sync`.
   */
  sync(input: PolicyBundlesSyncInput, options?: CallOptions): Promise<PolicyBundlesSyncAnswer>;
  /**
   * List policy bundles, newest first.
   *
   * Sends `GET /v1/policies/bundles`.
   */
  list(query?: PolicyBundlesListQuery, options?: CallOptions): List<PolicyBundlesListAnswer, PolicyBundlesListAnswer['bundles'][number]>;
  /**
   * Get the active policy bundle of a format.
   *
   * Sends `GET /v1/policies/bundles/active`.
   */
  active(query: PolicyBundlesActiveQuery, options?: CallOptions): Promise<PolicyBundlesListItem>;
  /**
   * Get the content of a policy bundle.
   *
   * Sends `GET /v1/policies/bundles/{id}/content`.
   */
  content(id: string, options?: CallOptions): Promise<Response>;
  /**
   * Delete a policy bundle that is not active.
   *
   * Sends `DELETE /v1/policies/bundles/{id}`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Roll back or forward to a policy bundle.
   *
   * Sends `POST /v1/policies/bundles/{id}/activate`.
   */
  activate(id: string, options?: CallOptions): Promise<PolicyBundlesListItem>;
  /**
   * Make the secret of Git notifications. It is shown once, and replaces the former one.
   *
   * Sends `POST /v1/policies/sync/secret`.
   */
  rotateSecret(options?: CallOptions): Promise<PolicyBundlesRotateSecretAnswer>;
}

export interface TokensApi {
  /**
   * Exchange an authorization code for a grant token.
   *
   * Sends `POST /v1/token`.
   */
  exchange(input: TokensExchangeInput, options?: CallOptions): Promise<TokenSet>;
  /**
   * Exchange a refresh token for new tokens.
   *
   * Sends `POST /v1/token/refresh`.
   */
  refresh(input: TokensRefreshInput, options?: CallOptions): Promise<TokensRefreshAnswer>;
  /**
   * Ask whether a grant token is valid now.
   *
   * Sends `POST /v1/tokens/verify`.
   */
  verify(token: string, input?: TokensVerifyInput, options?: CallOptions): Promise<TokensVerifyAnswer>;
  /**
   * Revoke one grant token, by its id or its text.
   *
   * Sends `POST /v1/tokens/revoke`.
   */
  revoke(jti: string, options?: CallOptions): Promise<void>;
  /**
   * Introspect a token (RFC 7662).
   *
   * Sends `POST /v1/tokens/introspect`.
   */
  introspect(token: string, input?: TokensIntrospectInput, options?: CallOptions): Promise<TokensIntrospectAnswer>;
}

export interface PassportsApi {
  /**
   * Issue a passport about a grant.
   *
   * Sends `POST /v1/passport/issue`.
   */
  issue(input: PassportsIssueInput, options?: CallOptions): Promise<PassportsIssueAnswer>;
  /**
   * Get a passport.
   *
   * Sends `GET /v1/passport/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<PassportsGetAnswer>;
  /**
   * List passports, newest first. A hundred at most. The header `Link` with `rel="next"` names the rest.
   *
   * Sends `GET /v1/passports`.
   */
  list(query?: PassportsListQuery, options?: CallOptions): List<PassportsListAnswer, (PassportsListAnswer)[number]>;
  /**
   * Revoke a passport, and those below it.
   *
   * Sends `POST /v1/passport/{id}/revoke`.
   */
  revoke(id: string, options?: CallOptions): Promise<PassportsRevokeAnswer>;
  /**
   * Verify a passport.
   *
   * Sends `POST /v1/passports/verify`.
   */
  verify(input: PassportsVerifyInput, options?: CallOptions): Promise<PassportsVerifyAnswer>;
}

export interface BillingApi {
  /**
   * Get the subscription of the account.
   *
   * Sends `GET /v1/billing/subscription`.
   */
  getSubscription(options?: CallOptions): Promise<BillingGetSubscriptionAnswer>;
  /**
   * Begin the payment of a plan.
   *
   * Sends `POST /v1/billing/checkout`.
   */
  createCheckout(input: BillingCreateCheckoutInput, options?: CallOptions): Promise<BillingCreateCheckoutAnswer>;
  /**
   * Open the page on which the subscription is changed.
   *
   * Sends `POST /v1/billing/portal`.
   */
  createPortal(input: BillingCreatePortalInput, options?: CallOptions): Promise<BillingCreatePortalAnswer>;
}

export interface EnforcementApi {
  /**
   * Ask whether a call of a tool may happen now. A denial is an answer, with status 200: read `allowed`. Each answer is in the audit log.
   *
   * Sends `POST /v1/enforce`.
   */
  enforce(input: EnforcementEnforceInput, options?: CallOptions): Promise<EnforcementEnforceAnswer>;
  /**
   * Select the tools that some call with a token could use.
   *
   * Sends `POST /v1/enforce/tools`.
   */
  listTools(input: EnforcementListToolsInput, options?: CallOptions): Promise<EnforcementListToolsAnswer>;
  /**
   * Say that an allowed call was sent, so that its units stay charged.
   *
   * Sends `POST /v1/enforce/{callId}/sent`.
   */
  sent(callId: string, options?: CallOptions): Promise<void>;
  /**
   * Say that an allowed call was never sent, so that its units are free again.
   *
   * Sends `POST /v1/enforce/{callId}/refund`.
   */
  refund(callId: string, options?: CallOptions): Promise<void>;
  /**
   * Read what a grant has used of the caps of a tool.
   *
   * Sends `GET /v1/enforce/usage`.
   */
  usage(query: EnforcementUsageQuery, options?: CallOptions): Promise<EnforcementUsageAnswer>;
}

export interface AuthzenApi {
  /**
   * Ask whether a call of a tool may happen now, in the words of AuthZEN. A denial is an answer, with status 200: read `decision`. A permit charges the caps of its call, unless `context.check_only` is true.
   *
   * Sends `POST /access/v1/evaluation`.
   */
  evaluate(input?: AuthzenEvaluateInput, options?: CallOptions): Promise<AuthzenEvaluateAnswer>;
  /**
   * Ask about several calls of tools, in the words of AuthZEN. Each evaluation counts as one request, and is judged, charged and recorded by itself. A batch that fails gives back what it took.
   *
   * Sends `POST /access/v1/evaluations`.
   */
  evaluateTogether(input?: AuthzenEvaluateTogetherInput, options?: CallOptions): Promise<AuthzenEvaluateTogetherAnswer>;
  /**
   * Read the metadata of the policy decision point (AuthZEN).
   *
   * Sends `GET /.well-known/authzen-configuration`.
   */
  metadata(options?: CallOptions): Promise<AuthzenMetadataAnswer>;
}

export interface AssertionsApi {
  /**
   * Let a connection's identity provider decide for its people. From then on no person is asked: an assertion of the identity provider gives a listed client a token. The connection has to be active, of OpenID Connect, with a verified domain.
   *
   * Sends `PUT /v1/sso/connections/{id}/id-jag`.
   */
  put(id: string, input: AssertionsPutInput, options?: CallOptions): Promise<AssertionsPutAnswer>;
  /**
   * Read whether a connection's identity provider decides for its people.
   *
   * Sends `GET /v1/sso/connections/{id}/id-jag`.
   */
  get(id: string, options?: CallOptions): Promise<AssertionsPutAnswer>;
  /**
   * Ask people again, and end every grant that the identity provider has given.
   *
   * Sends `DELETE /v1/sso/connections/{id}/id-jag`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * List a client for which the identity provider may speak.
   *
   * Sends `POST /v1/sso/connections/{id}/clients`.
   */
  addClient(id: string, input: AssertionsAddClientInput, options?: CallOptions): Promise<AssertionsAddClientAnswer>;
  /**
   * List the clients for which the identity provider may speak, newest first.
   *
   * Sends `GET /v1/sso/connections/{id}/clients`.
   */
  listClients(id: string, query?: EntriesListQuery, options?: CallOptions): List<AssertionsListClientsAnswer, AssertionsListClientsAnswer['clients'][number]>;
  /**
   * Read the rule of a client.
   *
   * Sends `GET /v1/sso/connections/{id}/clients/{clientRuleId}`.
   */
  getClient(id: string, clientRuleId: string, options?: CallOptions): Promise<AssertionsAddClientAnswer>;
  /**
   * Change the rule of a client. Grants that the rule no longer covers end at once.
   *
   * Sends `PATCH /v1/sso/connections/{id}/clients/{clientRuleId}`.
   */
  changeClient(id: string, clientRuleId: string, input?: AssertionsChangeClientInput, options?: CallOptions): Promise<AssertionsAddClientAnswer>;
  /**
   * End the rule of a client, with its grants.
   *
   * Sends `DELETE /v1/sso/connections/{id}/clients/{clientRuleId}`.
   */
  removeClient(id: string, clientRuleId: string, options?: CallOptions): Promise<void>;
  /**
   * List what keeps agents from getting a grant of a person again, newest first.
   *
   * Sends `GET /v1/sso/id-jag/stops`.
   */
  listStops(query?: EntriesListQuery, options?: CallOptions): List<AssertionsListStopsAnswer, AssertionsListStopsAnswer['stops'][number]>;
  /**
   * Let the identity provider give an agent grants of a person again. Every stop of the same agent and person is lifted.
   *
   * Sends `DELETE /v1/sso/id-jag/stops/{id}`.
   */
  liftStop(id: string, options?: CallOptions): Promise<void>;
}

export interface SetupApi {
  /**
   * Make a link by which a customer’s administrator sets up single sign-on or provisioning. The link opens once and lasts `expiresIn` seconds, a week unless the body says otherwise. With `connectionId` it changes that connection; without, it makes one. The connection is on trial after each change until you activate it, which ends the session of the link. A SCIM token reads and writes the people of the whole account, so a link for `scim` needs `acknowledge`. An account has up to 100 links that have not ended.
   *
   * Sends `POST /v1/sso/setup-links`.
   */
  createLink(input: SetupCreateLinkInput, options?: CallOptions): Promise<SetupCreateLinkAnswer>;
  /**
   * List setup links, newest first. A link is listed until 30 days after its end.
   *
   * Sends `GET /v1/sso/setup-links`.
   */
  listLinks(query?: EntriesListQuery, options?: CallOptions): List<SetupListLinksAnswer, SetupListLinksAnswer['links'][number]>;
  /**
   * Revoke a setup link, opened or not.
   *
   * Sends `DELETE /v1/sso/setup-links/{id}`.
   */
  revokeLink(id: string, options?: CallOptions): Promise<void>;
}

export interface WebhooksApi {
  /**
   * Register a webhook. `events` names event types, areas as `grant.*`, or `*`, which leaves out `budget.debited`. With `format` `ocsf`, each delivery is an event of OCSF 1.6.0, signed as sent. Only this answer shows the secret.
   *
   * Sends `POST /v1/webhooks`.
   */
  create(input: WebhooksCreateInput, options?: CallOptions): Promise<WebhooksCreateAnswer>;
  /**
   * List webhooks, newest first.
   *
   * Sends `GET /v1/webhooks`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<WebhooksListAnswer, WebhooksListAnswer['webhooks'][number]>;
  /**
   * Read a webhook.
   *
   * Sends `GET /v1/webhooks/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<Webhook>;
  /**
   * Change a webhook; disable or enable it.
   *
   * Sends `PATCH /v1/webhooks/{id}`.
   */
  update(id: string, input?: WebhooksUpdateInput, options?: CallOptions): Promise<Webhook>;
  /**
   * Delete a webhook.
   *
   * Sends `DELETE /v1/webhooks/{id}`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Give a webhook a new secret.
   *
   * Sends `POST /v1/webhooks/{id}/rotate-secret`.
   */
  rotateSecret(id: string, input?: WebhooksRotateSecretInput, options?: CallOptions): Promise<WebhooksRotateSecretAnswer>;
  /**
   * Send a test event to a webhook.
   *
   * Sends `POST /v1/webhooks/{id}/test`.
   */
  test(id: string, options?: CallOptions): Promise<WebhooksTestAnswer>;
  /**
   * List deliveries of a webhook, newest first. Use `page` and `pageSize`, or `cursor` and `limit`, but not both.
   *
   * Sends `GET /v1/webhooks/{id}/deliveries`.
   */
  deliveries(id: string, query?: WebhooksDeliveriesQuery, options?: CallOptions): List<WebhooksDeliveriesAnswer, WebhooksDeliveriesAnswer['deliveries'][number]>;
  /**
   * Read a delivery with its attempts and what is sent.
   *
   * Sends `GET /v1/webhooks/{id}/deliveries/{deliveryId}`.
   */
  delivery(id: string, deliveryId: string, options?: CallOptions): Promise<WebhooksDeliveryAnswer>;
  /**
   * Deliver again what failed in a span of time. Puts the failed deliveries of the events of at most 30 days back into the queue, oldest first, at most 10,000. Receivers know each event by its `webhook-id`.
   *
   * Sends `POST /v1/webhooks/{id}/recover`.
   */
  recover(id: string, input: WebhooksRecoverInput, options?: CallOptions): Promise<WebhooksRecoverAnswer>;
  /**
   * Deliver an event once more.
   *
   * Sends `POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver`.
   */
  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<WebhooksDeliveriesItem>;
}

export interface SsfReceiversApi {
  /**
   * Register a system that listens to signals. The receiver is an OAuth client, which makes its streams itself (Shared Signals Framework 1.0). `events` is the most that its streams deliver. Only this answer shows the secrets.
   *
   * Sends `POST /v1/ssf/receivers`.
   */
  create(input: SsfReceiversCreateInput, options?: CallOptions): Promise<SsfReceiversCreateAnswer>;
  /**
   * List receivers of signals, newest first.
   *
   * Sends `GET /v1/ssf/receivers`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<SsfReceiversListAnswer, SsfReceiversListAnswer['receivers'][number]>;
  /**
   * Read a receiver of signals.
   *
   * Sends `GET /v1/ssf/receivers/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<SsfReceiversListItem>;
  /**
   * Change a receiver of signals.
   *
   * Sends `PATCH /v1/ssf/receivers/{id}`.
   */
  change(id: string, input?: SsfReceiversChangeInput, options?: CallOptions): Promise<SsfReceiversListItem>;
  /**
   * Delete a receiver of signals, with its streams.
   *
   * Sends `DELETE /v1/ssf/receivers/{id}`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Give a receiver of signals a new secret. The former secret holds until the end of the grace period, and so does every token that was issued before.
   *
   * Sends `POST /v1/ssf/receivers/{id}/rotate-secret`.
   */
  rotateSecret(id: string, input?: WebhooksRotateSecretInput, options?: CallOptions): Promise<SsfReceiversRotateSecretAnswer>;
  /**
   * List the streams of a receiver.
   *
   * Sends `GET /v1/ssf/receivers/{id}/streams`.
   */
  streams(id: string, options?: CallOptions): Promise<SsfReceiversStreamsAnswer>;
  /**
   * List the signals on their way to a receiver, newest first.
   *
   * Sends `GET /v1/ssf/receivers/{id}/deliveries`.
   */
  deliveries(id: string, query?: SsfReceiversDeliveriesQuery, options?: CallOptions): List<SsfReceiversDeliveriesAnswer, SsfReceiversDeliveriesAnswer['deliveries'][number]>;
}

export interface OauthApi {
  /**
   * Make an agent an OAuth client. Its `client_id` is the id of the agent. A secret is shown once, when it is made.
   *
   * Sends `PUT /v1/agents/{id}/oauth`.
   */
  putClient(id: string, input: OauthPutClientInput, options?: CallOptions): Promise<OauthPutClientAnswer>;
  /**
   * Read how an agent is an OAuth client, without its secret.
   *
   * Sends `GET /v1/agents/{id}/oauth`.
   */
  getClient(id: string, options?: CallOptions): Promise<OauthPutClientAnswer>;
  /**
   * Let an agent be no OAuth client any longer.
   *
   * Sends `DELETE /v1/agents/{id}/oauth`.
   */
  deleteClient(id: string, options?: CallOptions): Promise<void>;
}

export interface SignalsApi {
  /**
   * Listen to the identity provider of a connection. The answer has `authorizationHeader` when the source is new, and never again. Delete the source to make another.
   *
   * Sends `PUT /v1/sso/connections/{id}/signals`.
   */
  put(id: string, input?: SignalsPutInput, options?: CallOptions): Promise<SignalsPutAnswer>;
  /**
   * Read how the service listens to the identity provider of a connection.
   *
   * Sends `GET /v1/sso/connections/{id}/signals`.
   */
  get(id: string, options?: CallOptions): Promise<SignalsGetAnswer>;
  /**
   * Stop listening to the identity provider of a connection.
   *
   * Sends `DELETE /v1/sso/connections/{id}/signals`.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
}

export interface ComplianceApi {
  /**
   * Count agents, grants, audit entries and policies.
   *
   * Sends `GET /v1/compliance/summary`.
   */
  getSummary(query?: ComplianceGetSummaryQuery, options?: CallOptions): Promise<ComplianceGetSummaryAnswer>;
  /**
   * Export grants as JSON, as lines of JSON or as CSV.
   *
   * Sends `GET /v1/compliance/export/grants`.
   */
  exportGrants(query?: ComplianceExportGrantsQuery & { readonly format?: 'json' }, options?: CallOptions): Promise<ComplianceExportGrantsAnswer>;
  /**
   * Export grants as JSON, as lines of JSON or as CSV.
   *
   * Sends `GET /v1/compliance/export/grants`.
   */
  exportGrants(query?: ComplianceExportGrantsQuery, options?: CallOptions): Promise<ComplianceExportGrantsAnswer | Response>;
  /**
   * Export audit entries as JSON, as lines of JSON, as CSV or as events of OCSF.
   *
   * Sends `GET /v1/compliance/export/audit`.
   */
  exportAudit(query?: ComplianceExportAuditQuery & { readonly format?: 'json' }, options?: CallOptions): Promise<ComplianceExportAuditAnswer>;
  /**
   * Export audit entries as JSON, as lines of JSON, as CSV or as events of OCSF.
   *
   * Sends `GET /v1/compliance/export/audit`.
   */
  exportAudit(query?: ComplianceExportAuditQuery, options?: CallOptions): Promise<ComplianceExportAuditAnswer | Response>;
  /**
   * Export everything that is kept about a person. For a request of a person for access to their data. The id is compared exactly. No record has a secret or a credential.
   *
   * Sends `GET /v1/compliance/export/principal`.
   */
  exportPrincipal(query: SsoListIdentitiesQuery, options?: CallOptions): Promise<Response>;
  /**
   * Make a signed pack of evidence that an auditor can check without the service.
   *
   * Sends `GET /v1/compliance/evidence-pack`.
   */
  evidencePack(query?: ComplianceEvidencePackQuery & { readonly format?: 'json' }, options?: CallOptions): Promise<ComplianceEvidencePackAnswer>;
  /**
   * Make a signed pack of evidence that an auditor can check without the service.
   *
   * Sends `GET /v1/compliance/evidence-pack`.
   */
  evidencePack(query?: ComplianceEvidencePackQuery, options?: CallOptions): Promise<ComplianceEvidencePackAnswer | Response>;
  /**
   * Place a legal hold. While a hold stands, the account cannot be closed, so nothing of it is erased.
   *
   * Sends `POST /v1/compliance/holds`.
   */
  placeHold(input: CompliancePlaceHoldInput, options?: CallOptions): Promise<CompliancePlaceHoldAnswer>;
  /**
   * List legal holds, newest first.
   *
   * Sends `GET /v1/compliance/holds`.
   */
  listHolds(query?: ComplianceListHoldsQuery, options?: CallOptions): List<ComplianceListHoldsAnswer, ComplianceListHoldsAnswer['holds'][number]>;
  /**
   * Release a legal hold. The hold stays in the list. To release it again changes nothing.
   *
   * Sends `POST /v1/compliance/holds/{id}/release`.
   */
  releaseHold(id: string, options?: CallOptions): Promise<CompliancePlaceHoldAnswer>;
}

export interface ApproversApi {
  /**
   * Invite a person to decide about calls. The link goes by mail where the service can send it, and into the answer otherwise. The first person of an account decides 24 hours after they enrol; each later one after another approver has confirmed them. The link of a principal of a live account goes by mail alone.
   *
   * Sends `POST /v1/approvers`.
   */
  invite(input?: ApproversInviteInput, options?: CallOptions): Promise<ApproversInviteAnswer>;
  /**
   * List approvers, newest first.
   *
   * Sends `GET /v1/approvers`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<ApproversListAnswer, ApproversListAnswer['approvers'][number]>;
  /**
   * Change the groups or connectors of an approver, or suspend them.
   *
   * Sends `PATCH /v1/approvers/{id}`.
   */
  change(id: string, input?: ApproversChangeInput, options?: CallOptions): Promise<ApproversListItem>;
  /**
   * Remove an approver at once.
   *
   * Sends `DELETE /v1/approvers/{id}`.
   */
  remove(id: string, options?: CallOptions): Promise<void>;
  /**
   * Record the absence of an approver, with or without a deputy.
   *
   * Sends `PUT /v1/approvers/{id}/absence`.
   */
  setAbsence(id: string, input: ApproversSetAbsenceInput, options?: CallOptions): Promise<ApproversListItem>;
  /**
   * End the absence of an approver.
   *
   * Sends `DELETE /v1/approvers/{id}/absence`.
   */
  endAbsence(id: string, options?: CallOptions): Promise<void>;
}

export interface ConsoleApi {
  /**
   * Make a link that opens the console once. It works for ten minutes, where the key itself would. Without an address it signs in the first owner.
   *
   * Sends `POST /v1/console/session/links`.
   */
  createLink(input?: ConsoleCreateLinkInput, options?: CallOptions): Promise<ConsoleCreateLinkAnswer>;
}

export interface ChangesApi {
  /**
   * List changes that waited for a second member, newest first. Decided ones stay for 30 days.
   *
   * Sends `GET /v1/changes`.
   */
  list(query?: ChangesListQuery, options?: CallOptions): List<ChangesListAnswer, ChangesListAnswer['changes'][number]>;
  /**
   * Get a change that waits for a second member, or did.
   *
   * Sends `GET /v1/changes/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<ChangesListItem>;
  /**
   * Take back a change that waits for a second member.
   *
   * Sends `DELETE /v1/changes/{id}`.
   */
  withdraw(id: string, options?: CallOptions): Promise<void>;
}

export interface DecisionsApi {
  /**
   * Ask people to decide about one exact call. Asking decides nothing: people approve on the page `url`, each with a passkey of their own. A call that another check refuses asks nobody. The same call asks once while its request is open, and after a refusal not before its time is over. A call with a `callId` gets its own request again, also once its approvals are used.
   *
   * Sends `POST /v1/decisions`.
   */
  request(input: DecisionsRequestInput, options?: CallOptions): Promise<DecisionsRequestAnswer>;
  /**
   * List requests for decisions, newest first.
   *
   * Sends `GET /v1/decisions`.
   */
  list(query?: DecisionsListQuery, options?: CallOptions): List<DecisionsListAnswer, DecisionsListAnswer['decisions'][number]>;
  /**
   * Read a request, with its approvals.
   *
   * Sends `GET /v1/decisions/{id}`.
   */
  get(id: string, options?: CallOptions): Promise<DecisionsRequestAnswer>;
  /**
   * Take a request back, with whatever was approved.
   *
   * Sends `POST /v1/decisions/{id}/cancel`.
   */
  cancel(id: string, options?: CallOptions): Promise<DecisionsRequestAnswer>;
  /**
   * Get the decision grants of an approved request, as the agent and grant that asked.
   *
   * Sends `POST /v1/decisions/{id}/grants`.
   */
  grants(id: string, input: DecisionsGrantsInput, options?: CallOptions): Promise<DecisionsGrantsAnswer>;
  /**
   * Take a step with decision grants: hold, send, spend or release them for one call. All grants move together or none does. The same call may repeat its step after a lost answer; another call is refused with `details.sub_reason` `consumed`. A held decision that is not sent within 30 seconds is free again.
   *
   * Sends `POST /v1/decisions/consume`.
   */
  consume(input: DecisionsConsumeInput, options?: CallOptions): Promise<DecisionsConsumeAnswer>;
  /**
   * Set the version of a case, which ends the requests about its other versions.
   *
   * Sends `PUT /v1/decisions/cases/{caseName}`.
   */
  setCaseVersion(caseName: string, caseVersion: string, input?: DecisionsSetCaseVersionInput, options?: CallOptions): Promise<DecisionsSetCaseVersionAnswer>;
  /**
   * Close a case, which ends its requests and forgets what its calls used. Calls that name the case afterwards count against caps by case from zero. Where Redis counts caps, the units of the case stay.
   *
   * Sends `DELETE /v1/decisions/cases/{caseName}`.
   */
  closeCase(caseName: string, options?: CallOptions): Promise<void>;
  /**
   * Add a channel of Slack or Microsoft Teams that hears of requests.
   *
   * Sends `POST /v1/decision-channels`.
   */
  addChannel(input: DecisionsAddChannelInput, options?: CallOptions): Promise<DecisionsAddChannelAnswer>;
  /**
   * List the channels that hear of requests, oldest first.
   *
   * Sends `GET /v1/decision-channels`.
   */
  listChannels(options?: CallOptions): Promise<DecisionsListChannelsAnswer>;
  /**
   * Remove a channel, with the messages on their way to it.
   *
   * Sends `DELETE /v1/decision-channels/{id}`.
   */
  removeChannel(id: string, options?: CallOptions): Promise<void>;
}

export interface AnomaliesApi {
  /**
   * Detect anomalies now. The answer has what is true now, whether it was found before or not.
   *
   * Sends `POST /v1/anomalies/detect`.
   */
  detect(options?: CallOptions): Promise<AnomaliesDetectAnswer>;
  /**
   * List anomalies, newest first. `total` counts the open ones.
   *
   * Sends `GET /v1/anomalies`.
   */
  list(query?: AnomaliesListQuery, options?: CallOptions): List<AnomaliesListAnswer, AnomaliesListAnswer['anomalies'][number]>;
  /**
   * Acknowledge an anomaly.
   *
   * Sends `PATCH /v1/anomalies/{id}/acknowledge`.
   */
  acknowledge(id: string, input?: AnomaliesAcknowledgeInput, options?: CallOptions): Promise<AnomaliesListItem>;
  /**
   * List alerts, newest first.
   *
   * Sends `GET /v1/anomaly/alerts`.
   */
  alerts(query?: AnomaliesAlertsQuery, options?: CallOptions): List<AnomaliesAlertsAnswer, AnomaliesAlertsAnswer['data'][number]>;
  /**
   * Read an alert.
   *
   * Sends `GET /v1/anomaly/alerts/{alertId}`.
   */
  getAlert(alertId: string, options?: CallOptions): Promise<AnomalyAlert>;
  /**
   * Acknowledge an alert.
   *
   * Sends `POST /v1/anomaly/alerts/{alertId}/acknowledge`.
   */
  acknowledgeAlert(alertId: string, input?: AnomaliesAcknowledgeInput, options?: CallOptions): Promise<AnomalyAlert>;
  /**
   * Resolve an alert.
   *
   * Sends `POST /v1/anomaly/alerts/{alertId}/resolve`.
   */
  resolveAlert(alertId: string, input?: AnomaliesAcknowledgeInput, options?: CallOptions): Promise<AnomalyAlert>;
  /**
   * Count alerts by status, severity and rule.
   *
   * Sends `GET /v1/anomaly/metrics`.
   */
  metrics(query?: AnomaliesMetricsQuery, options?: CallOptions): Promise<AnomaliesMetricsAnswer>;
  /**
   * List the rules of detection. Built-in rules come first, each as the developer has set it.
   *
   * Sends `GET /v1/anomaly/rules`.
   */
  rules(options?: CallOptions): Promise<AnomaliesRulesAnswer>;
  /**
   * Add a rule. The rule fires for an agent with more than `threshold` matching entries in the window. An entry matches when it is among each of the given lists.
   *
   * Sends `POST /v1/anomaly/rules`.
   */
  createRule(input: AnomaliesCreateRuleInput, options?: CallOptions): Promise<AnomaliesCreateRuleAnswer>;
  /**
   * Change a rule, or what a built-in rule does for this account.
   *
   * Sends `PATCH /v1/anomaly/rules/{ruleId}`.
   */
  changeRule(ruleId: string, input?: AnomaliesChangeRuleInput, options?: CallOptions): Promise<AnomaliesCreateRuleAnswer>;
  /**
   * Delete a rule of the account.
   *
   * Sends `DELETE /v1/anomaly/rules/{ruleId}`.
   */
  removeRule(ruleId: string, options?: CallOptions): Promise<void>;
  /**
   * List channels, oldest first.
   *
   * Sends `GET /v1/anomaly/channels`.
   */
  channels(options?: CallOptions): Promise<AnomaliesChannelsAnswer>;
  /**
   * Add a channel for messages about new alerts. A `webhook` needs `url` and `secret`, `slack` needs `webhookUrl`, and `email` needs `to`, whose holders are mailed a link to confirm first. Answers mask secrets and cut URLs.
   *
   * Sends `POST /v1/anomaly/channels`.
   */
  createChannel(input: AnomaliesCreateChannelInput, options?: CallOptions): Promise<AnomaliesCreateChannelAnswer>;
  /**
   * Change a channel.
   *
   * Sends `PATCH /v1/anomaly/channels/{id}`.
   */
  changeChannel(id: string, input?: AnomaliesChangeChannelInput, options?: CallOptions): Promise<AnomaliesCreateChannelAnswer>;
  /**
   * Delete a channel.
   *
   * Sends `DELETE /v1/anomaly/channels/{id}`.
   */
  removeChannel(id: string, options?: CallOptions): Promise<void>;
  /**
   * Send a test message to a channel.
   *
   * Sends `POST /v1/anomaly/channels/{id}/test`.
   */
  testChannel(id: string, options?: CallOptions): Promise<AnomaliesTestChannelAnswer>;
}

export interface SearchApi {
  /**
   * Find a record by its id, or by the beginning of a name or of a principal.
   *
   * Sends `GET /v1/search`.
   */
  find(query: SearchFindQuery, options?: CallOptions): Promise<SearchFindAnswer>;
}

export interface AdminEntriesApi {
  /**
   * List the entries of the operator's audit chain, oldest first.
   *
   * Sends `GET /v1/admin/entries`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<EntriesListAnswer, EntriesListAnswer['entries'][number]>;
}

export interface AdminSigningKeysApi {
  /**
   * List the signing keys with their states, newest first.
   *
   * Sends `GET /v1/admin/keys`.
   */
  list(options?: CallOptions): Promise<SigningKeysListAnswer>;
  /**
   * Publish a new signing key, which signs after the activation delay.
   *
   * Sends `POST /v1/admin/keys/rotate`.
   */
  rotate(input?: SigningKeysRotateInput, options?: CallOptions): Promise<SigningKeysRotateAnswer>;
  /**
   * Take a key from use that does not sign, before its time.
   *
   * Sends `POST /v1/admin/keys/{kid}/retire`.
   */
  retire(kid: string, options?: CallOptions): Promise<SigningKeysRotateAnswer>;
}

export interface AdminTransparencyApi {
  /**
   * Begin another transparency log for an account whose log is halted or contradicted by a witness. What was published of the old log stays at its address. The new one has all entries of the account.
   *
   * Sends `POST /v1/admin/developers/{id}/log-restart`.
   */
  restart(id: string, options?: CallOptions): Promise<TransparencyRestartAnswer>;
}

export interface AdminDevelopersApi {
  /**
   * List the accounts of the deployment, newest first.
   *
   * Sends `GET /v1/admin/developers`.
   */
  list(query?: EntriesListQuery, options?: CallOptions): List<DevelopersListAnswer, DevelopersListAnswer['developers'][number]>;
  /**
   * Open an account with its first API key, also where sign-up is closed.
   *
   * Sends `POST /v1/admin/developers`.
   */
  create(input: SignupInput, options?: CallOptions): Promise<SignupAnswer>;
  /**
   * Set the plan of an account.
   *
   * Sends `PATCH /v1/admin/developers/{id}/plan`.
   */
  setPlan(id: string, input: DevelopersSetPlanInput, options?: CallOptions): Promise<DevelopersSetPlanAnswer>;
}

export interface AdminApproverRecoveriesApi {
  /**
   * Let an approver who has lost every passkey enrol once more, a day from now. The link goes by mail where the service can send it to the person, and into the answer otherwise. It opens after 24 hours. The account and its approvers are told at once, and any of the approvers can stop it.
   *
   * Sends `POST /v1/admin/developers/{id}/approver-recovery`.
   */
  begin(id: string, input: ApproverRecoveriesBeginInput, options?: CallOptions): Promise<ApproverRecoveriesBeginAnswer>;
}

export interface AdminMemberRecoveriesApi {
  /**
   * Make a link that lets a person into the console of an account as an owner. It works once, for an hour, and opens nothing before the person has a passkey. An owner with the address gets a passkey in place of theirs. For an hour after the link was opened, no other member can change or remove the person. The account and its owners are told.
   *
   * Sends `POST /v1/admin/developers/{id}/console-recovery`.
   */
  begin(id: string, input: MemberRecoveriesBeginInput, options?: CallOptions): Promise<ConsoleCreateLinkAnswer>;
}

/** The methods of the operator, made from the table too. */
export interface OperatorResources {
  readonly entries: AdminEntriesApi;
  readonly signingKeys: AdminSigningKeysApi;
  readonly transparency: AdminTransparencyApi;
  /**
   * Count the accounts of the deployment, and their agents and grants.
   *
   * Sends `GET /v1/admin/stats`.
   */
  stats(options?: CallOptions): Promise<StatsAnswer>;
  readonly developers: AdminDevelopersApi;
  readonly approverRecoveries: AdminApproverRecoveriesApi;
  readonly memberRecoveries: AdminMemberRecoveriesApi;
}

/** The methods that are made from the table. */
export interface ApiResources {
  readonly usage: UsageApi;
  readonly requests: RequestsApi;
  readonly insights: InsightsApi;
  readonly events: EventsApi;
  readonly audit: AuditApi;
  readonly transparency: TransparencyApi;
  readonly developers: DevelopersApi;
  readonly keys: KeysApi;
  readonly emails: EmailsApi;
  readonly domains: DomainsApi;
  readonly agents: AgentsApi;
  readonly scim: ScimApi;
  readonly providers: ProvidersApi;
  readonly sso: SsoApi;
  readonly dids: DidsApi;
  readonly manifests: ManifestsApi;
  readonly resources: ResourcesApi;
  readonly verifiers: VerifiersApi;
  readonly grants: GrantsApi;
  readonly policies: PoliciesApi;
  readonly authorizations: AuthorizationsApi;
  readonly vault: VaultApi;
  readonly budgets: BudgetsApi;
  readonly principalSessions: PrincipalSessionsApi;
  readonly principal: PrincipalApi;
  readonly principals: PrincipalsApi;
  readonly webauthn: WebauthnApi;
  readonly credentials: CredentialsApi;
  readonly connections: ConnectionsApi;
  readonly walletAuthorizations: WalletAuthorizationsApi;
  readonly workloads: WorkloadsApi;
  readonly policyBundles: PolicyBundlesApi;
  readonly tokens: TokensApi;
  readonly passports: PassportsApi;
  readonly billing: BillingApi;
  readonly enforcement: EnforcementApi;
  readonly authzen: AuthzenApi;
  readonly assertions: AssertionsApi;
  readonly setup: SetupApi;
  readonly webhooks: WebhooksApi;
  readonly ssfReceivers: SsfReceiversApi;
  readonly oauth: OauthApi;
  readonly signals: SignalsApi;
  readonly compliance: ComplianceApi;
  readonly approvers: ApproversApi;
  readonly console: ConsoleApi;
  readonly changes: ChangesApi;
  readonly decisions: DecisionsApi;
  readonly anomalies: AnomaliesApi;
  readonly search: SearchApi;
}
