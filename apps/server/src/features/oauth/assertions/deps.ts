import type { Egress } from '../../../platform/egress/egress.ts';
import type { TokenDeps } from '../../grants/tokens/index.ts';

export interface AssertionDeps extends TokenDeps {
  /** The client for identity providers. */
  readonly upstream: Egress;
  /** Whether any are believed. */
  readonly acceptsAssertions: boolean;
}
