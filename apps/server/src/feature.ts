import type { FastifyInstance } from 'fastify';
import type { Settings, ValuesOf } from './config/setting.ts';
import type { Catalogue } from './features/record/events/index.ts';
import type { DerivedKeyUse, KeyRing } from './features/service/keys/index.ts';
import type { Attempts, DeclaredActs } from './platform/acts.ts';
import type { BrowserRequest, PublishChange } from './platform/caller.ts';
import type { ChargeClient, ChargeCredential, ChargeRecipient } from './platform/charge.ts';
import type { Clock } from './platform/clock.ts';
import type { CommitNotices } from './platform/db/commit-effects.ts';
import type { Executor } from './platform/db/db.ts';
import type { TableUse } from './platform/db/tables.ts';
import type { Egress, EgressOptions } from './platform/egress/egress.ts';
import type { UrlRules } from './platform/egress/urls.ts';
import type { ListenersOf, Listening } from './platform/hooks.ts';
import type { Credentials } from './platform/http/callers/credentials.ts';
import type { RateRule } from './platform/http/limits/rate-rules.ts';
import type { Propose } from './platform/http/loosening.ts';
import type { Job } from './platform/jobs/jobs.ts';
import type { LongWork } from './platform/long-work.ts';
import type { OpenedMailer } from './platform/mail/mailer.ts';
import type { Parts } from './platform/parts.ts';
import type { CountUse, QuotaDeclarations, Quotas } from './platform/quotas.ts';
import type { EphemeralStore } from './platform/redis/ephemeral-store.ts';
import type { NoteRefusal } from './platform/refusals.ts';
import type { SealedRows } from './platform/seal.ts';
import type { Logger } from './platform/telemetry/logger.ts';
import type { DeclaredMetrics, Metrics } from './platform/telemetry/metrics.ts';
import type { Tracer } from './platform/telemetry/tracing.ts';

/** Everything of the process that a feature may use. Its services take the few members that they need. */
export interface ServiceContext extends OpenedMailer, Parts {
  readonly db: Executor;
  /**
   * A few connections of their own for statements that commit while the request's transaction holds a connection of
   * `db`: asked of `db`, they could all wait for each other.
   */
  readonly aside: Executor;
  readonly store: EphemeralStore;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly catalogue: Catalogue;
  readonly quotas: Quotas;
  readonly chargeRecipient: ChargeRecipient;
  readonly chargeCredential: ChargeCredential;
  readonly chargeClient: ChargeClient;
  readonly isProduction: boolean;
  /** Whether the service serves its reference at `/docs`. */
  readonly hasDocs: boolean;
  /** Absolute, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** The `iss` of every token. */
  readonly issuer: string;
  /** Host, and port if any, in the DIDs of the service and of new agents. */
  readonly didHost: string;
  /** The longest lifetime of a grant, and of one of its tokens. */
  readonly lifetimes: { readonly maxGrantLifetimeSeconds: number; readonly maxTtlSeconds: number };
  readonly metrics: Metrics;
  readonly notices: CommitNotices;
  /** Deals out the turns of all work of the process that reads many rows. */
  readonly longWork: LongWork;
  readonly publishChange: PublishChange;
  readonly listenersOf: ListenersOf;
  /** Reads the caller of an API key from the database, past the known callers. */
  readonly findKeyCaller: Credentials['developer'];
  /** Whether the cookies of a browser still have a session of the console. Asking does not count as use of it. */
  readonly isSessionGood: (browser: BrowserRequest) => Promise<boolean>;
  readonly isStopping: () => boolean;
  readonly logger?: Logger;
  readonly tracer?: Tracer | undefined;
  /** The URL of the store; `memory:` without a Redis. */
  readonly redisUrl: string;
  /** The only way to call an address that another party has named. */
  readonly openEgress: (
    rules: UrlRules,
    bounds?: Pick<EgressOptions, 'timeoutMilliseconds' | 'mostBytes'>,
  ) => Egress;
}

/** A feature at work in one process. */
export interface OpenedFeature {
  readonly routes?: (app: FastifyInstance) => PromiseLike<unknown>;
  /** The readers of the credentials that this feature issues. */
  readonly credentials?: Partial<Credentials>;
  /** Whether pages of the service may come from this host too, beside its own. */
  readonly servesHost?: (host: string) => Promise<boolean>;
  /** Counts the requests of routes that are `metered`. One feature does. */
  readonly countUse?: CountUse;
  /** Notes the refused requests of accounts. One feature does. */
  readonly noteRefusal?: NoteRefusal;
  /** Keeps requests that wait for a second member. One feature does. */
  readonly propose?: Propose;
  /**
   * Brings stored rows in line with the settings, at start, before the service listens.
   * @throws an error that stops the start
   */
  readonly prepare?: () => Promise<void>;
  /** Its rows that keys of the process seal. They are brought in line with the keys at start. */
  readonly sealed?: readonly SealedRows[];
  /** Begins work that needs no request and no job, once the service listens. */
  readonly start?: () => void;
  /** Work that the service repeats by the clock; see `docs/operations.md`. */
  readonly jobs?: readonly Job[];
  /** Finishes the work in hand when the process stops. */
  readonly finish?: () => Promise<void>;
}

/** The settings of the service that those of a feature may have to fit. */
export interface ServiceAddress {
  readonly publicBaseUrl: string;
}

/**
 * The declaration of a noun. The context derives everything that it knows of features from these declarations.
 */
export interface Declaration<Own extends Settings> {
  /** The noun, which is the name of its folder. */
  readonly name: string;
  /** The first words of its operation ids, each with a sentence for the API description. */
  readonly tags: Readonly<Record<string, string>>;
  /** Its own tables, and foreign ones that its SQL functions name. */
  readonly tables?: TableUse;
  /** Acts, announcements and entries, by their types. */
  readonly acts?: DeclaredActs;
  /** Actions whose refused attempts an operator watches. Their counters show zero until the first. */
  readonly attempts?: readonly (keyof Attempts)[];
  readonly rates?: Readonly<Record<string, RateRule>>;
  readonly quotas?: QuotaDeclarations;
  readonly metrics?: DeclaredMetrics;
  /** Its own settings, by the names that operators use. Others that need one take the part made with it. */
  readonly settings?: Own;
  /** Checks its settings against each other, when none was refused by itself. */
  readonly checkSettings?: (
    values: Partial<ValuesOf<Own>>,
    refuse: (setting: string, message: string) => void,
    service: ServiceAddress,
  ) => void;
  /** Labels of the secret keys that it derives. */
  readonly keyUses?: readonly DerivedKeyUse[];
  readonly listens?: readonly Listening[];
  /** Makes the parts that live as long as the process. Connects to nothing and starts nothing. */
  readonly open?: (context: ServiceContext, settings: ValuesOf<Own>) => OpenedFeature;
}

/** A declared feature. Only the feature itself knows the type of its settings. */
export interface Feature extends Omit<Declaration<Settings>, 'open' | 'checkSettings' | 'settings'> {
  readonly settings: Settings;
  readonly checkSettings: (
    values: Readonly<Record<string, unknown>>,
    refuse: (setting: string, message: string) => void,
    service: ServiceAddress,
  ) => void;
  /** @param values the settings of all features */
  readonly open: (context: ServiceContext, values: Readonly<Record<string, unknown>>) => OpenedFeature;
}

export function defineFeature<Own extends Settings = Record<never, never>>({
  open = () => ({}),
  checkSettings = () => {},
  settings,
  ...declaration
}: Declaration<Own>): Feature {
  // In both places the values were read from these very settings, among those of all features (config.ts).
  return {
    ...declaration,
    settings: settings ?? {},
    checkSettings: (values, refuse, service) =>
      checkSettings(values as Partial<ValuesOf<Own>>, refuse, service),
    open: (context, values) => open(context, values as ValuesOf<Own>),
  };
}
