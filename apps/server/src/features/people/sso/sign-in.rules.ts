import { type Authentication, secondOf } from '@behest/protocol/authentication';

/** The sign-in at a provider that a session stands for. */
export type SignIn = Authentication;

interface SessionTimes {
  /** Null in sessions of the release before. */
  readonly authenticatedAt: Date | null;
  readonly createdAt: Date;
}

export const signInOf = ({
  authenticatedAt,
  createdAt,
  authMethods,
}: SessionTimes & { readonly authMethods: readonly string[] | null }): SignIn => ({
  at: authenticatedAt ?? secondOf(createdAt.getTime()),
  methods: authMethods ?? [],
});

/** The clock of a provider may be so far behind. */
export const SKEW_MS = 60_000;

/** Whether a session began with a sign-in that is late enough; null takes any. */
export const isSince = (
  { authenticatedAt, createdAt }: SessionTimes,
  since: Date | null,
  skewMs = SKEW_MS,
): boolean => since === null || (authenticatedAt ?? createdAt).getTime() + skewMs >= since.getTime();
